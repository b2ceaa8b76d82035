import { randomUUID } from 'node:crypto'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import {
  fastify,
  LogController,
  type FastifyBaseLogger,
  type FastifyInstance,
  type preValidationHookHandler,
  type RawServerDefault,
} from 'fastify'
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import { Type } from 'typebox'
import type { Cidr } from '../config.ts'
import type { Logger } from '../log.ts'
import { Fault } from '../errors.ts'
import { clientAddress } from './client-address.ts'
import { trackConnections } from './connections.ts'
import { sendFault, addErrorHandlers, failureBody, toFault } from './errors.ts'
import {
  MAX_BODY_BYTES,
  CONNECTIONS_CHECK_MS,
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_MS,
  REQUEST_TIMEOUT_MS,
} from './server-limits.ts'
import type { Paths } from './openapi-document.ts'
import { describeApi } from './openapi.ts'
import { failures } from './schema.ts'
import { createValidatorCompiler } from './validate.ts'

/** A Fastify that knows the types of TypeBox schemas; what every room's routes are registered on. */
export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

export type ServerOptions = {
  log: Logger
  version: string
  trustedProxies: Cidr[]
  /** People reach it by https alone: browsers are told to remember that. */
  isSecure?: boolean
  isUnavailable: (error: unknown) => boolean
  /** Whether the database answers, for `/readyz`. */
  isReady: () => Promise<boolean>
  /** What never enters the router, which would refuse or change some of it. */
  capture?: Capture
}

/** Takes its requests as node:http reads them, bodies unread and `Expect` unanswered. */
export type Capture = {
  takes(request: IncomingMessage): boolean
  handle(request: IncomingMessage, response: ServerResponse): void
  /**
   * Bytes that are no request, or that stopped coming; whoever sent them is answered by us.
   * @param last answer to the request before them on this connection, whether or not it has ended
   */
  refused(error: Error & { rawPacket?: Buffer }, socket: Socket, last: ServerResponse | undefined): void
  /** What it takes, for the description of the API. */
  paths: Paths
}

/** The HTTP server without the rooms' routes, not yet listening. */
export async function createServer(options: ServerOptions): Promise<App> {
  const loggerInstance: FastifyBaseLogger = options.log
  const lastAnswers = new WeakMap<Socket, ServerResponse>()
  const refused = new WeakSet<Socket>()
  const app = fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    // A child for each request costs as much as all the rest of the framework.
    childLoggerFactory: (log) => log,
    genReqId: () => randomUUID(),
    bodyLimit: MAX_BODY_BYTES,
    serverFactory: (route) => serverOf(route, lastAnswers, options.capture),
    clientErrorHandler: (error, socket) => {
      const last = lastAnswers.get(socket)
      // Each further packet is the same failure again.
      if (refused.has(socket)) return
      refused.add(socket)
      // A Buffer, whatever the framework's types say.
      options.capture?.refused(error as unknown as Error & { rawPacket?: Buffer }, socket, last)
      afterAnswer(last, () => rejectUnreadable(error, socket))
    },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => {
      sendFault(toFault(error, options.isUnavailable), reply.header('x-request-id', request.id))
    },
    routerOptions: { maxParamLength: 500 },
  }).withTypeProvider<TypeBoxTypeProvider>()

  app.decorateRequest('caller', null)
  setClientAddress(app, options.trustedProxies)
  app.setValidatorCompiler(createValidatorCompiler())
  // The framework would take it, as a string.
  app.removeContentTypeParser('text/plain')
  tolerateEmptyJson(app)
  tolerateNoBody(app)
  addErrorHandlers(app, options.isUnavailable)
  logRequests(app, options.log, options.isSecure === true)
  const closeUnused = trackConnections(app.server)
  app.addHook('preClose', async () => closeUnused())
  rejectWhenClosing(app)
  rejectNul(app)
  await describeApi(app, { version: options.version, paths: options.capture?.paths })
  healthRoutes(app, options.isReady)
  return app
}

/** A server whose time limits hold for every request, whether the router or the capture has it. */
function serverOf(route: RequestListener, lastAnswers: WeakMap<Socket, ServerResponse>, capture?: Capture): Server {
  const server = createHttpServer({
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
    // A capture keeps a request without Host; the others are refused below.
    requireHostHeader: false,
  })
  const isCaptured = (request: IncomingMessage) => capture?.takes(request) === true
  server.on('request', (request, response) => {
    lastAnswers.set(request.socket, response)
    if (isCaptured(request)) capture?.handle(request, response)
    else if (request.httpVersion === '1.1' && request.headers.host === undefined) rejectRequest(response, NO_HOST)
    else route(request, response)
  })
  server.on('checkContinue', (request, response) => {
    if (!isCaptured(request)) response.writeContinue()
    server.emit('request', request, response)
  })
  server.on('checkExpectation', (request, response) => {
    lastAnswers.set(request.socket, response)
    if (isCaptured(request)) capture?.handle(request, response)
    else rejectRequest(response, UNKNOWN_EXPECTATION)
  })
  return server
}

const NO_HOST = { status: 400, fault: new Fault('invalid_request', 'An HTTP/1.1 request needs a Host header.') }
const UNKNOWN_EXPECTATION = {
  status: 417,
  fault: new Fault('invalid_request', 'Of expectations, only 100-continue is known here.'),
}

