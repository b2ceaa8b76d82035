import { randomUUID } from 'node:crypto'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Ajv, type Options as AjvOptions } from 'ajv'
import addFormats from 'ajv-formats'
import { fastify, LogController, type FastifyBaseLogger, type FastifyInstance, type RawServerDefault } from 'fastify'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Cidr } from '../config.ts'
import type { Logger } from '../log.ts'
import { answerErrors } from './errors.ts'
import { BODY_LIMIT, REQUEST_TIMEOUT } from './limits.ts'
import { describeApi } from './openapi.ts'

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
  isUnavailable: (error: unknown) => boolean
  /** Whether the database answers, for `/readyz`. */
  isReady: () => Promise<boolean>
}

/** The HTTP server without the rooms' routes, not yet listening. */
export async function createServer(options: ServerOptions): Promise<App> {
  const loggerInstance: FastifyBaseLogger = options.log
  const app = fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    trustProxy:
      options.trustedProxies.length > 0 &&
      options.trustedProxies.map(([address, bits]) => `${address.toString()}/${bits}`),
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 500 },
  }).withTypeProvider<TypeBoxTypeProvider>()

  validateStrictly(app)
  tolerateEmptyJson(app)
  answerErrors(app, options.isUnavailable)
  logRequests(app)
  await describeApi(app, options)
  healthRoutes(app, options.isReady)
  return app
}

/** Bodies mean what they say (`"993"` is not a port); query strings are text and must be read as numbers. */
function validateStrictly(app: App): void {
  const common: AjvOptions = { allErrors: true, useDefaults: true, strict: false }
  const exact = new Ajv({ ...common, coerceTypes: false })
  const coercing = new Ajv({ ...common, coerceTypes: 'array' })
  for (const ajv of [exact, coercing]) addFormats.default(ajv)
  app.setValidatorCompiler(({ schema, httpPart }) => (httpPart === 'body' ? exact : coercing).compile(schema as object))
}

/** Clients send `Content-Type: application/json` with a DELETE and nothing else; that is not an error. */
function tolerateEmptyJson(app: App): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else void parse(request, body as string, done)
  })
}

function logRequests(app: App): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    reply.header('x-content-type-options', 'nosniff')
    if (request.url.startsWith('/api/')) reply.header('cache-control', 'no-store')
  })
  app.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions, ip } = request
    // The pattern, not the URL: a query string may name a customer, a path may hold a token.
    const route = routeOptions.url ?? 'unknown'
    request.log.info({ method, route, status: reply.statusCode, ms: Math.round(reply.elapsedTime), ip }, 'request')
  })
}

function healthRoutes(app: App, isReady: () => Promise<boolean>): void {
  const hidden = { schema: { hide: true } }
  app.get('/healthz', hidden, async () => ({ status: 'ok' }))
  app.get('/readyz', hidden, async (_request, reply) => {
    if (await isReady()) return { status: 'ready' }
    return reply.code(503).header('retry-after', '5').send({ status: 'unavailable' })
  })
}
