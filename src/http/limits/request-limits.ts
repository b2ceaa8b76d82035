import { finished } from 'node:stream'
import type {
  FastifyContextConfig,
  FastifyReply,
  FastifyRequest,
  RouteHandlerMethod,
} from 'fastify'
import { Fault } from '../../errors.ts'
import type { Db } from '../../store/database.ts'
import { countRequest, type Rate } from '../../store/limits/request-rate.ts'
import { callerOf } from '../auth.ts'
import { clientNetwork } from '../client-address.ts'
import type { App } from '../http-server.ts'
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../../time.ts'
import { createRecentEntries } from '../../recent-entries.ts'

/** The limit of one account, or on public routes of one address, for a group of routes. */
export type RequestLimit = {
  /** Completes “up to 3,000 …”. */
  noun: string
  /** Counted over all instances for an account, in each instance for an address. */
  rate?: Rate
  /** Concurrent requests in one instance: each may hold a database connection or sockets. */
  maxConcurrent?: number
}

const perMinute = (requests: number): Rate => ({ requests, windowSeconds: MINUTE_SECONDS })
const perHour = (requests: number): Rate => ({ requests, windowSeconds: HOUR_SECONDS })
const perDay = (requests: number): Rate => ({ requests, windowSeconds: DAY_SECONDS })

/**
 * Limits of routes that need an account, of the account that answers for the workspace. docs/limits.md
 * lists them.
 */
export const ACCOUNT_LIMITS = {
  checks: { noun: 'checks', rate: perHour(3_000), maxConcurrent: 10 },
  'domain checks': { noun: 'domain checks', rate: perHour(300), maxConcurrent: 3 },
  'mail tests': { noun: 'mail tests', rate: perDay(50), maxConcurrent: 2 },
  'record lookups': { noun: 'record lookups', rate: perHour(3_600), maxConcurrent: 10 },
  connections: { noun: 'IMAP connection requests', rate: perHour(600), maxConcurrent: 5 },
  searches: { noun: 'searches', rate: perHour(1_800), maxConcurrent: 2 },
  'HAR exports': { noun: 'HAR exports', rate: perHour(300), maxConcurrent: 2 },
  // Changed settings ask for another preview before the last one is there.
  'digest previews': { noun: 'digest previews and tests', rate: perHour(120), maxConcurrent: 3 },
  'alert tests': { noun: 'test alerts and test events', rate: perHour(300), maxConcurrent: 5 },
  'account exports': { noun: 'account exports', rate: perHour(6), maxConcurrent: 1 },
  'shared checks': { noun: 'shared checks', rate: perHour(600), maxConcurrent: 5 },
  // The proof of a batch has all of its mailboxes, and is signed as a whole.
  'proof files': { noun: 'proof files', rate: perHour(600), maxConcurrent: 2 },
  // Up to 5,000 mailboxes.
  'batch reports': { noun: 'reports of batches', rate: perHour(300), maxConcurrent: 2 },
  imports: { noun: 'imports', rate: perHour(120), maxConcurrent: 2 },
  'report uploads': { noun: 'report uploads', rate: perHour(6_000), maxConcurrent: 5 },
  verifications: {
    noun: 'verifications and checks on demand',
    rate: perHour(600),
    maxConcurrent: 10,
  },
  overviews: { noun: 'overviews', rate: perHour(600), maxConcurrent: 5 },
  // Open dashboards ask again after changes, at most every few seconds.
  'problem lists': { noun: 'requests for problems', rate: perHour(3_600), maxConcurrent: 5 },
  'address overviews': { noun: 'overviews of addresses', rate: perHour(3_600), maxConcurrent: 5 },
  'change streams': { noun: 'change streams', maxConcurrent: 20 },
  'webhook streams': { noun: 'webhook streams', maxConcurrent: 20 },
  'mail test streams': { noun: 'mail test streams', maxConcurrent: 20 },
  'migration streams': { noun: 'migration streams', maxConcurrent: 20 },
} satisfies Record<string, RequestLimit>

