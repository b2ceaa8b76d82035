import { notifyChange } from '../../store/changes.ts'
import type { Db } from '../../store/database.ts'
import { notify } from '../../store/notifications.ts'
import { ACCESS_CHANGED } from '../account-changes.ts'

/**
 * Notifies every instance that a workspace changed: its name, plan, members or deletion. Cached
 * tokens of the workspace are dropped, open streams check their access, and dashboards refresh.
 * @param db within a transaction, the notification is sent on commit
 */
export async function notifyWorkspaceChange(db: Db, workspaceId: string): Promise<void> {
  await notify(db, ACCESS_CHANGED, workspaceId)
  await notifyChange(db, workspaceId, 'workspace')
}
