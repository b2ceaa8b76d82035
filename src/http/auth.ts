import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
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
}

/** Finds the account behind a Bearer token or a session cookie; null when there is none that holds. */
export type Identify = (headers: IncomingHttpHeaders) => Promise<Caller | null>

const callers = new WeakMap<FastifyRequest, Caller>()

/** The account that passed `requireCaller` on this route. */
export function callerOf(request: FastifyRequest): Caller {
  const caller = callers.get(request)
  if (!caller) throw new Error(`route ${request.routeOptions.url} asks for its caller but requires none`)
  return caller
}

export type Door = {
  /** Lets any account in, by token or session. */
  account: (request: FastifyRequest) => Promise<void>
  /** Lets an account in by session only: what a leaked token must not be able to do. */
  session: (request: FastifyRequest) => Promise<void>
  /** Lets administrators in. */
  admin: (request: FastifyRequest) => Promise<void>
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * The hooks that routes put before their handlers.
 * @param identify finds the caller; handed in because accounts live a floor above
 * @param ownOrigins origins from which a request by cookie may change something (CSRF)
 */
export function createDoor(identify: Identify, ownOrigins: string[]): Door {
  async function enter(request: FastifyRequest): Promise<Caller> {
    const caller = await identify(request.headers)
    if (!caller) {
      const sentence = request.headers.authorization
        ? 'This API token is unknown, expired or revoked.'
        : 'Send an API token as “Authorization: Bearer …”, or sign in.'
      throw new Fault('unauthenticated', sentence)
    }
    if (caller.via === 'session' && !SAFE_METHODS.has(request.method)) requireOwnOrigin(request, ownOrigins)
    callers.set(request, caller)
    return caller
  }
  return {
    account: async (request) => {
      await enter(request)
    },
    session: async (request) => {
      const caller = await enter(request)
      if (caller.via !== 'session') throw new Fault('forbidden', 'This needs a sign-in; an API token cannot do it.')
    },
    admin: async (request) => {
      const caller = await enter(request)
      if (!caller.admin) throw new Fault('forbidden', 'Only administrators can do this.')
    },
  }
}

function requireOwnOrigin(request: FastifyRequest, ownOrigins: string[]): void {
  const { origin } = request.headers
  if (origin === undefined || !ownOrigins.includes(origin)) {
    throw new Fault('forbidden', 'A request that changes something must come from this site itself.')
  }
}
