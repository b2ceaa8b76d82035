import { notifyChange } from '../store/changes.ts'
import type { Db } from '../store/database.ts'
import { notify, type Notifications } from '../store/notifications.ts'

/** The channel of changes of access. The payload is the id of an account or of a workspace. */
export const ACCESS_CHANGED = 'account'

/**
 * Notifies every instance to drop cached data of an account (its role, its tokens), and dashboards
 * to refresh it.
 * @param db within a transaction, the notification is sent on commit
 */
export async function notifyAccountChange(db: Db, accountId: string): Promise<void> {
  await notify(db, ACCESS_CHANGED, accountId)
  await notifyChange(db, accountId, 'account')
}

/**
 * Subscribes to changes of access.
 * @param changed receives the id of an account or of a workspace; the first workspace of an account
 *   has the id of the account
 * @param lost called when notifications may have been missed: any account may have changed
 * @returns ends the subscription
 */
export function onAccessChange(
  notifications: Notifications,
  changed: (id: string) => void,
  lost: () => void,
): () => void {
  const ends = [
    notifications.on(ACCESS_CHANGED, (id) => changed(String(id))),
    notifications.onReconnect(lost),
  ]
  return () => ends.forEach((end) => end())
}

/**
 * Subscribes to changes that may concern the access of one caller.
 * @returns ends the subscription
 */
export function onAccessChangeOf(
  notifications: Notifications,
  { accountId, workspaceId }: { accountId: string; workspaceId: string },
  changed: () => void,
): () => void {
  const heard = (id: string) => {
    if (id === accountId || id === workspaceId) changed()
  }
  return onAccessChange(notifications, heard, changed)
}
