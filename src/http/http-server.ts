import { randomUUID } from 'node:crypto'
import compress from '@fastify/compress'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import {
  fastify,
  LogController,
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  type preValidationHookHandler,
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
import type { Cidr } from '../setting-values.ts'
import type { Logger } from '../log.ts'
import { Fault } from '../errors.ts'
import { createPathRemover } from './base-path.ts'
import { clientAddress } from './client-address.ts'
import type { App } from './http-app.ts'
import { trackConnections } from './connections.ts'
import { addErrorHandlers, failureBody, faultOf, sendRouterFault } from './error-answers.ts'
import {
  MAX_BODY_BYTES,
  CONNECTIONS_CHECK_MS,
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_MS,
  REQUEST_TIMEOUT_MS,
} from './limits/server-limits.ts'
import type { Paths } from './openapi/openapi-document.ts'
import { describeApi } from './openapi/openapi.ts'
import { failures } from './http-schema.ts'
import { countParts } from './send-parts.ts'
import { buildSerializer } from './validation/serialize.ts'
import { createValidatorCompiler } from './validation/validate.ts'

// Modules import both from here.
export type { App } from './http-app.ts'

export type ServerOptions = {
  log: Logger
  version: string
  trustedProxies: Cidr[]
  /** Whether the service is reached only by HTTPS, which browsers then remember (HSTS). */
  isSecure?: boolean
  isUnavailable: (error: unknown) => boolean
  /** Whether the database is available, for `/readyz`. */
  isReady: () => Promise<boolean>
  /** The path of BASE_URL, below which the service is reached; empty at the root. */
  basePath?: string
  /** Requests that bypass the router, which would reject or change some of them. */
  capture?: Capture
}

/** Handles its requests as node:http reads them, with the body unread and `Expect` unanswered. */
export type Capture = {
  takes(request: Pick<IncomingMessage, 'url' | 'headers'>): boolean
  handle(request: IncomingMessage, response: ServerResponse): void
  /**
   * Called with bytes that are not a valid request, or that stopped arriving. The server sends the
   * response.
   * @param last response to the previous request on this connection: of a captured request whether
   *   or not it has ended, of others only while it is being sent
   */
  refused(
    error: Error & { rawPacket?: Buffer },
    socket: Socket,
    last: ServerResponse | undefined,
  ): void
  /** Its operations, for the OpenAPI document. */
  paths: Paths
}

/** Creates the HTTP server without the routes of the modules. It does not listen yet. */
export async function createServer(options: ServerOptions): Promise<App> {
  const loggerInstance: FastifyBaseLogger = options.log
  const lastAnswers = new WeakMap<Socket, ServerResponse>()
  const refused = new WeakSet<Socket>()
  const app = fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    // A child logger per request costs as much as the rest of the framework.
    childLoggerFactory: (log) => log,
    genReqId: () => randomUUID(),
    bodyLimit: MAX_BODY_BYTES,
    serverFactory: (route) => serverOf(route, lastAnswers, options),
    clientErrorHandler: (error, socket) => {
      const last = lastAnswers.get(socket)
      // Each further packet would report the same error again.
      if (refused.has(socket)) return
      refused.add(socket)
      // The framework's types are wrong here: it is a Buffer.
      options.capture?.refused(error as unknown as Error & { rawPacket?: Buffer }, socket, last)
      afterAnswer(last, () => rejectUnreadable(error, socket))
    },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // Of requests that get no further than the router: no hook sees them.
    frameworkErrors: (error, request, reply) => {
      addHeaders(request, reply, options.isSecure === true)
      sendRouterFault(app, faultOf(error, request, options.isUnavailable), request, reply)
    },
    routerOptions: { maxParamLength: 500 },
    schemaController: { compilersFactory: { buildSerializer } },
  }).withTypeProvider<TypeBoxTypeProvider>()

  app.decorateRequest('caller', null)
  setClientAddress(app, options.trustedProxies)
  app.setValidatorCompiler(createValidatorCompiler())
  // By default the framework accepts it, as a string.
  app.removeContentTypeParser('text/plain')
  tolerateEmptyJson(app)
  tolerateNoBody(app)
  addErrorHandlers(app, options.isUnavailable)
  logRequests(app, options.log, options.isSecure === true)
  const closeUnused = trackConnections(app.server)
  app.addHook('preClose', closeUnused)
  rejectWhenClosing(app)
  rejectNul(app)
  requireKnownEncoding(app)
  countParts(app)
  await app.register(compress, COMPRESSION)
  await describeApi(app, {
    version: options.version,
    basePath: options.basePath,
    paths: options.capture?.paths,
  })
  healthRoutes(app, options.isReady)
  return app
}

