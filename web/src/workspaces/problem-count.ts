import { queryOptions } from '@tanstack/react-query'

/** Milliseconds for which the problems of a workspace are not counted again. */
const FRESH_MS = 60_000

/** The last of the loads, which wait for each other. */
let last: Promise<unknown> = Promise.resolve()

/** The number of problems of a workspace, as its overview shows it. Counted again after an alert. */
export const problemCountQuery = (workspace: string) =>
  queryOptions({
    queryKey: ['alerts', 'problem count', workspace],
    queryFn: () => {
      // One workspace after the other, because a load has several parts.
      const load = last.then(() => count(workspace))
      last = load.catch(() => undefined)
      return load
    },
    staleTime: FRESH_MS,
  })

/** Every screen shows the number, and none has to wait for the code that counts. */
async function count(workspace: string): Promise<number> {
  const { countProblemsOf } = await import('../overview/count-problems.ts')
  return countProblemsOf(workspace)
}
