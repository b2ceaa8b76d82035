import { tellChange } from '../store/changes.ts'
import type { Db } from '../store/database.ts'
import { notify, type Signals } from '../store/signals.ts'

const CHANNEL = 'account'

/**
 * Tells every instance to forget what it remembers of an account (its rights, its tokens), and who shows it to look again.
 * @param db within a transaction, the word goes out when that commits
 */
export async function announceChange(db: Db, accountId: string): Promise<void> {
  await notify(db, CHANNEL, accountId)
  await tellChange(db, accountId, 'account')
}

/** @param lost called when announcements may have been missed: any account may have changed */
export function onChange(signals: Signals, changed: (accountId: string) => void, lost: () => void): void {
  signals.on(CHANNEL, (accountId) => changed(String(accountId)))
  signals.onReconnect(lost)
}