/**
 * Lists of the API shrink to a tenth. Files and event streams are sent as they are. Bodies in gzip
 * are decoded; the limit of a route applies to the decoded bytes.
 */
const COMPRESSION = {
  encodings: ['gzip' as const],
  requestEncodings: ['gzip' as const, 'identity' as const],
  threshold: 2_048,
  customTypes: /^application\/json/,
  zlibOptions: { level: 3 },
}

/** Creates a server whose time limits apply to every request, of the router and of captures. */
function serverOf(
  route: RequestListener,
  lastAnswers: WeakMap<Socket, ServerResponse>,
  { capture, basePath = '' }: ServerOptions,
): Server {
  const server = createHttpServer({
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
    // Captures accept a request without Host; others are rejected below.
    requireHostHeader: false,
  })
  const removePath = createPathRemover(basePath)
  const isCaptured = (request: IncomingMessage) => capture?.takes(request) === true
  // It refers to all that it was made from, for as long as the client keeps the connection open.
  const forgetWhenSent = (socket: Socket, response: ServerResponse) =>
    response.once('close', () => {
      if (lastAnswers.get(socket) === response) lastAnswers.delete(socket)
    })
  server.on('request', (request, response) => {
    request.url = removePath(request.url ?? '/')
    lastAnswers.set(request.socket, response)
    if (isCaptured(request)) return capture?.handle(request, response)
    forgetWhenSent(request.socket, response)
    if (request.httpVersion === '1.1' && request.headers.host === undefined)
      rejectRequest(response, NO_HOST)
    else route(request, response)
  })
  server.on('checkContinue', (request, response) => {
    const { headers, url = '/' } = request
    if (capture?.takes({ headers, url: removePath(url) }) !== true) response.writeContinue()
    server.emit('request', request, response)
  })
  server.on('checkExpectation', (request, response) => {
    request.url = removePath(request.url ?? '/')
    lastAnswers.set(request.socket, response)
    if (isCaptured(request)) capture?.handle(request, response)
    else {
      forgetWhenSent(request.socket, response)
      rejectRequest(response, UNKNOWN_EXPECTATION)
    }
  })
  return server
}

const NO_HOST = {
  status: 400,
  fault: new Fault('invalid_request', 'An HTTP/1.1 request requires a Host header.'),
}
const UNKNOWN_EXPECTATION = {
  status: 417,
  fault: new Fault('invalid_request', 'The only supported expectation is 100-continue.'),
}

function rejectRequest(
  response: ServerResponse,
  { status, fault }: { status: number; fault: Fault },
): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
  response.end(JSON.stringify(failureBody(fault)))
}

const REJECTIONS: Record<string, [status: string, sentence: string]> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time.'],
}

/**
 * Runs `then` after the response to the previous request, because responses must keep the order of
 * requests (RFC 9112, 9.3.2). A previous request that is itself incomplete gets no further
 * response.
 */
function afterAnswer(last: ServerResponse | undefined, then: () => void): void {
  if (!last?.req.complete || last.closed) then()
  else last.once('close', then)
}

