import { finished } from 'node:stream'
import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { Fault } from '../errors.ts'
import type { Db } from '../store/database.ts'
import { countRequest, type Rate } from '../store/request-rate.ts'
import { callerOf } from './auth.ts'
import { clientNetwork } from './client-address.ts'
import type { App } from './server.ts'

/** What one account, or without an account one address, may ask of a group of routes. */
export type RequestLimit = {
  /** Completes “up to 3,000 …”. */
  noun: string
  /** Counted for an account over all instances, for an address in each instance. */
  rate?: Rate
  /** How many may run at once in one instance: each may hold a database connection, or sockets. */
  maxConcurrent?: number
}

const HOUR = 3_600
const MINUTE = 60

/** Limits of routes that need an account. docs/api.md lists them. */
export const ACCOUNT_LIMITS = {
  checks: { noun: 'checks', rate: { requests: 3_000, windowSeconds: HOUR }, maxConcurrent: 10 },
  connections: { noun: 'IMAP connection requests', rate: { requests: 600, windowSeconds: HOUR }, maxConcurrent: 5 },
  searches: { noun: 'searches', rate: { requests: 1_800, windowSeconds: HOUR }, maxConcurrent: 2 },
  'HAR exports': { noun: 'HAR exports', rate: { requests: 300, windowSeconds: HOUR }, maxConcurrent: 2 },
  'account exports': { noun: 'account exports', rate: { requests: 6, windowSeconds: HOUR }, maxConcurrent: 1 },
  'shared checks': { noun: 'shared checks', rate: { requests: 600, windowSeconds: HOUR }, maxConcurrent: 5 },
  'report uploads': { noun: 'report uploads', rate: { requests: 6_000, windowSeconds: HOUR }, maxConcurrent: 5 },
  verifications: {
    noun: 'verifications and checks on demand',
    rate: { requests: 600, windowSeconds: HOUR },
    maxConcurrent: 10,
  },
  'change streams': { noun: 'streams of changes', maxConcurrent: 20 },
  'webhook streams': { noun: 'streams of captured requests', maxConcurrent: 20 },
  'migration streams': { noun: 'streams of migrations', maxConcurrent: 20 },
} satisfies Record<string, RequestLimit>

/** Limits of public routes, of one IPv4 address or one IPv6 /64. */
export const ADDRESS_LIMITS = {
  'address look-ups': {
    noun: 'look-ups of addresses',
    rate: { requests: 1_200, windowSeconds: MINUTE },
    maxConcurrent: 20,
  },
  'list exports': { noun: 'downloads of the list', rate: { requests: 600, windowSeconds: HOUR }, maxConcurrent: 10 },
  'public pages': {
    noun: 'requests for public pages',
    rate: { requests: 600, windowSeconds: MINUTE },
    maxConcurrent: 20,
  },
  appeals: { noun: 'appeals', rate: { requests: 60, windowSeconds: HOUR }, maxConcurrent: 3 },
  setup: { noun: 'set-up attempts', rate: { requests: 30, windowSeconds: HOUR }, maxConcurrent: 3 },
} satisfies Record<string, RequestLimit>

export type LimitName = keyof typeof ACCOUNT_LIMITS | keyof typeof ADDRESS_LIMITS

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Which limit a request of this route counts against; null: none. */
    limit?: LimitName | ((request: FastifyRequest) => LimitName | null)
  }
}

type Subject = { key: string; accountId: string | null; name: LimitName; limit: RequestLimit }

/** Holds every route that is registered after this to the limit its `config` names. */
export function limitRequests(app: App, db: Db): void {
  const limited = new WeakSet<RouteHandlerMethod>()
  const running = createConcurrencyCounter()
  const rates = createRateCounter(db)
  app.addHook('onRoute', (route) => {
    const { handler, config } = route
    const limit = config?.limit
    // The route for HEAD comes with the handler of its GET.
    if (!limit || limited.has(handler)) return
    route.handler = async function limitedHandler(request, reply) {
      const name = typeof limit === 'function' ? limit(request) : limit
      if (name === null) return handler.call(this, request, reply)
      const subject = subjectOf(request, name)
      // Counted before anything is awaited: requests that arrive together would all find room.
      const leave = running.enter(subject)
      try {
        await rates.count(subject)
        return await handler.call(this, request, reply)
      } finally {
        whenSent(reply, leave)
      }
    }
    limited.add(route.handler)
  })
}

