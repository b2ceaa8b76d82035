import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Creates a rate limiter: its calls resolve one after the other, at least `spacingMs` apart.
 * @returns rejects when the signal aborts
 */
export function createRateLimiter(spacingMs: number): (signal: AbortSignal) => Promise<void> {
  let next = 0
  return async (signal) => {
    const now = performance.now()
    const turn = Math.max(now, next)
    next = turn + spacingMs
    if (turn > now) await sleep(turn - now, undefined, { signal })
  }
}
