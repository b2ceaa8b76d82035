import type { Config } from '../../config.ts'
import { Fault } from '../../errors.ts'
import { createLoadingCache } from '../../loading-cache.ts'
import type { Caller, Identify, SignInMethod } from '../../http/auth.ts'
import type { Logger } from '../../log.ts'
import type { Db } from '../../store/database.ts'
import type { Notifications } from '../../store/notifications.ts'
import { isUuid } from '../../store/uuid.ts'
import { sessionCookieIn, type Auth } from '../sign-in/better-auth-loader.ts'
import { onAccessChange } from '../account-changes.ts'
import { createLastUse } from './last-use.ts'
import { findMembership } from '../workspaces/workspaces.sql.ts'
import { hashToken, tokenIn } from './format.ts'
import { findTokenOwner } from './api-tokens.sql.ts'

export type IdentifyOptions = {
  db: Db
  auth: Auth
  notifications: Notifications
  log: Logger
  /** REQUIRE_2FA */
  requireTwoFactor?: Config['REQUIRE_2FA']
}

/** A token with its account and workspace. */
type CachedToken = {
  caller: Caller & { tokenId: string }
  /**
   * Milliseconds by the database’s clock, which all instances share; null for a token that does not
   * expire.
   */
  expiresInMs: number | null
}

/** About 5 MB when full. */
const MAX_CACHED_TOKENS = 10_000

/** How long a change may go unnoticed if its notification is lost. */
const CACHE_MS = 30_000

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
  // The token itself is the key: hashing it would take a tenth of a request’s time, and an attacker
  // who reads this memory reads the requests as well.
  const cache = createLoadingCache<CachedToken>({
    max: MAX_CACHED_TOKENS,
    lifetimeMs: CACHE_MS,
    validMsOf: ({ expiresInMs }) => expiresInMs ?? Infinity,
  })
  const lastUse = createLastUse({ db, log })
  onAccessChange(
    notifications,
    (id) => cache.forgetWhere(({ caller }) => caller.accountId === id || caller.workspaceId === id),
    () => cache.forgetAll(),
  )

  function byToken(
    authorization: string,
    workspaceId: string | undefined,
  ): Caller | null | Promise<Caller | null> {
    const token = tokenIn(authorization)
    if (token === null) return null
    const known = cache.get(token)
    // Without a promise only where it cannot fail: a hook that throws would end the process.
    return known && isFor(known, workspaceId)
      ? used(known, workspaceId)
      : cache
          .load(token, () => findToken(db, hashToken(token)))
          .then((found) => found && used(found, workspaceId))
  }

  function used(token: CachedToken, workspaceId: string | undefined): Caller {
    if (!isFor(token, workspaceId)) throw notAMember()
    lastUse.record(token.caller.tokenId)
    return token.caller
  }

  const identify: Identify = ({ authorization, cookie }, workspaceId) => {
    // Other schemes are ignored; they may belong to a proxy in front of the service.
    if (authorization !== undefined && /^Bearer\b/i.test(authorization))
      return byToken(authorization, workspaceId)
    if (cookie === undefined || sessionCookieIn(cookie) === undefined) return null
    return bySession({ db, auth, required: requireTwoFactor }, cookie, workspaceId)
  }
  return Object.assign(identify, { close: () => lastUse.close() })
}

async function findToken(db: Db, hash: Buffer): Promise<CachedToken | null> {
  const row = await findTokenOwner(db, hash)
  if (!row) return null
  const { id: accountId, expiresInMs, ...token } = row
  return { caller: { accountId, ...token, ...TOKEN_CALLER }, expiresInMs }
}

function isFor({ caller }: CachedToken, workspaceId = caller.workspaceId): boolean {
  return workspaceId === caller.workspaceId
}

const TOKEN_CALLER = {
  via: 'token',
  sessionId: null,
  authenticatedAt: null,
  signedInWith: null,
  lacksSecondFactor: false,
} as const

async function bySession(
  { db, auth, required }: { db: Db; auth: Auth; required: Config['REQUIRE_2FA'] },
  cookie: string,
  workspaceId: string | undefined,
): Promise<Caller | null> {
  // Only /get-session itself extends a session, because its response sets the new cookie.
  const found = await auth.session(cookie, { refresh: false })
  if (!found) return null
  const { id: accountId, email, name, admin, disabledAt } = found.user
  if (disabledAt) return null
  if (workspaceId !== undefined && !isUuid(workspaceId)) throw notAMember()
  const membership = await findMembership(db, accountId, workspaceId)
  if (!membership) throw notAMember()
  const { id: sessionId, authenticatedAt } = found.session
  const signedInWith = found.session.signedInWith as SignInMethod
  const isRequired = required === 'everyone' || (required === 'administrators' && admin)
  return {
    accountId,
    email,
    name,
    admin,
    ...membership,
    via: 'session',
    tokenId: null,
    tokenLabel: null,
    scopes: null,
    sessionId,
    authenticatedAt,
    signedInWith,
    lacksSecondFactor: isRequired && signedInWith === 'password',
  }
}

const notAMember = () =>
  new Fault(
    'not_a_member',
    'You are not a member of this workspace, or it was deleted. Choose another workspace.',
  )
