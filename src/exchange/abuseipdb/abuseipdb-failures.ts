import type { FastifyReply, FastifyRequest } from 'fastify'
import { Fault, type FaultCode } from '../../errors.ts'
import { isUnavailable } from '../../store/database.ts'

/** A failure with the parameter that caused it. */
export class ParameterError extends Error {
  readonly parameter: string

  constructor(parameter: string, message: string) {
    super(message)
    this.parameter = parameter
  }
}

/** A network that is wider than this API answers for. */
export class PlanError extends Error {}

type ApiError = { detail: string; status: number; source?: { parameter: string } }

/** Statuses that differ from those of our own API. */
const STATUSES: Partial<Record<FaultCode, number>> = { invalid_request: 422 }

/** Sends failures as AbuseIPDB does: `{"errors": [{"detail", "status", "source"}]}`. */
export function sendFailure(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const failure = failureOf(error)
  if (failure.status >= 500) request.log.error({ reqId: request.id, err: error }, 'request failed')
  if (error instanceof Fault && error.retryAfter !== undefined)
    reply.header('retry-after', String(Math.ceil(error.retryAfter)))
  return reply
    .code(failure.status)
    .type('application/json')
    .send({ errors: [failure] })
}

function failureOf(error: unknown): ApiError {
  if (error instanceof ParameterError)
    return { detail: error.message, status: 422, source: { parameter: error.parameter } }
  if (error instanceof PlanError) return { detail: error.message, status: 402 }
  if (error instanceof Fault)
    return { detail: error.message, status: STATUSES[error.code] ?? error.status }
  const { validation, statusCode, message } = error as FastifyFailure
  if (validation) {
    const parameter = validation[0]?.instancePath?.split('/')[1] ?? ''
    return { detail: message, status: 422, ...(parameter && { source: { parameter } }) }
  }
  if (isUnavailable(error)) return { detail: 'The database is unavailable.', status: 503 }
  const status = statusCode ?? 500
  return { detail: status < 500 ? message : 'Internal error.', status }
}

type FastifyFailure = {
  validation?: { instancePath?: string }[]
  statusCode?: number
  message: string
}
