import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Fault, type FaultCode } from '../errors.ts'
import { isDatabaseTimeout } from '../store/database.ts'
import { describeProblems, MAX_DETAILS } from './validation/describe-problems.ts'

/** Characters of the longest path of a route, with its parameters, and of a path in an answer. */
const MAX_PATH_LENGTH = 2_000

/** Fastify's own errors, as faults. */
const FASTIFY_FAULTS: Record<string, [FaultCode, string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['too_large', 'The body is too large for this endpoint.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'This endpoint requires JSON. Send Content-Type: application/json.',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'invalid_request',
    'The length of the body does not match Content-Length.',
  ],
  FST_ERR_CTP_INVALID_JSON_BODY: ['invalid_request', 'The body is not valid JSON.'],
  FST_CP_ERR_INVALID_CONTENT: ['invalid_request', 'The body is not valid gzip.'],
  FST_ERR_BAD_URL: ['invalid_request', 'The path contains a malformed percent-encoding.'],
  // No id or name is as long as the router accepts.
  FST_ERR_MAX_PARAM_LENGTH: ['not_found', 'Not found: no resource has this ID.'],
}

/**
 * Delay of a 429. A client that ignores it would otherwise repeat its request a thousand times a
 * second.
 */
const REFUSAL_DELAY_MS = 500

declare module 'fastify' {
  interface FastifyInstance {
    /** Why nothing answers a request; sets `Allow` when another method is supported. */
    missingFault: (request: FastifyRequest, reply: FastifyReply) => Fault
    /** Senders of failures below a path, for clients that cannot read ours: see `sendMissingAs`. */
    foreignFailures: Map<string, SendFailure>
  }
}

/**
 * Turns every error into a response.
 * @param isUnavailable whether an error means that the database is unavailable, not a defect
 */
export function addErrorHandlers(
  app: FastifyInstance,
  isUnavailable: (error: unknown) => boolean,
): void {
  const methods = new Set<string>()
  app.addHook('onRoute', ({ method }) => {
    for (const one of [method].flat()) methods.add(one)
  })

  app.setErrorHandler((error: FastifyError, request, reply) =>
    sendFault(faultOf(error, request, isUnavailable), reply),
  )

  app.decorate('missingFault', (request, reply) => {
    const given = request.url.split('?', 1)[0] ?? ''
    const path = shortened(given, MAX_PATH_LENGTH)
    // By the router, whose time does not grow with the number of routes.
    const allowed = [...methods].filter((method) => app.findRoute({ method, url: path }) !== null)
    // A route that accepts the method and still found nothing: a missing file.
    if (allowed.length === 0 || allowed.includes(request.method))
      return new Fault('not_found', `Not found: ${path}.`)
    reply.header('allow', allowed.join(', '))
    return new Fault('method_not_allowed', `${path} supports ${allowed.join(', ')} only.`)
  })
  app.setNotFoundHandler((request, reply) => sendFault(app.missingFault(request, reply), reply))
  app.decorate('foreignFailures', new Map())
}

/**
 * Delays every 429, whichever handler sends it and in whatever form. Add it after the hook that
 * ends the turn of a request, so that a delayed one keeps no other waiting.
 */
export function delayRefusals(app: FastifyInstance): void {
  app.addHook('onSend', (_request, { statusCode }, payload, done) => {
    if (statusCode !== 429) done(null, payload)
    else setTimeout(done, REFUSAL_DELAY_MS, null, payload)
  })
}

/** An error as the response has it; one that is a defect or an outage is logged. */
export function faultOf(
  error: FastifyError,
  request: FastifyRequest,
  isUnavailable: (error: unknown) => boolean,
): Fault {
  const fault = toFault(error, isUnavailable)
  if (fault.code === 'internal' || fault.code === 'unavailable')
    request.log.error({ reqId: request.id, err: error }, 'request failed')
  return fault
}

type SendFailure = (
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
) => FastifyReply | Promise<FastifyReply>

/**
 * Sends what has no route below a path in the form of another product's API, whose clients cannot
 * read ours.
 * @param prefix the path without its final slash
 */
export function sendMissingAs(app: FastifyInstance, prefix: string, send: SendFailure): void {
  app.foreignFailures.set(`${prefix}/`, send)
  void app.register(
    async (scope) =>
      scope.setNotFoundHandler((request, reply) =>
        send(app.missingFault(request, reply), request, reply),
      ),
    { prefix },
  )
}

/** Sends a failure of the router, which knows no route and so no form of its own. */
export function sendRouterFault(
  app: FastifyInstance,
  fault: Fault,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const [, send] = [...app.foreignFailures].find(([prefix]) => request.url.startsWith(prefix)) ?? []
  void (send ? send(fault, request, reply) : sendFault(fault, reply))
}

/** Sends a Fault as the response, with the headers of its status. */
function sendFault(fault: Fault, reply: FastifyReply): FastifyReply {
  if (fault.code === 'unauthenticated') reply.header('www-authenticate', 'Bearer')
  if (fault.retryAfter !== undefined)
    reply.header('retry-after', String(Math.ceil(fault.retryAfter)))
  return reply.code(fault.status).type('application/json').send(failureBody(fault))
}

/**
 * Characters of an error message and of one detail. Text quoted from a request is truncated, so
 * that a response stays below 64 kB.
 */
const MAX_ERROR_LENGTH = 8_000
const MAX_DETAIL_LENGTH = 1_000

/** The JSON body of a failure. */
export function failureBody(fault: Fault) {
  const details = fault.details?.slice(0, MAX_DETAILS).map(({ path, message }) => ({
    path: shortened(path, MAX_DETAIL_LENGTH),
    message: shortened(message, MAX_DETAIL_LENGTH),
  }))
  return {
    success: false as const,
    error: shortened(fault.message, MAX_ERROR_LENGTH),
    code: fault.code,
    details,
  }
}

function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`
}

/** Converts any error to a Fault. */
export function toFault(error: FastifyError, isUnavailable: (error: unknown) => boolean): Fault {
  if (error instanceof Fault) return error
  if (error.validation) return invalid(error)
  const known = FASTIFY_FAULTS[error.code]
  if (known) return new Fault(...known)
  if (isUnavailable(error)) {
    return new Fault('unavailable', 'The database is unavailable. Try again in a few seconds.', {
      retryAfter: 5,
      cause: error,
    })
  }
  if (isDatabaseTimeout(error)) {
    const sentence =
      'The database did not finish this request in time. Try again, or request less data.'
    return new Fault('unavailable', sentence, { retryAfter: 10, cause: error })
  }
  return new Fault(
    'internal',
    'Internal error. The log has the details under the X-Request-Id of this response.',
  )
}

function invalid(error: FastifyError): Fault {
  // An id of the wrong form cannot exist.
  if (error.validationContext === 'params')
    return new Fault('not_found', 'Not found: no resource has this ID.')
  const details = describeProblems(error.validation ?? [], error.validationContext)
  const sentence = details.map(({ path, message }) => `${path} ${message}`).join('; ')
  return new Fault('invalid_request', `The request is not valid: ${sentence}.`, { details })
}
