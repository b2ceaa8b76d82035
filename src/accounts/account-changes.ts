import { notifyChange } from '../store/changes.ts'
import type { Db } from '../store/database.ts'
import { notify, type Notifications } from '../store/notifications.ts'

const CHANNEL = 'account'

/**
 * Notifies every instance to drop cached data of an account (its role, its tokens), and dashboards
 * to refresh it.
 * @param db within a transaction, the notification is sent on commit
 */
export async function notifyAccountChange(db: Db, accountId: string): Promise<void> {
  await notify(db, CHANNEL, accountId)
  await notifyChange(db, accountId, 'account')
}

/** @param lost called when notifications may have been missed: any account may have changed */
export function onAccountChange(
  notifications: Notifications,
  changed: (accountId: string) => void,
  lost: () => void,
): void {
  notifications.on(CHANNEL, (accountId) => changed(String(accountId)))
  notifications.onReconnect(lost)
}
