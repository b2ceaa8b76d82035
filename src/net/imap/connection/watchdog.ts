import { IMAP_LIMITS } from '../limits.ts'
import { ImapLost } from './refusals.ts'
import { MINUTE_MS } from '../../../time.ts'

export type Watchdog = {
  /** Restarts the timer while a response is due and the connection is read; stops it otherwise. */
  update(isDue: boolean): void
  /** Ends the silence: a response arrived, or the socket accepted data. */
  refresh(): void
  /** Counts received bytes. A slow trickle of them does not end the silence. */
  countBytes(bytes: number): void
  /** The server seems to have ended its response: gives it up soon unless more bytes arrive. */
  suspectEnd(): void
  /** Ends the standstill: a part of a response that is due arrived. */
  markProgress(): void
  /** Gives the server up if it has only sent keep-alives for too long. */
  checkStandstill(): void
}

export type WatchdogTimes = { silenceMs: number; standstillMs: number; shortLiteralMs: number }

/**
 * Creates the watchdog of a connection, which gives up a server that is silent for `silenceMs` or
 * makes no progress for `standstillMs` while a response is due, or ends a literal early and is
 * silent for `shortLiteralMs`.
 * @param giveUp called with the reason; may be called more than once
 */
export function createWatchdog(
  { silenceMs, standstillMs, shortLiteralMs }: WatchdogTimes,
  giveUp: (reason: ImapLost) => void,
): Watchdog {
  let timer: NodeJS.Timeout | undefined
  let ending: NodeJS.Timeout | undefined
  let bytesSinceRefresh = 0
  let progressedAt = 0

  function markProgress(): void {
    progressedAt = performance.now()
  }

  return {
    update(isDue) {
      const wasDue = timer !== undefined
      clearTimeout(timer)
      clearTimeout(ending)
      timer = undefined
      if (!isDue) return
      if (!wasDue) markProgress()
      timer = setTimeout(() => {
        giveUp(
          new ImapLost(
            'timeout',
            `The server was silent for ${Math.round(silenceMs / 1000)} seconds.`,
          ),
        )
      }, silenceMs)
    },
    refresh: () => void timer?.refresh(),
    countBytes(bytes) {
      clearTimeout(ending)
      bytesSinceRefresh += bytes
      if (bytesSinceRefresh < IMAP_LIMITS.trickleBytes) return
      bytesSinceRefresh = 0
      timer?.refresh()
    },
    suspectEnd() {
      if (timer === undefined) return
      ending = setTimeout(() => {
        const message = 'The server sent fewer bytes of a message than it announced.'
        giveUp(new ImapLost('protocol', message))
      }, shortLiteralMs)
    },
    markProgress,
    checkStandstill() {
      if (timer === undefined || performance.now() - progressedAt < standstillMs) return
      const minutes = Math.round(standstillMs / MINUTE_MS)
      giveUp(
        new ImapLost(
          'timeout',
          `The server said for ${minutes} minutes that it is there, and answered nothing.`,
        ),
      )
    },
  }
}
