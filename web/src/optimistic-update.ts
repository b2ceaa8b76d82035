import { hashKey, type QueryClient, type QueryKey } from '@tanstack/react-query'

/** Number of pending changes by query. */
const updates = new Map<string, number>()

/** Whether a query has pending changes; responses meanwhile may be outdated. */
export function isUpdating(queryHash: string): boolean {
  return (updates.get(queryHash) ?? 0) > 0
}

/**
 * Shows a change at once, and reverts it if the service rejects it.
 * @param change computes the new data from the shown data
 * @throws the error of `send`
 */
export async function updateOptimistically<T>(
  queries: QueryClient,
  queryKey: QueryKey,
  change: (before: T) => T,
  send: () => Promise<unknown>,
): Promise<void> {
  const key = hashKey(queryKey)
  updates.set(key, (updates.get(key) ?? 0) + 1)
  const before = queries.getQueryData<T>(queryKey)
  const show = (value: T | undefined) => queries.setQueryData(queryKey, value)
  // A response from before the change would show the old state again. Canceling it does too, but
  // only until the next line.
  const canceled = queries.cancelQueries({ queryKey })
  show(before && change(before))
  await canceled
  try {
    await send()
  } catch (error) {
    show(before)
    throw error
  } finally {
    const others = (updates.get(key) ?? 1) - 1
    updates.set(key, others)
    // With another change pending, the service would respond with the state before that one.
    if (others === 0) void queries.invalidateQueries({ queryKey })
  }
}
