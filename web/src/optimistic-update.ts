import { hashKey, type QueryClient, type QueryKey } from '@tanstack/react-query'

/** Changes that are on their way, by what they change. */
const updates = new Map<string, number>()

/** Whether a change of it is on its way; what the service answers meanwhile may be of before. */
export function isUpdating(queryHash: string): boolean {
  return (updates.get(queryHash) ?? 0) > 0
}

/**
 * Shows a change at once, and takes it back where the service refuses it.
 * @param change makes of what is shown what it will be
 * @throws what `send` throws
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
  // An answer from before the change would show the old state once more. Giving it up does, too, but only until the next line.
  const givenUp = queries.cancelQueries({ queryKey })
  show(before && change(before))
  await givenUp
  try {
    await send()
  } catch (error) {
    show(before)
    throw error
  } finally {
    const others = (updates.get(key) ?? 1) - 1
    updates.set(key, others)
    // Asked while another change is on its way, the service would answer with what was before that one.
    if (others === 0) void queries.invalidateQueries({ queryKey })
  }
}