/** Limits of public routes, of one IPv4 address or one IPv6 /64. */
export const ADDRESS_LIMITS = {
  'address look-ups': { noun: 'address lookups', rate: perMinute(1_200), maxConcurrent: 20 },
  'list exports': { noun: 'list downloads', rate: perHour(600), maxConcurrent: 10 },
  // Streams count until they end. Each workspace has a limit of its own.
  'fleet lists': { noun: 'fleet list requests', rate: perMinute(3_000), maxConcurrent: 5_000 },
  'federation requests': { noun: 'federation requests', rate: perMinute(600), maxConcurrent: 10 },
  'follow requests': {
    noun: 'requests to exchange evidence',
    rate: perHour(120),
    maxConcurrent: 3,
  },
  'public pages': { noun: 'public page requests', rate: perMinute(600), maxConcurrent: 20 },
  appeals: { noun: 'appeals', rate: perHour(60), maxConcurrent: 3 },
  'sign-in attempts': { noun: 'sign-in attempts', rate: perHour(120), maxConcurrent: 5 },
  'password resets': { noun: 'password resets', rate: perHour(30), maxConcurrent: 3 },
  // The dashboard sends few of them. Several people may share an address.
  'session requests': { noun: 'session requests', rate: perMinute(300) },
  'unknown paths': { noun: 'requests of unknown paths', rate: perMinute(600) },
  'invitation previews': { noun: 'invitation previews', rate: perHour(120), maxConcurrent: 3 },
  setup: { noun: 'setup attempts', rate: perHour(30), maxConcurrent: 3 },
} satisfies Record<string, RequestLimit>

export type LimitName = keyof typeof ACCOUNT_LIMITS | keyof typeof ADDRESS_LIMITS

/** Whether the requests of a route have a limit of those at once that is always the same. */
export function hasConcurrencyLimit(limit: FastifyContextConfig['limit']): boolean {
  if (typeof limit !== 'string') return false
  const limits: Record<string, RequestLimit> = { ...ACCOUNT_LIMITS, ...ADDRESS_LIMITS }
  return limits[limit]?.maxConcurrent !== undefined
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The limit that a request of this route counts against; null for none. */
    limit?: LimitName | ((request: FastifyRequest) => LimitName | null)
  }
}

/** `accountId`: of the account that answers for the workspace; null on public routes. */
type Subject = { key: string; accountId: string | null; name: LimitName; limit: RequestLimit }

/** Applies the limit in the `config` of each route that is registered afterwards. */
export function limitRequests(app: App, db: Db): void {
  const limited = new WeakSet<RouteHandlerMethod>()
  const running = createConcurrencyCounter()
  const rates = createRateCounter(db)
  // Not before: a page of the dashboard has no route of its own either.
  app.addHook('preValidation', async (request) => {
    if (request.is404) await rates.count(subjectOf(request, 'unknown paths'))
  })
  app.addHook('onRoute', (route) => {
    const { handler, config } = route
    const limit = config?.limit
    // The HEAD route shares the handler of its GET route, which is limited already.
    if (!limit || limited.has(handler)) return
    route.handler = async function limitedHandler(request, reply) {
      const name = typeof limit === 'function' ? limit(request) : limit
      if (name === null) return handler.call(this, request, reply)
      const subject = subjectOf(request, name)
      // Counted before the first await: otherwise concurrent requests would all pass.
      const release = running.enter(subject)
      try {
        await rates.count(subject)
        return await handler.call(this, request, reply)
      } finally {
        whenSent(reply, release)
      }
    }
    limited.add(route.handler)
  })
}

