import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../../errors.ts'
import type { Logger } from '../../../log.ts'
import { ImapLost, ImapRefused, isTemporary } from '../../../net/imap/connection/refusals.ts'
import type { RateLimitGate } from './rate-limit-gate.ts'
import { ENGINE_LIMITS, type WaitTimes } from '../../limits.ts'

type RetryDeps = { gate: RateLimitGate; waitTimes: WaitTimes; signal: AbortSignal; log: Logger }

/**
 * Runs work, and repeats it after a broken connection or a temporary rejection. The work must be
 * safe to repeat.
 */
export async function withRetries<T>(
  { gate, waitTimes, signal, log }: RetryDeps,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    await gate.pass(signal)
    try {
      return await attempt()
    } catch (error) {
      signal.throwIfAborted()
      const isNonsense = error instanceof ImapLost && error.reason === 'protocol'
      if (
        !isTemporaryFailure(error, gate) ||
        tries >= (isNonsense ? ENGINE_LIMITS.maxUnreadableResponses : ENGINE_LIMITS.maxIdleRounds)
      )
        throw error
      log.debug(messageOf(error))
      await backOff(tries, waitTimes, signal)
    }
  }
}

/**
 * Whether a retry may succeed. If the server named a delay, the gate closes for all connections.
 */
export function isTemporaryFailure(error: unknown, gate: RateLimitGate): boolean {
  const isOfServer = error instanceof ImapLost || error instanceof ImapRefused
  if (!isOfServer) return false
  const isAsked = error.refusal !== null && isTemporary(error.refusal)
  if (isAsked && error.refusal) gate.close(error.refusal)
  return isAsked || error instanceof ImapLost
}

/** Waits, longer after each attempt. */
export async function backOff(
  tries: number,
  { reconnectMs }: WaitTimes,
  signal: AbortSignal,
): Promise<void> {
  await sleep(Math.min(reconnectMs.first * 2 ** (tries - 1), reconnectMs.most), undefined, {
    signal,
  })
}
