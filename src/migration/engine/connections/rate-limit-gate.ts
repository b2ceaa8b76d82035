import { setTimeout as sleep } from 'node:timers/promises'
import type { Refusal } from '../../../net/imap/connection/refusals.ts'
import type { WaitTimes } from '../../limits.ts'

/** Holds all connections back while a server asks to slow down. */
export type RateLimitGate = {
  /** Until when it is closed, in milliseconds since 1970; null when it is open. */
  readonly closedUntil: number | null
  /** Closes it for the delay that the server named, or for a longer one each time. */
  close(refusal: Pick<Refusal, 'retryAfterMs'>): void
  /**
   * How often something succeeded. A server that works for others is not busy: it refuses one
   * message or folder.
   */
  readonly successes: number
  /** Called after a success: the next delay is short again. */
  succeeded(): void
  /**
   * Resolves when the gate is open.
   * @throws the signal’s reason
   */
  pass(signal: AbortSignal): Promise<void>
}

/**
 * Creates a gate.
 * @param changed called when it closes and when it opens
 */
export function createRateLimitGate(
  { slowDownMs, maxRequestedDelayMs }: WaitTimes,
  changed: () => void,
): RateLimitGate {
  let until = 0
  let wait = slowDownMs.first
  let successes = 0

  /** Measured with a monotonic clock. The displayed time uses the system clock. */
  const left = () => until - performance.now()
  const isClosed = () => left() > 0
  return {
    get closedUntil() {
      return isClosed() ? Date.now() + left() : null
    },
    get successes() {
      return successes
    },
    close({ retryAfterMs }) {
      // Several connections get the response at once. It counts as one reason to wait.
      if (isClosed() && retryAfterMs === null) return
      until = Math.max(
        until,
        performance.now() +
          (retryAfterMs === null ? wait : Math.min(retryAfterMs, maxRequestedDelayMs)),
      )
      wait = Math.min(wait * 2, slowDownMs.most)
      changed()
    },
    succeeded() {
      successes += 1
      wait = slowDownMs.first
    },
    async pass(signal) {
      signal.throwIfAborted()
      if (!isClosed()) return
      while (isClosed()) await sleep(left(), undefined, { signal })
      changed()
    },
  }
}
