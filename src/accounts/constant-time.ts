import { setTimeout as sleep } from 'node:timers/promises'

/** Longer than the difference between an address with an account and one without. */
const STEP_MS = 500

/**
 * Runs work and rounds its duration up to a multiple of half a second, so that the time of a
 * response does not reveal whether an address has an account.
 */
export async function withRoundedDuration<T>(work: () => Promise<T>): Promise<T> {
  const start = performance.now()
  const result = await work()
  const elapsed = performance.now() - start
  await sleep(Math.ceil(elapsed / STEP_MS) * STEP_MS - elapsed)
  return result
}
