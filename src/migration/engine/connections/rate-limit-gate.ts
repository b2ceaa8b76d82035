import { setTimeout as sleep } from 'node:timers/promises'
import type { Refusal } from '../../../net/imap/connection/refusals.ts'
import type { WaitTimes } from '../../limits.ts'

/** Where everybody waits while a server asks us to slow down. */
export type RateLimitGate = {
  /** Milliseconds since 1970 until which it is closed; null when it is open. */
  readonly closedUntil: number | null
  /** Closes it for as long as the server said, or longer each time when it did not. */
  close(refusal: Pick<Refusal, 'retryAfterMs'>): void
  /** Something went through: the next wait is short again. */
  succeeded(): void
  /** @throws the signal's reason */
  pass(signal: AbortSignal): Promise<void>
}

/** @param changed called when it closes and when it opens */
export function createRateLimitGate(
  { slowDownMs, maxRequestedDelayMs }: WaitTimes,
  changed: () => void,
): RateLimitGate {
  let until = 0
  let wait = slowDownMs.first

  /** By a clock that nobody sets; what is shown is in the machine's. */
  const left = () => until - performance.now()
  const isClosed = () => left() > 0
  return {
    get closedUntil() {
      return isClosed() ? Date.now() + left() : null
    },
    close({ retryAfterMs }) {
      // Several connections are told at once; that is one reason to wait, not several.
      if (isClosed() && retryAfterMs === null) return
      until = Math.max(
        until,
        performance.now() +
          (retryAfterMs === null ? wait : Math.min(retryAfterMs, maxRequestedDelayMs)),
      )
      wait = Math.min(wait * 2, slowDownMs.most)
      changed()
    },
    succeeded: () => (wait = slowDownMs.first),
    async pass(signal) {
      signal.throwIfAborted()
      if (!isClosed()) return
      while (isClosed()) await sleep(left(), undefined, { signal })
      changed()
    },
  }
}