function subjectOf(request: FastifyRequest, name: LimitName): Subject {
  if (name in ACCOUNT_LIMITS) {
    const { responsibleId: accountId } = callerOf(request)
    return {
      key: `${name} ${accountId}`,
      accountId,
      name,
      limit: ACCOUNT_LIMITS[name as keyof typeof ACCOUNT_LIMITS],
    }
  }
  const limit = ADDRESS_LIMITS[name as keyof typeof ADDRESS_LIMITS]
  return { key: `${name} ${clientNetwork(request.ip)}`, accountId: null, name, limit }
}

/**
 * A request counts until its response is sent, because a response to a slow client takes memory
 * until then.
 */
function whenSent(reply: FastifyReply, done: () => void): void {
  finished(reply.raw, { readable: false }, done)
}

/** Counts running requests per subject. */
function createConcurrencyCounter() {
  const counts = new Map<string, number>()
  return {
    /** @throws Fault `rate_limited` */
    enter({ key, accountId, limit: { noun, maxConcurrent = Infinity } }: Subject): () => void {
      const count = counts.get(key) ?? 0
      if (count >= maxConcurrent) {
        const sentence = `${subjectText(accountId)} can have up to ${maxConcurrent} ${noun} at once. Wait for one to end, then try again.`
        throw new Fault('rate_limited', sentence, { retryAfter: 2 })
      }
      counts.set(key, count + 1)
      let isReleased = false
      return () => {
        if (isReleased) return
        isReleased = true
        const left = (counts.get(key) ?? 1) - 1
        if (left > 0) counts.set(key, left)
        else counts.delete(key)
      }
    },
  }
}

/** Subjects kept in memory per instance. Beyond them, those without recent requests are dropped. */
const MAX_SUBJECTS = 50_000

function createRateCounter(db: Db) {
  /**
   * For an address, when its bucket is full again; for an account, the end of its rejection. In
   * `performance.now()`.
   */
  const fullAt = createRecentEntries<number>(MAX_SUBJECTS)
  const refusedUntil = createRecentEntries<number>(MAX_SUBJECTS)

  /** Counts a request of an address. @returns seconds to wait */
  function countAddress(key: string, { requests, windowSeconds }: Rate): number {
    const now = performance.now()
    const after = Math.max(fullAt.get(key) ?? 0, now) + (windowSeconds * 1000) / requests
    const wait = after - (now + windowSeconds * 1000)
    if (wait > 0) return wait / 1000
    fullAt.set(key, after)
    return 0
  }

  /**
   * Counts a request of an account. Requests that are rejected again cost no query. @returns
   * seconds to wait
   */
  async function countAccount({ key, accountId, name }: Subject, rate: Rate): Promise<number> {
    const remaining = (refusedUntil.get(key) ?? 0) - performance.now()
    if (remaining > 0) return remaining / 1000
    const wait = await countRequest(db, accountId as string, name, rate)
    if (wait > 0) refusedUntil.set(key, performance.now() + wait * 1000)
    else refusedUntil.delete(key)
    return wait
  }

  return {
    /** @throws Fault `rate_limited` */
    async count(subject: Subject): Promise<void> {
      const { key, accountId, limit } = subject
      if (!limit.rate) return
      const wait =
        accountId === null ? countAddress(key, limit.rate) : await countAccount(subject, limit.rate)
      if (wait > 0) throw tooMany(subject, limit.rate, wait)
    },
  }
}

function tooMany(
  { accountId, limit }: Subject,
  { requests, windowSeconds }: Rate,
  wait: number,
): Fault {
  const per = windowSeconds === HOUR_SECONDS ? 'an hour' : 'a minute'
  const seconds = Math.max(1, Math.ceil(wait))
  const sentence =
    `${subjectText(accountId)} can make up to ${requests.toLocaleString('en')} ${limit.noun} ${per}. ` +
    `Try again in ${seconds === 1 ? '1 second' : `${seconds} seconds`}.`
  return new Fault('rate_limited', sentence, { retryAfter: seconds })
}

const subjectText = (accountId: string | null) =>
  accountId === null ? 'One address' : 'An account'
