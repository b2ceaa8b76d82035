import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Plan } from '../config.ts'
import { Fault } from '../errors.ts'
import { MINUTE_MS } from '../time.ts'
import { isSafe, namedWorkspace, rejectAccess, type Role, type Scope } from './access.ts'

/** How a session was opened, by its strongest proof. */
export const SIGN_IN_METHODS = ['password', 'totp', 'passkey', 'oidc'] as const
export type SignInMethod = (typeof SIGN_IN_METHODS)[number]

/** The authenticated account of a request, and the workspace that the request is for. */
export type Caller = {
  accountId: string
  email: string
  name: string
  /** An administrator of the installation. */
  admin: boolean
  workspaceId: string
  /**
   * The account that answers for the workspace: its first owner. What protects other accounts counts
   * for it.
   */
  responsibleId: string
  /** The role of the account in the workspace. */
  role: Role
  /** The plan of the workspace. */
  plan: Plan
  via: 'token' | 'session'
  /** Null for a session. */
  tokenId: string | null
  tokenLabel: string | null
  /** The scopes of an API token; null for a session, and for a token that may do everything. */
  scopes: Scope[] | null
  /** The session and the time of its last sign-in or confirmation; null for an API token. */
  sessionId: string | null
  authenticatedAt: Date | null
  /** Null for an API token. */
  signedInWith: SignInMethod | null
  /** Whether REQUIRE_2FA applies and this session was opened with a password alone. */
  lacksSecondFactor: boolean
}

/**
 * Finds the account of a Bearer token or session cookie, without a promise where it is cached; null
 * when there is none.
 * @param workspaceId the workspace that the request names; by default the token’s, or the first one
 *   of the account
 * @throws Fault `not_a_member` when the caller is not a member of that workspace
 */
export type Identify = (
  headers: IncomingHttpHeaders,
  workspaceId?: string,
) => Caller | null | Promise<Caller | null>

declare module 'fastify' {
  interface FastifyRequest {
    /** The authenticated account; null on public routes. */
    caller: Caller | null
  }
  interface FastifyContextConfig {
    /** Allows sessions without the second factor that REQUIRE_2FA demands, to set one up. */
    withoutSecondFactor?: true
  }
}

/** The account that the hooks of this route authenticated. */
export function callerOf({ caller, routeOptions }: FastifyRequest): Caller {
  if (!caller)
    throw new Error(`route ${routeOptions.url} reads its caller but has no authentication hook`)
  return caller
}

/** Hooks that authenticate a request or reject it. */
export type AuthHooks = {
  /** Requires an account, by token or session, with access to the route. */
  account: onRequestHookHandler
  /** Requires an administrator. */
  admin: onRequestHookHandler
  reauthenticate: Reauthenticate
}

/** Authenticates a request again that was accepted earlier. For long-lived responses. */
export type Reauthenticate = (request: FastifyRequest) => Promise<Caller>

/** Route hook: requires a session, for actions that a leaked token must not allow. */
export const requireSession: onRequestHookHandler = (request, _reply, done) => {
  done(rejectToken(callerOf(request)))
}

/** How recent the sign-in must be for actions on accounts. */
const FRESH_SESSION_MS = 10 * MINUTE_MS

/**
 * Route hook after one of the hooks above: requires a session with a sign-in or a confirmation
 * within the last ten minutes. Protects against stolen tokens and unlocked browsers. On the code
 * `reauthenticate`, the dashboard asks for a confirmation and repeats the request.
 */
export const requireFreshSession: onRequestHookHandler = (request, _reply, done) => {
  done(rejectStaleSession(callerOf(request)))
}

/** The reason why a caller may not do what needs a recent sign-in, if there is one. */
export function rejectStaleSession(caller: Caller): Fault | undefined {
  if (caller.authenticatedAt === null) return rejectToken(caller)
  if (Date.now() - caller.authenticatedAt.getTime() < FRESH_SESSION_MS) return undefined
  return new Fault(
    'reauthenticate',
    'Confirm that it is you to continue: you signed in more than 10 minutes ago.',
  )
}

