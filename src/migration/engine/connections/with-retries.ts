import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../../errors.ts'
import type { Logger } from '../../../log.ts'
import {
  ImapLost,
  ImapRefused,
  isTemporary,
  isThrottling,
} from '../../../net/imap/connection/refusals.ts'
import type { RateLimitGate } from './rate-limit-gate.ts'
import { ENGINE_LIMITS, type WaitTimes } from '../../limits.ts'

type RetryDeps = { gate: RateLimitGate; waitTimes: WaitTimes; signal: AbortSignal; log: Logger }

/**
 * Whether a connection was lost at this work: `elsewhere` if another folder or message was at it,
 * `unknown` if no command was in flight, or one of the whole account.
 */
export type LossBlame = (lost: ImapLost) => 'here' | 'elsewhere' | 'unknown'

/** For work on the whole account. */
const UNNAMED: LossBlame = () => 'unknown'

/**
 * Runs work, and repeats it after a broken connection or a temporary rejection. The work must be
 * safe to repeat. Connections that were lost elsewhere hardly count.
 * @param attempt gets the number of failed attempts
 */
export async function withRetries<T>(
  { gate, waitTimes, signal, log }: RetryDeps,
  attempt: (failures: number) => Promise<T>,
  blameFor: LossBlame = UNNAMED,
): Promise<T> {
  const before = gate.successes
  let failures = 0
  let elsewhere = 0
  for (;;) {
    await gate.pass(signal)
    try {
      return await attempt(failures + elsewhere)
    } catch (error) {
      signal.throwIfAborted()
      // At one folder, others are given the time of a retry to succeed.
      const isFirst = failures === 0 && blameFor !== UNNAMED
      if (!isTemporaryFailure(error, gate, isFirst ? null : before)) throw error
      const isElsewhere = error instanceof ImapLost && blameFor(error) === 'elsewhere'
      if (isElsewhere) elsewhere += 1
      else failures += 1
      if (elsewhere >= ENGINE_LIMITS.maxLosses || failures >= maxAttempts(error, blameFor))
        throw error
      log.debug(messageOf(error))
      await backOff(Math.max(1, failures), waitTimes, signal)
    }
  }
}

function maxAttempts(error: unknown, blameFor: LossBlame): number {
  const { maxBreaks, maxBusy, maxUnreadableResponses, maxIdleRounds } = ENGINE_LIMITS
  const isNamed = blameFor !== UNNAMED
  if (!(error instanceof ImapLost)) {
    const isBusy = error instanceof ImapRefused && !isThrottling(error.refusal)
    return isBusy && isNamed ? maxBusy : maxIdleRounds
  }
  if (error.reason === 'protocol') return maxUnreadableResponses
  if (blameFor(error) !== 'here') return maxIdleRounds
  // Each costs the whole time limit.
  return error.reason === 'timeout' ? maxBreaks.alone : maxBreaks.most
}

/**
 * Whether a retry may succeed. If the server asks for fewer requests, the gate closes for all
 * connections; also if it is busy and nothing succeeded meanwhile.
 * @param before the successes when the work began; null to leave the gate open while it is busy
 */
export function isTemporaryFailure(
  error: unknown,
  gate: RateLimitGate,
  before: number | null = gate.successes,
): boolean {
  const isOfServer = error instanceof ImapLost || error instanceof ImapRefused
  if (!isOfServer) return false
  const { refusal } = error
  if (refusal === null || !isTemporary(refusal)) return error instanceof ImapLost
  if (isThrottling(refusal) || gate.successes === before) gate.close(refusal)
  return true
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
