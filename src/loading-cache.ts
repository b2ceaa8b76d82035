import { createRecentEntries } from './recent-entries.ts'

/**
 * Caches what is loaded from the database until a notification says that it changed. Null stands for
 * what does not exist. What was loaded while something changed is loaded again, and never cached: it
 * may be outdated, however late the database answers.
 */
export type LoadingCache<Value extends {}> = {
  /** Undefined when it is not cached. */
  get(key: string): Value | null | undefined
  /** Loads and caches a value. Concurrent calls for one key share a load. */
  load(key: string, load: () => Promise<Value | null>): Promise<Value | null>
  forget: (key: string) => void
  /** Forgets the values that match, and everything that did not exist. */
  forgetWhere: (matches: (value: Value) => boolean) => void
  forgetAll: () => void
  readonly size: number
}

export type LoadingCacheOptions<Value> = {
  /** Values, or their sum where `sizeOf` is given. The ones that were used last stay. */
  max: number
  sizeOf?: (value: Value) => number
  /**
   * Keys that do not exist, counted on their own so that invented ones displace no values. By
   * default none is cached.
   */
  maxUnknown?: number
  /** Milliseconds from the start of the load: how long a change may go unnoticed if a notification is lost. */
  lifetimeMs: number
  /** Milliseconds after which a value is not valid any more, whatever is notified. */
  validMsOf?: (value: Value) => number
}

/** Loads for one call: then the last value is returned, which changed during each of them. */
const MAX_LOADS = 3

export function createLoadingCache<Value extends {}>({
  max,
  sizeOf,
  maxUnknown = 0,
  lifetimeMs,
  validMsOf = () => Infinity,
}: LoadingCacheOptions<Value>): LoadingCache<Value> {
  const known = createRecentEntries<{ value: Value; until: number }>(max, {
    ...(sizeOf && { sizeOf: ({ value }) => sizeOf(value) }),
  })
  const unknown = createRecentEntries<{ until: number }>(Math.max(1, maxUnknown))
  const loading = new Map<string, Promise<Value | null>>()
  let changes = 0

  function keep(key: string, value: Value | null, startedAt: number): void {
    known.delete(key)
    unknown.delete(key)
    if (value !== null)
      known.set(key, { value, until: startedAt + Math.min(lifetimeMs, validMsOf(value)) })
    else if (maxUnknown > 0) unknown.set(key, { until: startedAt + lifetimeMs })
  }

  async function loadUnchanged(
    key: string,
    load: () => Promise<Value | null>,
  ): Promise<Value | null> {
    for (let loads = 1; ; loads++) {
      const before = changes
      const startedAt = performance.now()
      const value = await load()
      if (changes === before) keep(key, value, startedAt)
      if (changes === before || loads === MAX_LOADS) return value
    }
  }

  return {
    get(key) {
      const found = known.get(key)
      if (found && found.until > performance.now()) return found.value
      const missing = maxUnknown > 0 ? unknown.get(key) : undefined
      return missing && missing.until > performance.now() ? null : undefined
    },
    load(key, load) {
      const shared = loading.get(key)
      if (shared) return shared
      const own = loadUnchanged(key, load).finally(() => {
        if (loading.get(key) === own) loading.delete(key)
      })
      loading.set(key, own)
      return own
    },
    forget(key) {
      changes++
      loading.delete(key)
      known.delete(key)
      unknown.delete(key)
    },
    forgetWhere(matches) {
      changes++
      loading.clear()
      unknown.clear()
      for (const [key, { value }] of known.entries()) if (matches(value)) known.delete(key)
    },
    forgetAll() {
      changes++
      loading.clear()
      known.clear()
      unknown.clear()
    },
    get size() {
      return known.size + unknown.size
    },
  }
}
