import { LRUCache } from 'lru-cache'
import { Fault } from '../../errors.ts'
import { DAY_MS } from '../../time.ts'

/** Requests of one key in a day (UTC), in each instance. */
export const QUOTAS = {
  check: 50_000,
  reports: 10_000,
  'check-block': 2_000,
  blacklist: 500,
  report: 50_000,
  'bulk-report': 2_000,
  'clear-address': 1_000,
} as const

export type Endpoint = keyof typeof QUOTAS

export type Usage = { limit: number; remaining: number }

export type Quotas = {
  /** Counts a request. @throws Fault `rate_limited` */
  count(keyId: string, endpoint: Endpoint): Usage
  /** When all counts begin again, in seconds since 1970. */
  resetAt(): number
}

const MAX_COUNTS = 100_000

export function createQuotas(clock: () => number): Quotas {
  const used = new LRUCache<string, { day: number; requests: number }>({ max: MAX_COUNTS })
  const today = () => Math.floor(clock() / DAY_MS)
  return {
    count(keyId, endpoint) {
      const [key, day, limit] = [`${keyId} ${endpoint}`, today(), QUOTAS[endpoint]]
      const before = used.get(key)
      const requests = before?.day === day ? before.requests : 0
      if (requests >= limit) {
        const seconds = Math.max(1, Math.ceil(((day + 1) * DAY_MS - clock()) / 1000))
        const sentence = `The limit of ${limit.toLocaleString('en')} ${endpoint} requests a day is used up.`
        throw new Fault('rate_limited', sentence, { retryAfter: seconds })
      }
      used.set(key, { day, requests: requests + 1 })
      return { limit, remaining: limit - requests - 1 }
    },
    resetAt: () => ((today() + 1) * DAY_MS) / 1000,
  }
}
