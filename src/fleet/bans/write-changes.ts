import type { Transaction } from 'kysely'
import { notifyChange } from '../../store/changes.ts'
import { notify } from '../../store/notifications.ts'
import type { DB } from '../../store/tables.ts'
import { saveCursor, type Fleet } from '../fleet.sql.ts'
import { insertChanges, type NewChange } from './fleet-bans.sql.ts'

/** The channel of changes: `[workspaceId, cursor]`. */
export const FLEET_CHANGED = 'fleet'

/**
 * Numbers and stores changes of a locked fleet. Followers are notified when the transaction commits.
 * @returns the numbers of the changes, in order
 */
export async function writeChanges(
  db: Transaction<DB>,
  fleet: Fleet,
  changes: NewChange[],
  now: Date,
): Promise<number[]> {
  if (changes.length === 0) return []
  const { workspaceId, cursor } = fleet
  const numbered = changes.map((change, index) => ({ ...change, number: cursor + index + 1 }))
  const last = cursor + changes.length
  await insertChanges(db, workspaceId, numbered, now)
  await saveCursor(db, workspaceId, last)
  await notify(db, FLEET_CHANGED, [workspaceId, last])
  await notifyChange(db, workspaceId, 'attacks')
  return numbered.map(({ number }) => number)
}
