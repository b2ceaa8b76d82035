import type { Caller } from '../http/auth.ts'

/** Who a token belongs to, remembered for a moment. */
export type CachedToken = { tokenId: string; caller: Caller }

/** Entries; some 5 MB when full. */
const MAX_ENTRIES = 10_000

/** Milliseconds for which a change may stay unseen if its signal should get lost. */
const LIFETIME_MS = 30_000

export type TokenCache = ReturnType<typeof createTokenCache>

/**
 * Who a token belongs to, by the token itself: hashing it again would cost a request a tenth of its time, and whoever
 * reads this memory reads the requests as well. Bounded, short-lived, and emptied of what has changed.
 */
export function createTokenCache({ capacity = MAX_ENTRIES, lifetime = LIFETIME_MS } = {}) {
  const entries = new Map<string, CachedToken & { until: number }>()
  let changes = 0
  return {
    get(key: string): CachedToken | undefined {
      const entry = entries.get(key)
      return entry && entry.until > performance.now() ? entry : undefined
    },
    /** Asks with `load` and remembers the answer, unless something changed in the meantime: it may be the old one. */
    async fill(key: string, load: () => Promise<CachedToken | null>): Promise<CachedToken | null> {
      const before = changes
      const known = await load()
      if (!known || changes !== before) return known
      entries.delete(key)
      const oldest = entries.keys().next().value
      if (entries.size >= capacity && oldest !== undefined) entries.delete(oldest)
      entries.set(key, { ...known, until: performance.now() + lifetime })
      return known
    },
    forgetAccount(accountId: string): void {
      changes++
      for (const [key, { caller }] of entries) if (caller.accountId === accountId) entries.delete(key)
    },
    forgetAll(): void {
      changes++
      entries.clear()
    },
    get size(): number {
      return entries.size
    },
  }
}
