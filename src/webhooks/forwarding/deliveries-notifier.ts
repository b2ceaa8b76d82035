import { randomUUID } from 'node:crypto'
import type { Logger } from '../../log.ts'
import type { Db } from '../../store/database.ts'
import { notify, type Notifications } from '../../store/notifications.ts'
import { NOTIFY_INTERVAL_MS } from '../limits.ts'

/** Notification that deliveries wait to be sent. */
const DELIVERIES_ADDED = 'webhook.deliveries'

/** Notification that the settings or the state of a destination changed. */
export const DESTINATION_CHANGED = 'webhook.destination'

/** Destinations that one notification names; more are notified about as all of them. */
const MAX_NAMED = 100

/** Destinations, null for any of them; and the process whose own forwarding knows already. */
type Added = { destinations: string[] | null; from?: string }

/** Notifies every instance that deliveries of a destination wait. */
export async function notifyDeliveries(db: Db, destination: string): Promise<void> {
  await notify(db, DELIVERIES_ADDED, { destinations: [destination] } satisfies Added)
}

export type DeliveriesNotifier = ReturnType<typeof createDeliveriesNotifier>

/**
 * Notifies of new deliveries: the forwarding of this process at once, every other instance at once
 * and then once in an interval.
 */
export function createDeliveriesNotifier({ db, log }: { db: Db; log: Logger }) {
  const from = randomUUID()
  const listeners = new Set<(destinations: string[] | null) => void>()
  let pending = new Set<string>()
  let timer: NodeJS.Timeout | undefined

  async function send(): Promise<void> {
    const named = [...pending]
    pending = new Set()
    timer = setTimeout(() => {
      timer = undefined
      if (pending.size > 0) void send()
    }, NOTIFY_INTERVAL_MS)
    const destinations = named.length > MAX_NAMED ? null : named
    try {
      await notify(db, DELIVERIES_ADDED, { destinations, from } satisfies Added)
    } catch (error) {
      // Workers also look for them now and then without a notification.
      log.warn({ err: error }, 'new deliveries could not be announced')
    }
  }

  return {
    added(destinations: readonly string[]): void {
      for (const id of destinations) pending.add(id)
      for (const listener of listeners) listener([...destinations])
      if (timer === undefined) void send()
    },
    /** Calls `listener` when deliveries of these destinations, or of any (null), were added. */
    onAdded(
      notifications: Notifications,
      listener: (destinations: string[] | null) => void,
    ): () => void {
      listeners.add(listener)
      const unsubscribe = [
        notifications.on(DELIVERIES_ADDED, (payload) => {
          const added = payload as Added | null
          if (added?.from !== from) listener(added?.destinations ?? null)
        }),
        notifications.onReconnect(() => listener(null)),
        () => listeners.delete(listener),
      ]
      return () => unsubscribe.forEach((stop) => stop())
    },
    close: () => clearTimeout(timer),
  }
}
