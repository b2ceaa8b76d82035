import type { FastifyReply, FastifyRequest } from 'fastify'
import { Fault } from '../../errors.ts'
import { isUnavailable } from '../../store/database.ts'

/** Failures as bouncers and agents read them: `{"message": …}`. */
export function sendFailure(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { message, statusCode = 500 } = error as { message: string; statusCode?: number }
  if (error instanceof Fault) {
    if (error.retryAfter !== undefined) reply.header('retry-after', Math.ceil(error.retryAfter))
    return reply.code(error.status).send({ message })
  }
  const status = isUnavailable(error) ? 503 : statusCode
  if (status < 500) return reply.code(status).send({ message })
  request.log.error({ reqId: request.id, err: error }, 'request failed')
  return reply.code(status).send({ message: 'internal error' })
}
