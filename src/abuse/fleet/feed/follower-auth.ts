import { LRUCache } from 'lru-cache'
import { Fault } from '../../../errors.ts'
import type { Db } from '../../../store/database.ts'
import type { Notifications } from '../../../store/notifications.ts'
import { hashBouncerKey, TOKENS_CHANGED } from '../../tokens/tokens.ts'
import { findFollowerToken, type FollowerToken } from './store.ts'

/** Identifies followers by their bouncer key. */
export type FollowerAuth = {
  /** Undefined for a key that is unknown, was revoked, or whose workspace was deleted. */
  find(key: string): Promise<FollowerToken | undefined>
  /** @throws Fault `unauthenticated` */
  require(key: unknown): Promise<FollowerToken>
  close(): void
}

const MAX_CACHED_TOKENS = 20_000
/** A revoked token is forgotten at once, a deleted workspace after this time. */
const CACHE_MS = 15_000

export function createFollowerAuth(db: Db, notifications: Notifications): FollowerAuth {
  const known = new LRUCache<string, { token: FollowerToken | undefined }>({
    max: MAX_CACHED_TOKENS,
    ttl: CACHE_MS,
  })
  const clear = () => known.clear()
  const stops = [notifications.on(TOKENS_CHANGED, clear), notifications.onReconnect(clear)]

  async function find(text: string): Promise<FollowerToken | undefined> {
    const hash = hashBouncerKey(text)
    if (hash === null) return undefined
    const cached = known.get(hash)
    if (cached) return cached.token
    const token = await findFollowerToken(db, Buffer.from(hash, 'hex'))
    known.set(hash, { token })
    return token
  }

  return {
    find,
    async require(text) {
      const token = typeof text === 'string' ? await find(text) : undefined
      if (token) return token
      throw new Fault(
        'unauthenticated',
        text === undefined || text === ''
          ? 'Send a bouncer key of the workspace as X-Api-Key.'
          : 'The bouncer key is unknown or was revoked. Create a new one. Report tokens do not read the list.',
      )
    },
    close: () => stops.forEach((stop) => stop()),
  }
}
