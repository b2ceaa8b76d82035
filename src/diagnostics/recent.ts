type Kept<T> = { value: T; until: number }

/**
 * Results of a moment ago, so that asking again does not ask the world again. Failures are not kept.
 * @param keepMs for how long a result is given again
 * @param atMost results kept for each `scope`; the oldest go first
 */
export function createRecent<T>({ keepMs, atMost }: { keepMs: number; atMost: number }) {
  const scopes = new WeakMap<object, Map<string, Kept<T>>>()
  /** @param scope what the result depends on besides its key: another resolver may see another Internet */
  return async (scope: object, key: string, make: () => Promise<T>): Promise<T> => {
    const kept = scopes.get(scope) ?? new Map<string, Kept<T>>()
    scopes.set(scope, kept)
    const found = kept.get(key)
    if (found && found.until > Date.now()) return found.value
    const value = await make()
    kept.delete(key)
    kept.set(key, { value, until: Date.now() + keepMs })
    const [oldest] = kept.keys()
    if (kept.size > atMost && oldest !== undefined) kept.delete(oldest)
    return value
  }
}
