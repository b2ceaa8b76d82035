import { onAccessChangeOf } from '../accounts/account-changes.ts'
import { Fault } from '../errors.ts'
import type { EventWriter } from '../http/events/event-writer.ts'
import type { Logger } from '../log.ts'
import type { Notifications } from '../store/notifications.ts'
import { onRequestsCaptured } from './batched-notifier.ts'
import { onEndpointChange } from './endpoints/endpoints.ts'
import { findNewestSeq } from './requests/captured-requests.sql.ts'
import { createWakeSignal, WakeSignals } from './wake-signal.ts'
import { writeRequestEvents, type RequestEventsDeps } from './write-request-events.ts'

type RequestStream = {
  workspaceId: string
  accountId: string
  endpointId: string
  /** The last number that the client has seen; null to start with the next captured request. */
  from: number | null
  /** Throws when the client has lost its access. */
  recheckAccess: () => Promise<unknown>
}

export type RequestStreams = {
  /**
   * Writes an event for each captured request until the client disconnects, the service stops or
   * the endpoint is deleted.
   */
  open(stream: RequestStream): Promise<(writer: EventWriter) => Promise<void>>
  close: () => void
}

type Deps = RequestEventsDeps & { notifications: Notifications; log: Logger }

/**
 * Creates the event streams of captured requests. They read rows; notifications only report that
 * there are new ones.
 */
export function createRequestStreams(deps: Deps): RequestStreams {
  const { db, notifications, log } = deps
  const closing = new AbortController()
  const wakeSignals = new WakeSignals()
  const unsubscribers = [
    onRequestsCaptured(notifications, (id) => wakeSignals.wake(id, false)),
    onEndpointChange(
      notifications,
      ({ id }) => wakeSignals.wake(id, true),
      () => wakeSignals.wakeAll(),
    ),
  ]

  async function follow(stream: RequestStream, from: number, writer: EventWriter): Promise<void> {
    const { endpointId } = stream
    const wakeSignal = createWakeSignal()
    wakeSignals.add(endpointId, wakeSignal)
    // Beside the heartbeat, which a stream with many requests does not reach.
    const stopWatchingAccess = onAccessChangeOf(
      notifications,
      stream,
      () => void stream.recheckAccess().catch(writer.end),
    )
    const signal = AbortSignal.any([writer.ended, closing.signal])
    signal.addEventListener('abort', () => {
      writer.end()
      wakeSignal.wake(false)
    })
    try {
      await writeRequestEvents(deps, { ...stream, writer, wakeSignal, signal, last: from })
    } finally {
      stopWatchingAccess()
      wakeSignals.remove(endpointId, wakeSignal)
      writer.end()
    }
  }

  return {
    async open(stream) {
      const from = stream.from ?? (await findNewestSeq(db, stream.endpointId))
      return async (writer) => {
        await follow(stream, from, writer).catch((error: unknown) => {
          if (!(error instanceof Fault))
            log.warn({ err: error }, 'a stream of captured requests was interrupted')
        })
      }
    },
    close() {
      closing.abort()
      unsubscribers.forEach((unsubscribe) => unsubscribe())
    },
  }
}
