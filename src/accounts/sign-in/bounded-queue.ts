import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../../errors.ts'

const RETRY_AFTER_SECONDS = 5

/** A client that repeats its request at once is as slow as after a 429. */
const REFUSAL_DELAY_MS = 500

/**
 * Runs up to `maxConcurrent` tasks, queues up to `maxWaiting` more, and rejects the rest before any
 * work is done for them.
 * @returns a function that runs one task; throws Fault `unavailable` when the queue is full
 */
export function createBoundedQueue({
  maxConcurrent,
  maxWaiting,
}: {
  maxConcurrent: number
  maxWaiting: number
}) {
  let running = 0
  const waiting: (() => void)[] = []

  async function enqueue(): Promise<void> {
    if (waiting.length < maxWaiting) return new Promise((resolve) => waiting.push(resolve))
    await sleep(REFUSAL_DELAY_MS)
    const sentence = 'Too many sign-ins at the moment. Try again in a few seconds.'
    throw new Fault('unavailable', sentence, { retryAfter: RETRY_AFTER_SECONDS })
  }

  return async function run<T>(work: () => Promise<T>): Promise<T> {
    if (running >= maxConcurrent) await enqueue()
    else running++
    try {
      return await work()
    } finally {
      // The slot passes to the next waiting task, so that a new one cannot overtake it.
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
