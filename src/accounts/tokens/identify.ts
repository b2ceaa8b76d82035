import { APIError } from 'better-auth/api'
import type { Config } from '../../config.ts'
import { Fault } from '../../errors.ts'
import type { Caller, Identify, SignInMethod } from '../../http/auth.ts'
import type { Logger } from '../../log.ts'
import type { Db } from '../../store/database.ts'
import type { Notifications } from '../../store/notifications.ts'
import { COOKIE_PREFIX, type Auth } from '../sign-in/auth.ts'
import { onAccountChange } from '../account-changes.ts'
import { createLastUse } from './last-use.ts'
import { findAccountByToken } from '../store.ts'
import { createTokenCache, type CachedToken } from './token-cache.ts'
import { hashToken, tokenIn } from './tokens.ts'

export type IdentifyOptions = {
  db: Db
  auth: Auth
  notifications: Notifications
  log: Logger
  /** REQUIRE_2FA */
  requireTwoFactor?: Config['REQUIRE_2FA']
}

const SESSION_COOKIE = `${COOKIE_PREFIX}.session_token=`

/**
 * Creates the function that identifies callers: by Bearer token where an Authorization header is
 * sent, else by session cookie. `close` writes the pending last-use times of tokens.
 * @throws Fault `unavailable` when sessions cannot be verified
 */
export function createIdentify({
  db,
  auth,
  notifications,
  log,
  requireTwoFactor = 'off',
}: IdentifyOptions): Identify & { close(): Promise<void> } {
  const cache = createTokenCache()
  const lastUse = createLastUse({ db, log })
  const forgetAccount = (accountId: string) => cache.forgetAccount(accountId)
  onAccountChange(notifications, forgetAccount, () => cache.forgetAll())

  function byToken(authorization: string): Caller | null | Promise<Caller | null> {
    const token = tokenIn(authorization)
    if (token === null) return null
    const known = cache.get(token)
    return known
      ? used(known)
      : cache
          .fill(token, () => findToken(db, hashToken(token)))
          .then((found) => found && used(found))
  }

  function used({ tokenId, caller }: CachedToken): Caller {
    lastUse.record(tokenId)
    return caller
  }

  const identify: Identify = ({ authorization, cookie }) => {
    // Other schemes are ignored; they may belong to a proxy in front of the service.
    if (authorization !== undefined && /^Bearer\b/i.test(authorization))
      return byToken(authorization)
    return cookie?.includes(SESSION_COOKIE) ? bySession(auth, requireTwoFactor, cookie) : null
  }
  return Object.assign(identify, { close: () => lastUse.close() })
}

async function findToken(db: Db, hash: Buffer): Promise<CachedToken | null> {
  const row = await findAccountByToken(db, hash)
  if (!row) return null
  const { tokenId, id: accountId, ...account } = row
  return {
    tokenId,
    caller: { accountId, ...account, ...TOKEN_CALLER },
  }
}

const TOKEN_CALLER = {
  via: 'token',
  sessionId: null,
  authenticatedAt: null,
  signedInWith: null,
  lacksSecondFactor: false,
} as const

async function bySession(
  auth: Auth,
  required: Config['REQUIRE_2FA'],
  cookie: string,
): Promise<Caller | null> {
  // Only /get-session itself extends a session, because its response sets the new cookie.
  const query = { disableRefresh: true }
  const found = await auth.api.getSession({ headers: { cookie }, query }).catch(unavailable)
  if (!found) return null
  const { id: accountId, email, name, plan, admin, disabledAt } = found.user
  if (disabledAt) return null
  const { id: sessionId, authenticatedAt } = found.session
  const signedInWith = found.session.signedInWith as SignInMethod
  const isRequired = required === 'everyone' || (required === 'administrators' && admin)
  return {
    accountId,
    email,
    name,
    plan: plan as Caller['plan'],
    admin,
    via: 'session',
    sessionId,
    authenticatedAt,
    signedInWith,
    lacksSecondFactor: isRequired && signedInWith === 'password',
  }
}

/** The library reports only that it failed, and logs the database's reason. */
function unavailable(cause: unknown): never {
  if (!(cause instanceof APIError)) throw cause
  throw new Fault(
    'unavailable',
    'Sessions cannot be verified at the moment. Try again in a few seconds.',
    {
      retryAfter: 5,
      cause,
    },
  )
}
