import type { Logger } from '../log.ts'
import { onChange, notifyChanges } from '../store/changes.ts'
import type { Db } from '../store/database.ts'
import type { Notifications } from '../store/notifications.ts'
import { NOTIFY_INTERVAL_MS } from './limits.ts'

/** @returns a function that ends it */
export function onRequestsCaptured(notifications: Notifications, captured: (endpointId: string) => void): () => void {
  const hear = (room: string, id: string | null) => room === 'requests' && id !== null && captured(id)
  return onChange(
    notifications,
    ({ room, id }) => hear(room, id),
    () => {},
  )
}

/** Tells every instance which endpoints have something new: the first at once, the others together a moment later. */
export function createBatchedNotifier({ db, log }: { db: Db; log: Logger }) {
  let pending = new Map<string, string>()
  let timer: NodeJS.Timeout | undefined

  async function notifyPending(): Promise<void> {
    const changes = Array.from(pending, ([id, audience]) => ({ audience, room: 'requests' as const, id }))
    pending = new Map()
    if (changes.length === 0) return void (timer = undefined)
    timer = setTimeout(() => void notifyPending(), NOTIFY_INTERVAL_MS)
    try {
      await notifyChanges(db, changes)
    } catch (error) {
      // Whoever listens looks by itself now and then.
      log.warn({ err: error }, 'captured requests were not announced')
    }
  }

  return {
    /** @param endpoints with their accounts */
    captured(endpoints: Map<string, string>): void {
      for (const [id, accountId] of endpoints) pending.set(id, accountId)
      if (timer === undefined) void notifyPending()
    },
    close: () => clearTimeout(timer),
  }
}
