import { sql, type RawBuilder } from 'kysely'
import type { Db } from './database.ts'
import { notify, type Notifications } from './notifications.ts'

/**
 * Whether the workspace of a row is deleted, and only kept so that an owner can restore it. Each
 * query that claims or lists due work leaves out such rows: `test/jobs/deleted-workspace.test.ts`.
 * @param column the column with the id of the workspace, such as `c.workspace_id`
 */
export function isInDeletedWorkspace(column: string): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from workspace deleted where deleted.id = ${sql.ref(column)} and deleted.delete_after is not null)`
}

/** The channel of deletions and restores. */
const DELETION_CHANGED = 'workspace.deletion'

export type DeletionChange = { workspaceId: string; isDeleted: boolean }

/** Notifies all instances that a workspace was deleted or restored; send it in that transaction. */
export async function notifyDeletionChange(db: Db, change: DeletionChange): Promise<void> {
  await notify(db, DELETION_CHANGED, change)
}

/**
 * Subscribes to deletions and restores of workspaces.
 * @param lost called when notifications may have been missed: any workspace may have changed
 * @returns ends the subscription
 */
export function onDeletionChange(
  notifications: Notifications,
  changed: (change: DeletionChange) => void,
  lost: () => void,
): () => void {
  const ends = [
    notifications.on(DELETION_CHANGED, (change) => changed(change as DeletionChange)),
    notifications.onReconnect(lost),
  ]
  return () => ends.forEach((end) => end())
}
