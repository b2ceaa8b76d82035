import type { FastifyReply, FastifyRequest } from 'fastify'
import { Fault } from '../../../errors.ts'
import { isUnavailable } from '../../../store/database.ts'

/** Failures as bouncers and agents read them: `{"message": …}`. */
export function sendFailure(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { validation, message } = error as { validation?: unknown; message: string }
  if (error instanceof Fault) {
    if (error.retryAfter !== undefined) reply.header('retry-after', Math.ceil(error.retryAfter))
    return reply.code(error.status).send({ message })
  }
  if (validation !== undefined) return reply.code(400).send({ message })
  request.log.error({ reqId: request.id, err: error }, 'request failed')
  const status = isUnavailable(error) ? 503 : ((error as { statusCode?: number }).statusCode ?? 500)
  return reply.code(status).send({ message: status < 500 ? message : 'internal error' })
}
