import { createLoadingCache } from '../../loading-cache.ts'
import type { Db } from '../../store/database.ts'
import { onDeletionChange } from '../../store/deleted-workspaces.ts'
import type { Notifications } from '../../store/notifications.ts'
import { findTokenWith, type TokenOwner, type TokenRight } from './report-tokens.sql.ts'
import { hashBouncerKey, hashReportToken, TOKENS_CHANGED } from './report-tokens.ts'

/** Identifies callers by a report token or a bouncer key. */
export type TokenAuth = {
  /** Null for a token that is unknown, was revoked, or whose workspace was deleted. */
  find: (token: string) => Promise<TokenOwner | null>
  close: () => void
}

const MAX_CACHED_TOKENS = 20_000
/** How long a revocation may go unnoticed if its notification is lost. */
const CACHE_MS = 15_000

const HASHES = { canReport: hashReportToken, readsFleet: hashBouncerKey }

export function createTokenAuth(
  db: Db,
  notifications: Notifications,
  right: TokenRight,
): TokenAuth {
  const cache = createLoadingCache<TokenOwner>({
    max: MAX_CACHED_TOKENS,
    maxUnknown: MAX_CACHED_TOKENS,
    lifetimeMs: CACHE_MS,
  })
  const forget = () => cache.forgetAll()
  const stops = [
    notifications.on(TOKENS_CHANGED, forget),
    onDeletionChange(notifications, forget, forget),
  ]
  return {
    async find(text) {
      const hash = HASHES[right](text)
      if (hash === null) return null
      const cached = cache.get(hash)
      if (cached !== undefined) return cached
      const load = async () => (await findTokenWith(db, right, Buffer.from(hash, 'hex'))) ?? null
      return cache.load(hash, load)
    },
    close: () => stops.forEach((stop) => stop()),
  }
}
