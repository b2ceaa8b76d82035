import { Fault } from '../../errors.ts'
import { DAY_MS } from '../../time.ts'
import { createRecentEntries } from '../../recent-entries.ts'
import { QUOTAS, type Counter, type Endpoint } from './quota-counter.ts'
import { createQuotaWriter, type QuotaWriterDeps } from './quota-writer.ts'

type Usage = { limit: number; remaining: number }

export type Quotas = {
  /** Counts a request. @throws Fault `rate_limited` */
  count(keyId: string, endpoint: Endpoint): Promise<Usage>
  /** When all counts begin again, in seconds since 1970. */
  resetAt(): number
  /** Writes the counts that are not stored yet. */
  close(): Promise<void>
}

const MAX_COUNTERS = 100_000

/** With so few requests left, each is stored before it is answered. */
const EXACT_BELOW = 100

export function createQuotas(deps: QuotaWriterDeps & { clock: () => number }): Quotas {
  const { clock } = deps
  const counters = createRecentEntries<Counter>(MAX_COUNTERS)
  const writer = createQuotaWriter(deps)
  const today = () => Math.floor(clock() / DAY_MS)

  function counterOf(tokenId: string, endpoint: Endpoint): Counter {
    const [key, day] = [`${tokenId} ${endpoint}`, today()]
    const known = counters.get(key)
    if (known?.day === day) return known
    const made: Counter = { tokenId, endpoint, day, stored: null, unwritten: 0 }
    counters.set(key, made)
    return made
  }

  function usedUp({ endpoint, day }: Counter): Fault {
    const seconds = Math.max(1, Math.ceil(((day + 1) * DAY_MS - clock()) / 1000))
    const limit = QUOTAS[endpoint].toLocaleString('en')
    const sentence = `The limit of ${limit} ${endpoint} requests a day is used up.`
    return new Fault('rate_limited', sentence, { retryAfter: seconds })
  }

  return {
    async count(tokenId, endpoint) {
      const counter = counterOf(tokenId, endpoint)
      const limit = QUOTAS[endpoint]
      if ((counter.stored ?? 0) >= limit) throw usedUp(counter)
      const known = counter.stored === null ? null : counter.stored + counter.unwritten + 1
      const isExact = known === null || known > limit - EXACT_BELOW
      const position = isExact ? await writer.addNow(counter) : writer.addLater(counter, known)
      if (position > limit) throw usedUp(counter)
      return { limit, remaining: limit - position }
    },
    resetAt: () => ((today() + 1) * DAY_MS) / 1000,
    close: () => writer.close(),
  }
}
