import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import { ImapLost, ImapRefused, isTemporary } from '../net/imap/connection/refusals.ts'
import type { Gate } from './gate.ts'
import { LIMITS, type Patience } from './limits.ts'

type PersistDeps = { gate: Gate; patience: Patience; signal: AbortSignal; log: Logger }

/**
 * Does it again when a connection broke or a server asked us to come back, so that it must be something that may be
 * done twice.
 */
export async function persist<T>({ gate, patience, signal, log }: PersistDeps, attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    await gate.pass(signal)
    try {
      return await attempt()
    } catch (error) {
      signal.throwIfAborted()
      const isNonsense = error instanceof ImapLost && error.reason === 'protocol'
      if (!isPassing(error, gate) || tries >= (isNonsense ? LIMITS.nonsense : LIMITS.idleRounds)) throw error
      log.debug(messageOf(error))
      await pause(tries, patience, signal)
    }
  }
}

/** Whether the same may succeed later; where a server said how much later, everybody waits. */
export function isPassing(error: unknown, gate: Gate): boolean {
  const isOfServer = error instanceof ImapLost || error instanceof ImapRefused
  if (!isOfServer) return false
  const isAsked = error.refusal !== null && isTemporary(error.refusal)
  if (isAsked && error.refusal) gate.close(error.refusal)
  return isAsked || error instanceof ImapLost
}

/** Longer each time. */
export async function pause(tries: number, { reconnect }: Patience, signal: AbortSignal): Promise<void> {
  await sleep(Math.min(reconnect.first * 2 ** (tries - 1), reconnect.most), undefined, { signal })
}
