import { setTimeout as sleep } from 'node:timers/promises'

/** The highest average rate of a migration; Infinity for no limit. */
export type RateLimit = { bytesPerSecond: number; messagesPerSecond: number }

/** Delays batches, so that a migration keeps its average rate. */
export type Pacer = {
  /**
   * Resolves when these messages can be transferred.
   * @throws the signal’s reason
   */
  pass(messages: number, bytes: number, signal: AbortSignal): Promise<void>
}

export const UNLIMITED: RateLimit = { bytesPerSecond: Infinity, messagesPerSecond: Infinity }

/** Creates a pacer. Each batch takes the time that its messages need at the limits. */
export function createPacer({ bytesPerSecond, messagesPerSecond }: RateLimit): Pacer {
  let free = 0
  return {
    async pass(messages, bytes, signal) {
      const seconds = Math.max(bytes / bytesPerSecond, messages / messagesPerSecond)
      const start = Math.max(free, performance.now())
      free = start + seconds * 1_000
      const wait = start - performance.now()
      if (wait > 0) await sleep(wait, undefined, { signal })
    },
  }
}
