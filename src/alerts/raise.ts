import { notifyChange } from '../store/changes.ts'
import type { Db } from '../store/database.ts'
import { notify } from '../store/notifications.ts'
import { insertFirstChannel } from './channels/store.ts'
import { queueAlert } from './messages/store.ts'
import { insertAlert } from './store.ts'

/** Something a person wants to be told once. */
export type NewAlert = {
  accountId: string
  /** What happened, for filters and programs: the room, a dot and a word (`blacklist.listed`). */
  kind: string
  /** What it is about and which time: of those with the same key an account is told once, ever. */
  key: string
  /** One line; the subject of a mail that has this alert alone. */
  title: string
  /** What happened and why, in plain sentences. */
  text: string
  /** What to do now; empty when there is nothing to do. */
  nextStep: string
  /**
   * Where in the dashboard one sees what it is about, and acts on it: from its root, such as `/delisting/ID`. Of
   * lower-case words and ids alone, so that nothing a stranger chose gets into a link; the database refuses the rest.
   */
  path: string
  /** When it happened. */
  at: Date
}

/** The signal that something waits to be sent. */
export const RAISED = 'alert.raised'

/**
 * Tells an account, by all its channels. In the caller's transaction nothing is sent unless that commits, and what
 * commits is sent, whatever happens to this process.
 * @returns false when one with this key was raised before
 */
export async function raiseAlert(db: Db, alert: NewAlert): Promise<boolean> {
  const id = await insertAlert(db, alert)
  if (id === null) return false
  await insertFirstChannel(db, alert.accountId)
  await queueAlert(db, alert, id)
  await notify(db, RAISED, alert.accountId)
  await notifyChange(db, alert.accountId, 'alerts', id)
  return true
}
