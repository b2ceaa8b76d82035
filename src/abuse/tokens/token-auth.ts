import type { Db } from '../../store/database.ts'
import type { Notifications } from '../../store/notifications.ts'
import { createRecentEntries } from '../../recent-entries.ts'
import { findTokenWith, type TokenOwner, type TokenRight } from './store.ts'
import { hashBouncerKey, hashReportToken, TOKENS_CHANGED } from './tokens.ts'

/** Identifies callers by a report token or a bouncer key. */
export type TokenAuth = {
  /** Undefined for a token that is unknown, was revoked, or whose workspace was deleted. */
  find(token: string): Promise<TokenOwner | undefined>
  close(): void
}

const MAX_CACHED_TOKENS = 20_000
/** A revoked token is forgotten at once, a deleted workspace after this time. */
const CACHE_MS = 15_000

const HASHES = { canReport: hashReportToken, readsFleet: hashBouncerKey }

export function createTokenAuth(
  db: Db,
  notifications: Notifications,
  right: TokenRight,
): TokenAuth {
  const known = createRecentEntries<{ owner: TokenOwner | undefined }>(MAX_CACHED_TOKENS, {
    ttl: CACHE_MS,
  })
  const clear = () => known.clear()
  const stops = [notifications.on(TOKENS_CHANGED, clear), notifications.onReconnect(clear)]
  return {
    async find(text) {
      const hash = HASHES[right](text)
      if (hash === null) return undefined
      const cached = known.get(hash)
      if (cached) return cached.owner
      const owner = await findTokenWith(db, right, Buffer.from(hash, 'hex'))
      known.set(hash, { owner })
      return owner
    },
    close: () => stops.forEach((stop) => stop()),
  }
}
