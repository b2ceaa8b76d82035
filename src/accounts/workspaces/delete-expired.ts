import type { Kysely } from 'kysely'
import type { Logger } from '../../log.ts'
import {
  DELETION_TIMEOUT_MS,
  NIGHTLY_STATEMENT_TIMEOUT_MS,
  withStatementTimeout,
} from '../../store/database.ts'
import { deleteOwnedRows } from '../../store/owned.ts'
import type { DB } from '../../store/tables.ts'
import { MINUTE_MS } from '../../time.ts'
import { notifyWorkspaceChange } from './workspace-changes.ts'
import { deleteWorkspaces, listExpiredWorkspaces } from './workspaces.sql.ts'

/** Beyond the end of the period: a transaction that restores a workspace may still be running. */
const MARGIN_MS = 5 * MINUTE_MS

/** Deletes the workspaces that can no longer be restored, with all their data. */
export async function deleteExpiredWorkspaces(
  db: Kysely<DB>,
  { signal, log, now = new Date() }: { signal: AbortSignal; log: Logger; now?: Date },
): Promise<void> {
  for (const id of await listExpiredWorkspaces(db, new Date(now.getTime() - MARGIN_MS))) {
    await withStatementTimeout(db, NIGHTLY_STATEMENT_TIMEOUT_MS, (connection) =>
      deleteOwnedRows(connection, id, signal),
    )
    await withStatementTimeout(db, DELETION_TIMEOUT_MS, (connection) =>
      connection.transaction().execute(async (trx) => {
        await deleteWorkspaces(trx, [id])
        await notifyWorkspaceChange(trx, id)
      }),
    )
    log.info({ workspaceId: id }, 'deleted a workspace and its data')
  }
}
