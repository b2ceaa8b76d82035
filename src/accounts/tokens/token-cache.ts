import type { Caller } from '../../http/auth.ts'

/** A cached token: its account and workspace, and when it expires. */
export type CachedToken = { caller: Caller & { tokenId: string }; expiresAt: Date | null }

/** About 5 MB when full. */
const MAX_ENTRIES = 10_000

/** How long a change may go unnoticed if its notification is lost. */
const LIFETIME_MS = 30_000

const isExpired = ({ expiresAt }: CachedToken) =>
  expiresAt !== null && expiresAt.getTime() <= Date.now()

export type TokenCache = ReturnType<typeof createTokenCache>

/**
 * Caches accounts by token. The token itself is the key: hashing it would take a tenth of a
 * request's time, and an attacker who reads this memory reads the requests as well. Entries are
 * bounded in number, short-lived, and dropped on changes.
 */
export function createTokenCache({ capacity = MAX_ENTRIES, lifetime = LIFETIME_MS } = {}) {
  const entries = new Map<string, CachedToken & { until: number }>()
  let changes = 0
  return {
    get(key: string): CachedToken | undefined {
      const entry = entries.get(key)
      if (!entry || entry.until <= performance.now()) return undefined
      return isExpired(entry) ? undefined : entry
    },
    /**
     * Loads an entry and caches it, unless something changed meanwhile: the loaded value may be
     * outdated.
     */
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
