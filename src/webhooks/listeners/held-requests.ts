import type { Logger } from '../../log.ts'
import type { Db } from '../../store/database.ts'
import type { Notifications } from '../../store/notifications.ts'
import type { Endpoint } from '../endpoints/endpoints.ts'
import { knownListener } from './known-listener.ts'
import { findAnswer, findListener, type AnswerRow } from './listeners.sql.ts'

/** Notification that a listener answered a request. */
export const ANSWERED = 'webhook.answered'

/** A request whose sender waits for the answer of a listener. */
export type HeldRequest = {
  /** Seconds for which its sender waits. */
  holdSeconds: number
  /** Called once, when the answer has arrived. */
  onAnswer(then: (answer: AnswerRow) => void): void
  /** Nobody waits any more. */
  forget(): void
}

export type HeldRequests = {
  /**
   * Holds a request of an endpoint whose listener answers. Called before the request is stored, so
   * that no answer is missed.
   * @returns null where no listener does. Without a promise where that is known
   */
  hold(endpoint: Endpoint, requestId: string): HeldRequest | null | Promise<HeldRequest | null>
  close(): void
}

/** Creates the list of requests that wait for the answer of a listener, in this instance. */
export function createHeldRequests({
  db,
  notifications,
  log,
}: {
  db: Db
  notifications: Notifications
  log: Logger
}): HeldRequests {
  const waiting = new Map<string, PromiseWithResolvers<AnswerRow>>()
  const stops = [
    notifications.on(
      ANSWERED,
      (payload) => void load((payload as { requestId: string }).requestId),
    ),
    // An answer may have been missed.
    notifications.onReconnect(() => {
      for (const requestId of waiting.keys()) void load(requestId)
    }),
  ]

  async function load(requestId: string): Promise<void> {
    const held = waiting.get(requestId)
    if (!held) return
    try {
      const answer = await findAnswer(db, requestId)
      if (answer) held.resolve(answer)
    } catch (error) {
      log.warn({ err: error }, 'the answer of a listener was not read')
    }
  }

  function wait(holdSeconds: number, requestId: string): HeldRequest {
    const held = Promise.withResolvers<AnswerRow>()
    waiting.set(requestId, held)
    return {
      holdSeconds,
      onAnswer: (then) => void held.promise.then(then),
      forget: () => void waiting.delete(requestId),
    }
  }

  /** Its lease may have been renewed, which is not notified. */
  async function holdRenewed(endpoint: Endpoint, requestId: string): Promise<HeldRequest | null> {
    const row = await findListener(db, endpoint.id)
    endpoint.listener = row ? knownListener(row) : null
    return row ? wait(row.holdSeconds, requestId) : null
  }

  return {
    hold(endpoint, requestId) {
      const { listener } = endpoint
      if (listener === null) return null
      return listener.leaseUntil > Date.now()
        ? wait(listener.holdSeconds, requestId)
        : holdRenewed(endpoint, requestId)
    },
    close: () => stops.forEach((stop) => stop()),
  }
}
