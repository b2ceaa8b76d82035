/** A row whose action failed, and the reason. */
export type RowFailure<T> = { row: T; reason: string }

/** Requests at once: the service runs up to 10 of an account, and other tabs need some of them. */
const PARALLEL_REQUESTS = 4

/**
 * Runs an action for each row, a few at a time, and continues after failures.
 * @param onProgress called with the number of rows that are done
 */
export async function runEach<T>(
  rows: T[],
  run: (row: T) => Promise<unknown>,
  onProgress?: (done: number) => void,
  parallel = PARALLEL_REQUESTS,
): Promise<RowFailure<T>[]> {
  const failures: RowFailure<T>[] = []
  const waiting = rows.values()
  let done = 0
  async function work(): Promise<void> {
    for (const row of waiting) {
      try {
        await run(row)
      } catch (error) {
        failures.push({ row, reason: (error as Error).message })
      }
      onProgress?.(++done)
    }
  }
  await Promise.all(Array.from({ length: Math.min(parallel, rows.length) }, work))
  return failures
}
