import { SECOND_MS } from '../../time.ts'
import { createRecentEntries } from '../../recent-entries.ts'
import { MAX_CACHED_TOKENS, MIN_TOKEN_SECONDS, REFRESH_MARGIN } from '../limits.ts'
import type { AdministratorToken } from './token-request.ts'

type Cached = { token: Promise<string>; requestedAt: number; refreshAt: number }

export type TokenCache = {
  /**
   * Returns the token of a key, and requests another one where little time is left.
   * @param rejected a token that a server rejected
   */
  get(
    key: string,
    rejected: string | undefined,
    request: () => Promise<AdministratorToken>,
  ): Promise<string>
}

/** Keeps access tokens in memory. Concurrent requests for one key share one token. */
export function createTokenCache(): TokenCache {
  const cache = createRecentEntries<Cached>(MAX_CACHED_TOKENS)
  return {
    async get(key, rejected, request) {
      const cached = cache.get(key)
      if (cached && (await isUsable(cached, rejected))) return cached.token
      const entry = requested(request)
      cache.set(key, entry)
      entry.token.catch(() => {
        if (cache.peek(key) === entry) cache.delete(key)
      })
      return entry.token
    },
  }
}

/**
 * A server also rejects the token of a mailbox that the administrator may not open. Then a new token
 * for each attempt would only make the provider refuse further ones.
 */
async function isUsable(cached: Cached, rejected: string | undefined): Promise<boolean> {
  const now = performance.now()
  if (now >= cached.refreshAt) return false
  if (rejected === undefined || (await cached.token) !== rejected) return true
  return now < cached.requestedAt + MIN_TOKEN_SECONDS * SECOND_MS
}

function requested(request: () => Promise<AdministratorToken>): Cached {
  const requestedAt = performance.now()
  const entry: Cached = { token: Promise.resolve(''), requestedAt, refreshAt: Infinity }
  entry.token = request().then(({ accessToken, lifetimeSeconds }) => {
    const margin = Math.min(REFRESH_MARGIN.seconds, lifetimeSeconds * REFRESH_MARGIN.share)
    entry.refreshAt = performance.now() + (lifetimeSeconds - margin) * SECOND_MS
    return accessToken
  })
  return entry
}
