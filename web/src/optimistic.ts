import type { QueryClient, QueryKey } from '@tanstack/react-query'

/**
 * Shows a change at once, and takes it back where the service refuses it.
 * @param change makes of what is shown what it will be
 * @throws what `send` throws
 */
export async function optimistically<T>(
  queries: QueryClient,
  queryKey: QueryKey,
  change: (before: T) => T,
  send: () => Promise<unknown>,
): Promise<void> {
  const before = queries.getQueryData<T>(queryKey)
  const show = (value: T | undefined) => queries.setQueryData(queryKey, value)
  const after = before && change(before)
  show(after)
  // An answer from before the change would show the old state once more; that it is given up shows it too.
  await queries.cancelQueries({ queryKey })
  show(after)
  try {
    await send()
  } catch (error) {
    show(before)
    throw error
  }
  void queries.invalidateQueries({ queryKey })
}