/**
 * Creates the authentication hooks. They run first, so that unauthenticated requests get 401 before
 * any validation.
 * @param identify finds the caller; passed in because the accounts module is in a higher layer
 * @param ownOrigins origins that may send changes with a session cookie (CSRF protection)
 */
export function createAuthHooks(identify: Identify, ownOrigins: string[]): AuthHooks {
  const identifyRequest = (request: FastifyRequest) =>
    identify(request.headers, namedWorkspace(request))

  function entry(requirement: Requirement): onRequestHookHandler {
    return (request, _reply, done) => {
      const finish = (caller: Caller | null) => {
        request.caller = caller
        done(
          rejectionOf(request, caller, ownOrigins) ??
            (caller ? requirement(request, caller) : undefined),
        )
      }
      const caller = identifyRequest(request)
      // A cached token needs no promise.
      if (caller instanceof Promise) caller.then(finish, done)
      else finish(caller)
    }
  }

  return {
    account: entry(rejectAccess),
    admin: entry(requireAdmin),
    async reauthenticate(request) {
      const caller = await identifyRequest(request)
      const fault =
        rejectionOf(request, caller, ownOrigins) ?? rejectAccess(request, caller as Caller)
      if (fault || !caller) throw fault ?? unauthenticated(request)
      return caller
    },
  }
}

type Requirement = (request: FastifyRequest, caller: Caller) => Fault | undefined

function rejectToken({ via }: Caller): Fault | undefined {
  return via === 'session'
    ? undefined
    : new Fault(
        'forbidden',
        'This requires a session. An API token is not accepted; sign in instead.',
      )
}

function requireAdmin(_request: FastifyRequest, { admin, scopes }: Caller): Fault | undefined {
  if (!admin) return new Fault('forbidden', 'This requires an administrator.')
  return scopes === null
    ? undefined
    : new Fault('forbidden', 'This requires an API token without restrictions, or a session.')
}

/** The reason to reject a request, if there is one. */
function rejectionOf(
  request: FastifyRequest,
  caller: Caller | null,
  own: string[],
): Fault | undefined {
  if (!caller) return unauthenticated(request)
  if (caller.via === 'token') return undefined
  return rejectForeignOrigin(request, own) ?? rejectWeakSession(request, caller)
}

function rejectWeakSession(
  { routeOptions }: FastifyRequest,
  { lacksSecondFactor }: Caller,
): Fault | undefined {
  if (!lacksSecondFactor || routeOptions.config.withoutSecondFactor) return undefined
  return new Fault(
    'two_factor_required',
    'This service requires a second factor. Set up an authenticator app or a passkey under Account, or sign in with it.',
  )
}

function unauthenticated({ headers }: FastifyRequest): Fault {
  const sentence = headers.authorization
    ? 'The API token is invalid or was revoked. Create a new one.'
    : 'Authentication is required. Send an API token as “Authorization: Bearer …”, or sign in.'
  return new Fault('unauthenticated', sentence)
}

function rejectForeignOrigin(
  { method, headers }: FastifyRequest,
  own: string[],
): Fault | undefined {
  if (isSafe(method) || isProgram(headers)) return undefined
  if (headers.origin !== undefined && own.includes(headers.origin)) return undefined
  return new Fault('forbidden', foreignOriginText(own[0] ?? ''))
}

/** Why a change is rejected that a page at another address sends, and what to do about it. */
export function foreignOriginText(ownOrigin: string): string {
  return `This page is not at the address of the service, ${ownOrigin}. Open it there, or set BASE_URL to the address that you use.`
}

/**
 * Whether a request comes from a program. Browsers name the origin of every request that changes
 * data (Fetch standard, “Origin” and Fetch Metadata); a request without any of these headers was
 * not sent by a page.
 */
export function isProgram({
  origin,
  referer,
  'sec-fetch-site': site,
}: IncomingHttpHeaders): boolean {
  return origin === undefined && referer === undefined && site === undefined
}