/** Responds to bytes that are not a valid request, if the connection is still open. */
function rejectUnreadable({ code = '' }: NodeJS.ErrnoException, socket: Socket): void {
  if (code === 'ECONNRESET' || socket.destroyed) return
  const [status, sentence] = REJECTIONS[code] ?? [
    '400 Bad Request',
    'The request is not valid HTTP.',
  ]
  const body = JSON.stringify(failureBody(new Fault('invalid_request', sentence)))
  const head = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close`
  if (socket.writable) socket.write(`HTTP/1.1 ${status}\r\n${head}\r\n\r\n${body}`)
  socket.destroySoon()
}

/**
 * Sets `request.ip` to the client's address. The framework's own proxy support accepts any text in
 * `X-Forwarded-For` as an address, also ports and words.
 */
function setClientAddress(app: App, trustedProxies: Cidr[]): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const value = clientAddress(request.raw.socket, request.headers, trustedProxies)
    Object.defineProperty(request, 'ip', { value })
    done()
  })
}

/** Content codings of requests; `x-gzip` is another name of gzip (RFC 9110, 8.4.1.3). */
const CONTENT_CODINGS = new Map([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['identity', 'identity'],
])

/** Rejects content codings that are not decoded here (RFC 9110, 15.5.16). */
function requireKnownEncoding(app: App): void {
  app.addHook('preParsing', (request, reply, payload, done) => {
    const given = request.headers['content-encoding']
    if (given === undefined) return done(null, payload)
    const coding = CONTENT_CODINGS.get(given.trim().toLowerCase())
    if (coding !== undefined) {
      request.headers['content-encoding'] = coding
      return done(null, payload)
    }
    reply.header('accept-encoding', 'gzip')
    done(
      new Fault(
        'unsupported_media_type',
        'The Content-Encoding is not supported. Send the body in gzip, or without an encoding.',
      ),
    )
  })
}

/**
 * Accepts an empty body with `Content-Type: application/json`, which some clients send with DELETE.
 */
function tolerateEmptyJson(app: App): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else void parse(request, body as string, done)
  })
}

/** Treats a missing body as an empty object where no field is required. */
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

/** API responses are data: shown as a page, they load nothing and cannot be framed. */
const API_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

/** Headers of every response. */
function addHeaders(request: FastifyRequest, reply: FastifyReply, isSecure: boolean): void {
  reply.header('x-request-id', request.id)
  reply.header('x-content-type-options', 'nosniff')
  if (request.url.startsWith('/api/')) reply.headers(API_HEADERS)
  if (isSecure) reply.header('strict-transport-security', 'max-age=31536000')
}

/**
 * Adds headers and logs requests. The hooks run for every request, so they avoid promises and
 * unused objects.
 */
function logRequests(app: App, log: Logger, isSecure: boolean): void {
  app.addHook('onRequest', (request, reply, done) => {
    addHeaders(request, reply, isSecure)
    done()
  })
  if (!log.isLevelEnabled('info')) return
  app.addHook('onResponse', (request, reply, done) => {
    const { id: reqId, method, routeOptions, ip } = request
    // The route pattern, not the URL: a query may name a customer, and a path may hold a token.
    const route = routeOptions.url ?? 'unknown'
    log.info(
      { reqId, method, route, status: reply.statusCode, ms: Math.round(reply.elapsedTime), ip },
      'request',
    )
    done()
  })
}

/** Rejects requests on open connections while the service stops. */
function rejectWhenClosing(app: App): void {
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.addHook('onRequest', (_request, reply, done) => {
    if (!isClosing) return done()
    reply.header('connection', 'close')
    done(
      new Fault('unavailable', 'The service is stopping. Try again in a few seconds.', {
        retryAfter: 5,
      }),
    )
  })
}

/**
 * Rejects NUL in URLs: PostgreSQL does not accept it in text, so the request would fail later with
 * an internal error.
 */
function rejectNul(app: App): void {
  app.addHook('onRequest', ({ url }, _reply, done) =>
    done(url.includes('%00') ? nulFault(url) : undefined),
  )
}

/** Names the query parameters that contain NUL, or the path. */
function nulFault(url: string): Fault {
  const [path = '', query = ''] = url.split('?', 2)
  const names = path.includes('%00') ? ['path'] : []
  for (const [name, value] of new URLSearchParams(query))
    if (`${name}${value}`.includes('\0')) names.push(name)
  const message = 'must not contain a NUL character (%00)'
  const details = [...new Set(names)].map((name) => ({
    path: name.replaceAll('\0', '%00'),
    message,
  }))
  return new Fault(
    'invalid_request',
    `The request is not valid: ${details[0]?.path ?? 'query'} ${message}.`,
    {
      details,
    },
  )
}

function healthRoutes(app: App, isReady: () => Promise<boolean>): void {
  const statusOf = (status: 'ok' | 'ready') => ({
    200: Type.Object({ status: Type.Literal(status) }),
    ...failures,
  })
  const alive = {
    summary: 'Check liveness',
    operationId: 'getLiveness',
    response: statusOf('ok'),
  }
  const config = { isProbe: true } as const
  app.get('/healthz', { config, schema: alive }, async () => ({ status: 'ok' as const }))
  const ready = {
    summary: 'Check readiness',
    operationId: 'getReadiness',
    response: statusOf('ready'),
  }
  const unavailable = Type.Object({ status: Type.Literal('unavailable') })
  const response = { ...ready.response, 503: unavailable }
  app.get('/readyz', { config, schema: { ...ready, response } }, async (_request, reply) => {
    if (await isReady()) return { status: 'ready' as const }
    return reply.code(503).header('retry-after', '5').send({ status: 'unavailable' })
  })
}