function rejectRequest(response: ServerResponse, { status, fault }: { status: number; fault: Fault }): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
  response.end(JSON.stringify(failureBody(fault)))
}

const REJECTIONS: Record<string, [status: string, sentence: string]> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are larger than this server takes.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time.'],
}

/**
 * Waits until a request that was read whole is answered: what follows it must not be answered before it (RFC 9112, 9.3.2).
 * A request that was cut off itself gets no other answer.
 */
function afterAnswer(last: ServerResponse | undefined, then: () => void): void {
  if (!last?.req.complete || last.closed) then()
  else last.once('close', then)
}

/** Answers what could not be read as a request, where there is still somebody to read the answer. */
function rejectUnreadable({ code = '' }: NodeJS.ErrnoException, socket: Socket): void {
  if (code === 'ECONNRESET' || socket.destroyed) return
  const [status, sentence] = REJECTIONS[code] ?? ['400 Bad Request', 'This is no HTTP request.']
  const body = JSON.stringify(failureBody(new Fault('invalid_request', sentence)))
  const head = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close`
  if (socket.writable) socket.write(`HTTP/1.1 ${status}\r\n${head}\r\n\r\n${body}`)
  socket.destroySoon()
}

/**
 * Replaces `request.ip` by the client's address. The framework's own way through proxies takes whatever stands in
 * `X-Forwarded-For` for an address, ports and words among it.
 */
function setClientAddress(app: App, trustedProxies: Cidr[]): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const value = clientAddress(request.raw.socket, request.headers, trustedProxies)
    Object.defineProperty(request, 'ip', { value })
    done()
  })
}

/** Clients send `Content-Type: application/json` with a DELETE and nothing else; that is not an error. */
function tolerateEmptyJson(app: App): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else void parse(request, body as string, done)
  })
}

/** No body at all is an empty one, where nothing in it is required. */
function tolerateNoBody(app: App): void {
  app.addHook('onRoute', (route) => {
    const body = route.schema?.body as { type?: string; required?: string[] } | undefined
    if (body?.type !== 'object' || body.required?.length) return
    const fill: preValidationHookHandler = (request, _reply, done) => {
      request.body ??= {}
      done()
    }
    route.preValidation = [fill, ...[route.preValidation ?? []].flat()]
  })
}

/** An answer of the API is data: were a browser to show it as a page, it would load nothing and stand in no frame. */
const API_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

/** These hooks run for every request, so they cost no promise and build nothing that nobody reads. */
function logRequests(app: App, log: Logger, isSecure: boolean): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    reply.header('x-content-type-options', 'nosniff')
    if (request.url.startsWith('/api/')) reply.headers(API_HEADERS)
    if (isSecure) reply.header('strict-transport-security', 'max-age=31536000')
    done()
  })
  if (!log.isLevelEnabled('info')) return
  app.addHook('onResponse', (request, reply, done) => {
    const { id: reqId, method, routeOptions, ip } = request
    // The pattern, not the URL: a query string may name a customer, a path may hold a token.
    const route = routeOptions.url ?? 'unknown'
    log.info({ reqId, method, route, status: reply.statusCode, ms: Math.round(reply.elapsedTime), ip }, 'request')
    done()
  })
}

/** A request on a connection that was open already when the service began to stop. */
function rejectWhenClosing(app: App): void {
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.addHook('onRequest', (_request, reply, done) => {
    if (!isClosing) return done()
    reply.header('connection', 'close')
    done(new Fault('unavailable', 'The service is stopping.', { retryAfter: 5 }))
  })
}

/** Refuses NUL in addresses: PostgreSQL takes none in a text, so it would fail later, as a fault of the service. */
function rejectNul(app: App): void {
  app.addHook('onRequest', ({ url }, _reply, done) => done(url.includes('%00') ? nulFault(url) : undefined))
}

/** Names the query parameters with a NUL, or the path. */
function nulFault(url: string): Fault {
  const [path = '', query = ''] = url.split('?', 2)
  const names = path.includes('%00') ? ['path'] : []
  for (const [name, value] of new URLSearchParams(query)) if (`${name}${value}`.includes('\0')) names.push(name)
  const message = 'must not contain a NUL character (%00)'
  const details = [...new Set(names)].map((name) => ({ path: name.replaceAll('\0', '%00'), message }))
  return new Fault('invalid_request', `The request is not valid: ${details[0]?.path ?? 'query'} ${message}.`, {
    details,
  })
}

function healthRoutes(app: App, isReady: () => Promise<boolean>): void {
  const tags = ['Service']
  const statusOf = (status: 'ok' | 'ready') => ({ 200: Type.Object({ status: Type.Literal(status) }), ...failures })
  const alive = { summary: 'Whether the process runs', operationId: 'getLiveness', tags, response: statusOf('ok') }
  app.get('/healthz', { schema: alive }, async () => ({ status: 'ok' as const }))
  const ready = { summary: 'Whether it takes requests', operationId: 'getReadiness', tags, response: statusOf('ready') }
  const unavailable = Type.Object({ status: Type.Literal('unavailable') })
  const response = { ...ready.response, 503: unavailable }
  app.get('/readyz', { schema: { ...ready, response } }, async (_request, reply) => {
    if (await isReady()) return { status: 'ready' as const }
    return reply.code(503).header('retry-after', '5').send({ status: 'unavailable' })
  })
}