function subjectOf(request: FastifyRequest, name: LimitName): Subject {
  if (name in ACCOUNT_LIMITS) {
    const { accountId } = callerOf(request)
    return { key: `${name} ${accountId}`, accountId, name, limit: ACCOUNT_LIMITS[name as keyof typeof ACCOUNT_LIMITS] }
  }
  const limit = ADDRESS_LIMITS[name as keyof typeof ADDRESS_LIMITS]
  return { key: `${name} ${clientNetwork(request.ip)}`, accountId: null, name, limit }
}

/** A slow reader's answer takes memory until it is read: it counts until then. */
function whenSent(reply: FastifyReply, done: () => void): void {
  finished(reply.raw, { readable: false }, done)
}

/** Counts what runs. */
function createConcurrencyCounter() {
  const counts = new Map<string, number>()
  return {
    /** @throws Fault `rate_limited` */
    enter({ key, accountId, limit: { noun, maxConcurrent = Infinity } }: Subject): () => void {
      const count = counts.get(key) ?? 0
      if (count >= maxConcurrent) {
        const sentence = `${subjectText(accountId)} may have up to ${maxConcurrent} ${noun} open at once. Wait for one to end, then try again.`
        throw new Fault('rate_limited', sentence, { retryAfter: 2 })
      }
      counts.set(key, count + 1)
      let hasLeft = false
      return () => {
        if (hasLeft) return
        hasLeft = true
        const left = (counts.get(key) ?? 1) - 1
        if (left > 0) counts.set(key, left)
        else counts.delete(key)
      }
    },
  }
}

/** Subjects remembered in one instance; of more, all are forgotten. */
const MAX_SUBJECTS = 50_000

function createRateCounter(db: Db) {
  /** Of an address: when its bucket is full again. Of an account: until when it was refused. In `performance.now()`. */
  const fullAt = new Map<string, number>()
  const refusedUntil = new Map<string, number>()

  function remember(map: Map<string, number>, key: string, time: number): void {
    if (map.size >= MAX_SUBJECTS) {
      for (const [old, until] of map) if (until <= performance.now()) map.delete(old)
      if (map.size >= MAX_SUBJECTS) map.clear()
    }
    map.set(key, time)
  }

  /** Seconds to wait. */
  function countAddress(key: string, { requests, windowSeconds }: Rate): number {
    const now = performance.now()
    const after = Math.max(fullAt.get(key) ?? 0, now) + (windowSeconds * 1000) / requests
    const wait = after - (now + windowSeconds * 1000)
    if (wait > 0) return wait / 1000
    remember(fullAt, key, after)
    return 0
  }

  /** Seconds to wait. A flood of requests that are refused costs no question to the database. */
  async function countAccount({ key, accountId, name }: Subject, rate: Rate): Promise<number> {
    const known = (refusedUntil.get(key) ?? 0) - performance.now()
    if (known > 0) return known / 1000
    const wait = await countRequest(db, accountId as string, name, rate)
    if (wait > 0) remember(refusedUntil, key, performance.now() + wait * 1000)
    else refusedUntil.delete(key)
    return wait
  }

  return {
    /** @throws Fault `rate_limited` */
    async count(subject: Subject): Promise<void> {
      const { key, accountId, limit } = subject
      if (!limit.rate) return
      const wait = accountId === null ? countAddress(key, limit.rate) : await countAccount(subject, limit.rate)
      if (wait > 0) throw tooMany(subject, limit.rate, wait)
    },
  }
}

function tooMany({ accountId, limit }: Subject, { requests, windowSeconds }: Rate, wait: number): Fault {
  const per = windowSeconds === HOUR ? 'an hour' : 'a minute'
  const seconds = Math.max(1, Math.ceil(wait))
  const sentence =
    `${subjectText(accountId)} may make up to ${requests.toLocaleString('en')} ${limit.noun} ${per}. ` +
    `Try again in ${seconds === 1 ? '1 second' : `${seconds} seconds`}.`
  return new Fault('rate_limited', sentence, { retryAfter: seconds })
}

const subjectText = (accountId: string | null) => (accountId === null ? 'One address' : 'An account')
