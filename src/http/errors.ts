import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify'
import { Fault, type FaultCode } from '../errors.ts'
import { isDatabaseTimeout } from '../store/database.ts'
import { describeProblems, MAX_DETAILS } from './describe-problems.ts'

/** Fastify's own refusals, in our words. */
const FASTIFY_FAULTS: Record<string, [FaultCode, string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['too_large', 'The body is larger than this endpoint takes.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'This endpoint takes JSON: send Content-Type: application/json.',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid_request', 'The body is not as long as Content-Length says.'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['invalid_request', 'The body is not valid JSON.'],
  FST_ERR_BAD_URL: ['invalid_request', 'The path has a malformed escape.'],
}

/** Delay of a 429: a client that repeats what was refused without waiting would otherwise do so a thousand times a second. */
const REFUSAL_DELAY_MS = 500

type Route = { pattern: RegExp; method: string }

/**
 * The one place where what went wrong becomes an answer.
 * @param isUnavailable tells a database that is away from a defect of ours
 */
export function addErrorHandlers(app: FastifyInstance, isUnavailable: (error: unknown) => boolean): void {
  const routes: Route[] = []
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = new RegExp(
      `^${url
        .replace(/[.+?^$()|[\]\\]/g, '\\$&')
        .replace(/\*/g, '.*')
        .replace(/:\w+/g, '[^/]+')}$`,
    )
    for (const one of [method].flat()) routes.push({ pattern, method: one })
  })

  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    const fault = toFault(error, isUnavailable)
    if (fault.code === 'rate_limited') await sleep(REFUSAL_DELAY_MS)
    if (fault.code === 'internal' || fault.code === 'unavailable')
      request.log.error({ reqId: request.id, err: error }, 'request failed')
    return sendFault(fault, reply)
  })

  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0] ?? ''
    const allowed = [...new Set(routes.filter((r) => r.pattern.test(path)).map((r) => r.method))]
    // A route that takes the method and still found nothing: a file that is not there.
    if (allowed.length === 0 || allowed.includes(request.method))
      return sendFault(new Fault('not_found', `There is nothing at ${path}.`), reply)
    reply.header('allow', allowed.join(', '))
    return sendFault(new Fault('method_not_allowed', `${path} takes ${allowed.join(', ')}.`), reply)
  })
}

/** Writes a Fault as the answer, with the headers its status asks for. */
export function sendFault(fault: Fault, reply: FastifyReply): FastifyReply {
  if (fault.code === 'unauthenticated') reply.header('www-authenticate', 'Bearer')
  if (fault.retryAfter !== undefined) reply.header('retry-after', String(Math.ceil(fault.retryAfter)))
  return reply.code(fault.status).type('application/json').send(failureBody(fault))
}

/** Characters of an error's sentence, and of one detail: what a request quotes back is cut, so an answer stays below 64 kB. */
const MAX_ERROR_LENGTH = 8_000
const MAX_DETAIL_LENGTH = 1_000

/** The JSON body of a failure. */
export function failureBody(fault: Fault) {
  const details = fault.details?.slice(0, MAX_DETAILS).map(({ path, message }) => ({
    path: shortened(path, MAX_DETAIL_LENGTH),
    message: shortened(message, MAX_DETAIL_LENGTH),
  }))
  return { success: false as const, error: shortened(fault.message, MAX_ERROR_LENGTH), code: fault.code, details }
}

function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`
}

/** What was thrown, in our words. */
export function toFault(error: FastifyError, isUnavailable: (error: unknown) => boolean): Fault {
  if (error instanceof Fault) return error
  if (error.validation) return invalid(error)
  const known = FASTIFY_FAULTS[error.code]
  if (known) return new Fault(...known)
  if (isUnavailable(error)) {
    return new Fault('unavailable', 'The database is away for the moment.', { retryAfter: 5, cause: error })
  }
  if (isDatabaseTimeout(error)) {
    const sentence = 'The database did not finish this request in time. Try again, or ask for less.'
    return new Fault('unavailable', sentence, { retryAfter: 10, cause: error })
  }
  return new Fault('internal', 'Something went wrong on our side. The log has the details under this request’s id.')
}

function invalid(error: FastifyError): Fault {
  // Nothing has such an id or such a name.
  if (error.validationContext === 'params') return new Fault('not_found', 'There is nothing with such an id.')
  const details = describeProblems(error.validation ?? [], error.validationContext)
  const sentence = details.map(({ path, message }) => `${path} ${message}`).join('; ')
  return new Fault('invalid_request', `The request is not valid: ${sentence}.`, { details })
}
