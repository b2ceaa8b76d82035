import type { FastifyRequest, preValidationAsyncHookHandler } from 'fastify'
import { Fault } from '../errors.ts'
import type { TokenOwner } from '../abuse/tokens/report-tokens.sql.ts'
import type { TokenAuth } from '../abuse/tokens/token-auth.ts'

const OWNERS = new WeakMap<FastifyRequest, TokenOwner>()

/**
 * The hook of routes that a bouncer key opens. Firewalls that send no header of their own use HTTP
 * Basic authentication, with the key as the password.
 * @param refusal made from whether the request had a key; by default 401
 */
export function requireBouncerKey(
  keys: TokenAuth,
  refusal: (hasKey: boolean) => Fault = unauthenticated,
): preValidationAsyncHookHandler {
  return async (request) => {
    const key = keyOf(request)
    const owner = await keys.find(key)
    if (!owner) throw refusal(key !== '')
    OWNERS.set(request, owner)
  }
}

/** The key of a request that passed the hook. */
export function bouncerKeyOf(request: FastifyRequest): TokenOwner {
  const owner = OWNERS.get(request)
  if (!owner) throw new Error('a route reads its key but has no hook that authenticates')
  return owner
}

function keyOf({ headers }: FastifyRequest): string {
  const key = headers['x-api-key'] ?? headers['x-report-token'] ?? passwordOf(headers.authorization)
  return typeof key === 'string' ? key : ''
}

/** The password of HTTP Basic authentication (RFC 7617). */
export function passwordOf(header: string | undefined): string | undefined {
  const [, encoded] = /^basic ([A-Za-z0-9+/=]{1,400})$/i.exec(header ?? '') ?? []
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString()
  return text.slice(text.indexOf(':') + 1)
}

function unauthenticated(hasKey: boolean): Fault {
  return new Fault(
    'unauthenticated',
    hasKey
      ? 'The bouncer key is unknown or was revoked. Create a new one. Report tokens do not read the list.'
      : 'Send a bouncer key of the workspace as X-Api-Key.',
  )
}
