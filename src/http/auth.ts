import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Plan } from '../config.ts'
import { Fault } from '../errors.ts'

/** Who is asking. */
export type Caller = {
  accountId: string
  email: string
  name: string
  plan: Plan
  admin: boolean
  via: 'token' | 'session'
  /** The session, and when the password was last typed in it; null for a token. */
  sessionId: string | null
  authenticatedAt: Date | null
}

/** Finds the account behind a Bearer token or a session cookie, at once where it is known; null when there is none. */
export type Identify = (headers: IncomingHttpHeaders) => Caller | null | Promise<Caller | null>

declare module 'fastify' {
  interface FastifyRequest {
    /** The authenticated account; null on public routes. */
    caller: Caller | null
  }
}

/** The account that the hooks of this route authenticated. */
export function callerOf({ caller, routeOptions }: FastifyRequest): Caller {
  if (!caller) throw new Error(`route ${routeOptions.url} asks for its caller but requires none`)
  return caller
}

/** What lets a request in or refuses it. */
export type AuthHooks = {
  /** Lets any account in, by token or session. */
  account: onRequestHookHandler
  /** Lets an account in by session only: what a leaked token must not be able to do. */
  session: onRequestHookHandler
  /** Lets administrators in. */
  admin: onRequestHookHandler
  /** Who it is that `account` let in earlier; refuses what would not be let in now. For answers that last. */
  reauthenticate: (request: FastifyRequest) => Promise<Caller>
}

/** A session in which the password was typed so recently may act on accounts. */
const FRESH_SESSION_MS = 10 * 60_000

/**
 * For a route's hooks, behind one of the hooks above: the act needs a session in which the password was typed within the last ten
 * minutes. A stolen token cannot do it, nor can somebody who finds a browser unlocked. The dashboard knows the code
 * `reauthenticate`, asks for the password and repeats the request.
 */
export const requireFreshSession: onRequestHookHandler = (request, _reply, done) => {
  done(rejectStaleSession(callerOf(request)))
}

function rejectStaleSession(caller: Caller): Fault | undefined {
  if (caller.authenticatedAt === null) return requireSession(caller)
  if (Date.now() - caller.authenticatedAt.getTime() < FRESH_SESSION_MS) return undefined
  return new Fault('reauthenticate', 'Confirm your password to continue: you signed in more than 10 minutes ago.')
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * The hooks that routes put before all else: a stranger is not told what else is wrong with the request.
 * @param identify finds the caller; handed in because accounts live a floor above
 * @param ownOrigins origins from which a request by cookie may change something (CSRF)
 */
export function createAuthHooks(identify: Identify, ownOrigins: string[]): AuthHooks {
  function entry(requirement?: Requirement): onRequestHookHandler {
    return (request, _reply, done) => {
      const settle = (caller: Caller | null) => {
        request.caller = caller
        done(rejectionOf(request, caller, ownOrigins) ?? (caller ? requirement?.(caller) : undefined))
      }
      const caller = identify(request.headers)
      // A token that is remembered costs no promise.
      if (caller instanceof Promise) caller.then(settle, done)
      else settle(caller)
    }
  }

  return {
    account: entry(),
    session: entry(requireSession),
    admin: entry(requireAdmin),
    async reauthenticate(request) {
      const caller = await identify(request.headers)
      const fault = rejectionOf(request, caller, ownOrigins)
      if (fault || !caller) throw fault ?? unauthenticated(request)
      return caller
    },
  }
}

type Requirement = (caller: Caller) => Fault | undefined

function requireSession({ via }: Caller): Fault | undefined {
  return via === 'session' ? undefined : new Fault('forbidden', 'This needs a sign-in; an API token cannot do it.')
}

function requireAdmin({ admin }: Caller): Fault | undefined {
  return admin ? undefined : new Fault('forbidden', 'Only administrators can do this.')
}

/** Why a request is not let in at all. */
function rejectionOf(request: FastifyRequest, caller: Caller | null, own: string[]): Fault | undefined {
  if (!caller) return unauthenticated(request)
  return caller.via === 'session' ? rejectForeignOrigin(request, own) : undefined
}

function unauthenticated({ headers }: FastifyRequest): Fault {
  const sentence = headers.authorization
    ? 'This API token is unknown, expired or revoked.'
    : 'Send an API token as “Authorization: Bearer …”, or sign in.'
  return new Fault('unauthenticated', sentence)
}

function rejectForeignOrigin({ method, headers }: FastifyRequest, own: string[]): Fault | undefined {
  if (SAFE_METHODS.has(method) || isProgram(headers)) return undefined
  if (headers.origin !== undefined && own.includes(headers.origin)) return undefined
  return new Fault('forbidden', 'A request that changes something must come from this site itself.')
}

/**
 * Browsers say where a request comes from that changes something (Fetch standard, “Origin” and Fetch Metadata). Whoever says
 * nothing of it is a program, with a cookie of its own.
 */
export function isProgram({ origin, referer, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
  return origin === undefined && referer === undefined && site === undefined
}
