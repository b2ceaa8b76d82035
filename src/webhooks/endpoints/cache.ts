import {
  MAX_CACHED_ENDPOINTS,
  MAX_CACHED_RESPONSE_BYTES,
  ENDPOINT_CACHE_MS,
  MAX_CACHED_UNKNOWN_TOKENS,
} from '../limits.ts'
import type { Endpoint } from './endpoints.ts'

type Entry = { endpoint: Endpoint | null; until: number }

export type EndpointCache = {
  /** Null for a token without an endpoint; undefined when it is not cached. */
  get(token: string): Endpoint | null | undefined
  /** Loads an endpoint. Concurrent calls for one token share a query. */
  load(token: string): Promise<Endpoint | null>
  forget(token: string): void
  forgetAll(): void
}

/**
 * Creates a cache of endpoints by token: bounded, short-lived, and cleared of endpoints that
 * changed.
 */
export function createEndpointCache(
  load: (token: string) => Promise<Endpoint | null>,
): EndpointCache {
  const known = new Map<string, Entry>()
  const unknown = new Map<string, Entry>()
  const loading = new Map<string, Promise<Endpoint | null>>()
  let bytes = 0
  let changes = 0

  function store(token: string, endpoint: Endpoint | null): void {
    forget(token)
    const entry = { endpoint, until: performance.now() + ENDPOINT_CACHE_MS }
    if (endpoint === null) {
      unknown.set(token, entry)
      if (unknown.size > MAX_CACHED_UNKNOWN_TOKENS) dropOldest(unknown)
      return
    }
    known.set(token, entry)
    bytes += sizeOf(entry)
    while (isFull()) dropOldest(known)
  }

  function isFull(): boolean {
    return known.size > MAX_CACHED_ENDPOINTS || bytes > MAX_CACHED_RESPONSE_BYTES
  }

  function dropOldest(entries: Map<string, Entry>): void {
    const [oldest] = entries.keys()
    if (oldest !== undefined) forget(oldest)
  }

  function forget(token: string): void {
    const entry = known.get(token)
    if (entry) bytes -= sizeOf(entry)
    known.delete(token)
    unknown.delete(token)
  }

  async function loadEndpoint(token: string): Promise<Endpoint | null> {
    const before = changes
    try {
      const endpoint = await load(token)
      // A row that was read before a change may be outdated.
      if (changes === before) store(token, endpoint)
      return endpoint
    } finally {
      loading.delete(token)
    }
  }

  return {
    get(token) {
      const entry = known.get(token) ?? unknown.get(token)
      return entry && entry.until > performance.now() ? entry.endpoint : undefined
    },
    load(token) {
      const loaded = loading.get(token) ?? loadEndpoint(token)
      loading.set(token, loaded)
      return loaded
    },
    forget(token) {
      changes++
      loading.delete(token)
      forget(token)
    },
    forgetAll() {
      changes++
      loading.clear()
      known.clear()
      unknown.clear()
      bytes = 0
    },
  }
}

function sizeOf({ endpoint }: Entry): number {
  return endpoint ? endpoint.response.body.length + (endpoint.template?.text.length ?? 0) : 0
}
