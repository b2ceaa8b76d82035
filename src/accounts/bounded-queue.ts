import { Fault } from '../errors.ts'

const RETRY_AFTER_SECONDS = 5

/**
 * Runs so much at once, lets so much more wait, and refuses the rest before anything is done for it.
 * @returns what runs one piece of work; throws Fault `unavailable` when too much waits
 */
export function createBoundedQueue({ maxConcurrent, maxWaiting }: { maxConcurrent: number; maxWaiting: number }) {
  let running = 0
  const waiting: (() => void)[] = []

  function enqueue(): Promise<void> {
    if (waiting.length < maxWaiting) return new Promise((resolve) => waiting.push(resolve))
    const sentence = 'Too many people are signing in at this moment. Try again in a few seconds.'
    throw new Fault('unavailable', sentence, { retryAfter: RETRY_AFTER_SECONDS })
  }

  return async function run<T>(work: () => Promise<T>): Promise<T> {
    if (running >= maxConcurrent) await enqueue()
    else running++
    try {
      return await work()
    } finally {
      // The next one takes over the place, so that nobody who comes in between does.
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
