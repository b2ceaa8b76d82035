import { notifyChange } from '../store/changes.ts'
import type { Db } from '../store/database.ts'
import { notify, type Notifications } from '../store/notifications.ts'

const CHANNEL = 'account'

/**
 * Tells every instance to forget what it remembers of an account (its rights, its tokens), and who shows it to look again.
 * @param db within a transaction, the word goes out when that commits
 */
export async function notifyAccountChange(db: Db, accountId: string): Promise<void> {
  await notify(db, CHANNEL, accountId)
  await notifyChange(db, accountId, 'account')
}

/** @param lost called when announcements may have been missed: any account may have changed */
export function onAccountChange(
  notifications: Notifications,
  changed: (accountId: string) => void,
  lost: () => void,
): void {
  notifications.on(CHANNEL, (accountId) => changed(String(accountId)))
  notifications.onReconnect(lost)
}
