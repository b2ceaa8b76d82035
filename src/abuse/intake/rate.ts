import { Fault } from '../../errors.ts'
import type { RateUsage } from './intake.sql.ts'
import { MINUTE_MS } from '../../time.ts'
import { createRecentEntries } from '../../recent-entries.ts'

/**
 * Requests of one source in one window (a bulk report is one request), of all sources of an IPv6
 * /48 together, and the window in milliseconds.
 */
export const RATE = { requests: 120, siteRequests: 1_200, window: 5 * MINUTE_MS }

export type Allowance = {
  allowed: boolean
  /** Requests left, and seconds until there are all again. */
  remaining: number
  reset: number
}

/** Sources remembered per instance. Beyond them, the database decides. */
const MAX_LIMITED_SOURCES = 100_000

/** Remembers sources that have used up their window, so that a flood costs no queries. */
export function createLimitedSources() {
  const until = createRecentEntries<number>(MAX_LIMITED_SOURCES)
  return {
    note(source: string, time: number): void {
      until.set(source, time)
    },
    /**
     * Until when a source is rejected, in milliseconds since 1970; undefined when it may report.
     */
    find(source: string, now: number): number | undefined {
      const time = until.get(source)
      // A time more than a window ahead was stored before the clock was set back.
      if (time === undefined || (time > now && time <= now + RATE.window)) return time
      until.delete(source)
      return undefined
    },
  }
}

/** Charges one request to a source. A rejected request is not counted. */
export function takeOne(
  usage: RateUsage | undefined,
  { source, requests }: { source: string; requests: number },
  now: number,
): { usage: RateUsage; allowance: Allowance } {
  const isOver = usage === undefined || Math.abs(now - usage.startedAt) >= RATE.window
  const { used, startedAt } = isOver ? { used: 0, startedAt: now } : usage
  const allowed = used < requests
  const after = { source, startedAt, used: used + Number(allowed) }
  const reset = Math.max(1, Math.ceil((startedAt + RATE.window - now) / 1000))
  return { usage: after, allowance: { allowed, remaining: requests - after.used, reset } }
}

/** The headers of draft-ietf-httpapi-ratelimit-headers. */
export function rateHeaders({ remaining, reset }: Allowance): Record<string, string> {
  return {
    'ratelimit-policy': `"reports";q=${RATE.requests};w=${RATE.window / 1000}`,
    ratelimit: `"reports";r=${remaining};t=${reset}`,
  }
}

export function tooMany({ reset }: Allowance): Fault {
  const limits = `${RATE.requests} requests in ${RATE.window / MINUTE_MS} minutes from one address, and ${RATE.siteRequests} from one IPv6 /48`
  const sentence = `The limit is ${limits}. Send many reports in one request to /api/v1/abuse/report/bulk.`
  return new Fault('rate_limited', sentence, { retryAfter: reset })
}
