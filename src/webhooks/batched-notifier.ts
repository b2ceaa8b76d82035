import type { Logger } from '../log.ts'
import { onChange, notifyChanges } from '../store/changes.ts'
import type { Db } from '../store/database.ts'
import type { Notifications } from '../store/notifications.ts'
import { NOTIFY_INTERVAL_MS } from './limits.ts'

/**
 * Subscribes to notifications of captured requests.
 * @returns a function that unsubscribes
 */
export function onRequestsCaptured(
  notifications: Notifications,
  onCaptured: (endpointId: string) => void,
): () => void {
  const notifyIfRequest = (room: string, id: string | null) =>
    room === 'requests' && id !== null && onCaptured(id)
  return onChange(
    notifications,
    ({ room, id }) => notifyIfRequest(room, id),
    () => {},
  )
}

/**
 * Notifies every instance of the endpoints that captured requests: the first at once, later ones
 * together after a short interval.
 */
export function createBatchedNotifier({ db, log }: { db: Db; log: Logger }) {
  let pending = new Map<string, string>()
  let timer: NodeJS.Timeout | undefined

  async function notifyPending(): Promise<void> {
    const changes = Array.from(pending, ([id, audience]) => ({
      audience,
      room: 'requests' as const,
      id,
    }))
    pending = new Map()
    if (changes.length === 0) return void (timer = undefined)
    timer = setTimeout(() => void notifyPending(), NOTIFY_INTERVAL_MS)
    try {
      await notifyChanges(db, changes)
    } catch (error) {
      // Readers of the list also check it now and then without a notification.
      log.warn({ err: error }, 'captured requests could not be announced')
    }
  }

  return {
    /** @param endpoints with their workspaces */
    captured(endpoints: Map<string, string>): void {
      for (const [id, workspaceId] of endpoints) pending.set(id, workspaceId)
      if (timer === undefined) void notifyPending()
    },
    close: () => clearTimeout(timer),
  }
}
