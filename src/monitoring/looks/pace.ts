import { setTimeout as sleep } from 'node:timers/promises'

/** Lets callers through one after the other, so many milliseconds apart; throws when the signal aborts. */
export function createPace(spacing: number): (signal: AbortSignal) => Promise<void> {
  let next = 0
  return async (signal) => {
    const now = performance.now()
    const turn = Math.max(now, next)
    next = turn + spacing
    if (turn > now) await sleep(turn - now, undefined, { signal })
  }
}
