import { createLoadingCache } from '../../loading-cache.ts'
import {
  MAX_CACHED_ENDPOINTS,
  MAX_CACHED_RESPONSE_BYTES,
  ENDPOINT_CACHE_MS,
  MAX_CACHED_UNKNOWN_TOKENS,
} from '../limits.ts'
import type { Endpoint } from './endpoints.ts'

export type EndpointCache = {
  /**
   * Finds an endpoint by its token or its name; null where there is none. Without a promise if
   * cached.
   */
  find(token: string): Endpoint | null | Promise<Endpoint | null>
  forget(token: string): void
  forgetAll(): void
}

/** So that there are no more endpoints than `MAX_CACHED_ENDPOINTS`, however short their responses. */
const MIN_SIZE_BYTES = Math.ceil(MAX_CACHED_RESPONSE_BYTES / MAX_CACHED_ENDPOINTS)

/** Creates a cache of endpoints by token. */
export function createEndpointCache(
  load: (token: string) => Promise<Endpoint | null>,
): EndpointCache {
  const cache = createLoadingCache<Endpoint>({
    max: MAX_CACHED_RESPONSE_BYTES,
    sizeOf: ({ response, template, rules }) =>
      Math.max(
        MIN_SIZE_BYTES,
        response.body.length + (template?.text.length ?? 0) + (rules?.bytes ?? 0),
      ),
    maxUnknown: MAX_CACHED_UNKNOWN_TOKENS,
    lifetimeMs: ENDPOINT_CACHE_MS,
  })
  return {
    find(token) {
      const cached = cache.get(token)
      return cached === undefined ? cache.load(token, () => load(token)) : cached
    },
    forget: cache.forget,
    forgetAll: cache.forgetAll,
  }
}
