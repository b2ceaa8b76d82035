import type { Caller } from '../../http/auth.ts'

/** A token with its account and workspace. */
export type CachedToken = {
  caller: Caller & { tokenId: string }
  /**
   * Milliseconds by the database’s clock, which all instances share; null for a token that does not
   * expire.
   */
  expiresInMs: number | null
}

/** About 5 MB when full. */
const MAX_ENTRIES = 10_000

/** How long a change may go unnoticed if its notification is lost. */
const LIFETIME_MS = 30_000

export type TokenCache = ReturnType<typeof createTokenCache>

/**
 * Caches accounts by token. The token itself is the key: hashing it would take a tenth of a
 * request's time, and an attacker who reads this memory reads the requests as well. Entries are
 * bounded in number, short-lived, dropped on changes, and never outlive the token.
 */
export function createTokenCache({ capacity = MAX_ENTRIES, lifetime = LIFETIME_MS } = {}) {
  const entries = new Map<string, CachedToken & { until: number }>()
  let changes = 0
  return {
    get(key: string): CachedToken | undefined {
      const entry = entries.get(key)
      return entry && entry.until > performance.now() ? entry : undefined
    },
    /**
     * Loads an entry and caches it, unless something changed meanwhile: the loaded value may be
     * outdated.
     */
    async fill(key: string, load: () => Promise<CachedToken | null>): Promise<CachedToken | null> {
      const before = changes
      const startedAt = performance.now()
      const known = await load()
      if (!known || changes !== before) return known
      entries.delete(key)
      const oldest = entries.keys().next().value
      if (entries.size >= capacity && oldest !== undefined) entries.delete(oldest)
      const validFor = Math.min(lifetime, known.expiresInMs ?? Infinity)
      entries.set(key, { ...known, until: startedAt + validFor })
      return known
    },
    /** @param id of an account or of a workspace */
    forgetAccess(id: string): void {
      changes++
      for (const [key, { caller }] of entries)
        if (caller.accountId === id || caller.workspaceId === id) entries.delete(key)
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
