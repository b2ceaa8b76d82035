import type { Logger } from '../../log.ts'
import type { Db } from '../../store/database.ts'
import { notify } from '../../store/notifications.ts'
import { NOTIFY_INTERVAL_MS } from '../limits.ts'

/** Notification that deliveries wait to be sent. */
export const DELIVERIES_ADDED = 'webhook.deliveries'

/** Notification that the settings or the state of a destination changed. */
export const DESTINATION_CHANGED = 'webhook.destination'

/** Notifies every instance of new deliveries: at once, and then once in an interval. */
export function createDeliveriesNotifier({ db, log }: { db: Db; log: Logger }) {
  let timer: NodeJS.Timeout | undefined
  let isPending = false

  async function send(): Promise<void> {
    isPending = false
    timer = setTimeout(() => {
      timer = undefined
      if (isPending) void send()
    }, NOTIFY_INTERVAL_MS)
    try {
      await notify(db, DELIVERIES_ADDED, null)
    } catch (error) {
      // Workers also look for them now and then without a notification.
      log.warn({ err: error }, 'new deliveries could not be announced')
    }
  }

  return {
    added(): void {
      isPending = true
      if (timer === undefined) void send()
    },
    close: () => clearTimeout(timer),
  }
}
