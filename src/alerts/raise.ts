import { notifyChange } from '../store/changes.ts'
import type { Db } from '../store/database.ts'
import { notify } from '../store/notifications.ts'
import { BATCHED_TYPES } from './channels/registry.ts'
import { insertFirstChannel } from './channels/store.ts'
import { queueAlert } from './delivery/store.ts'
import { insertAlert } from './store.ts'

/** An event that a workspace is alerted about once. */
export type NewAlert = {
  workspaceId: string
  /** Machine-readable kind for filters: a topic, a dot and a word (`blacklist.listed`). */
  kind: string
  /** Identifies the event: a workspace gets one alert per key, ever. */
  key: string
  /** One line; also the subject of an email with this alert alone. */
  title: string
  /** What happened and why. */
  text: string
  /** What to do now; empty when no action is needed. */
  nextStep: string
  /**
   * Page of the dashboard, from its root, such as `/delisting/ID`. Only lower-case words and IDs,
   * so that no text chosen by a stranger gets into a link; a constraint of the database enforces
   * this.
   */
  path: string
  /** Time of the event. */
  at: Date
}

/** Notification that a message waits to be sent. */
export const ALERT_RAISED = 'alert.raised'

/**
 * Raises an alert on all channels of a workspace. Within the caller’s transaction it is sent if and
 * only if that commits, even when this process is killed right after.
 * @returns false when an alert with this key was raised before
 */
export async function raiseAlert(db: Db, alert: NewAlert): Promise<boolean> {
  const id = await insertAlert(db, alert)
  if (id === null) return false
  await insertFirstChannel(db, alert.workspaceId)
  await queueAlert(db, alert, id, BATCHED_TYPES)
  await notify(db, ALERT_RAISED, alert.workspaceId)
  await notifyChange(db, alert.workspaceId, 'alerts', id)
  return true
}
