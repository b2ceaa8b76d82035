import type { FastifyReply, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import { Fault } from '../../errors.ts'
import type { AttackList } from '../../abuse/attack-list.ts'
import type { TokenOwner } from '../../abuse/tokens/report-tokens.sql.ts'
import type { Parameters } from './parameters.ts'
import type { Endpoint } from './quota-counter.ts'
import type { Quotas } from './token-quotas.ts'

const CALLERS = new WeakMap<FastifyRequest, { key: string; owner: TokenOwner }>()

export type Guard = (endpoint: Endpoint) => preHandlerAsyncHookHandler

/** Identifies the caller, and counts the request. */
export function guardOf(
  { reportTokens }: Pick<AttackList, 'reportTokens'>,
  quotas: Quotas,
  endpoint: Endpoint,
): preHandlerAsyncHookHandler {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const key = keyOf(request)
    const owner = await reportTokens.find(key)
    if (!owner)
      throw new Fault(
        'unauthenticated',
        'Authentication failed. Send a report token of Portreeve in the header Key.',
      )
    CALLERS.set(request, { key, owner })
    reply.header('x-ratelimit-reset', String(quotas.resetAt()))
    const { limit, remaining } = await quotas.count(owner.id, endpoint)
    reply.header('x-ratelimit-limit', String(limit))
    reply.header('x-ratelimit-remaining', String(remaining))
  }
}

/** The header, or as AbuseIPDB also accepts it, the parameter. */
function keyOf({ headers, query, body }: FastifyRequest): string {
  const given = [headers['key'], (query as Parameters)['key'], (body as Parameters | null)?.['key']]
  return given.find((value) => typeof value === 'string') ?? ''
}

/** The caller of a request that passed the guard. */
export function callerOf(request: FastifyRequest): { key: string; owner: TokenOwner } {
  const caller = CALLERS.get(request)
  if (!caller) throw new Error('a route reads its caller but has no guard')
  return caller
}

/** Parameters of the query string and of the body, which counts more. */
export function parametersOf({ query, body }: FastifyRequest): Parameters {
  const fields = typeof body === 'object' && body !== null ? body : {}
  return { ...(query as Parameters), ...(fields as Parameters) }
}
