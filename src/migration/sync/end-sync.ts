import type { Kysely } from 'kysely'
import type { DB } from '../../store/tables.ts'
import { releaseCredentials } from '../consent/migration-consents.sql.ts'
import {
  credentialsOf,
  eraseEndedSecret,
  findMigration,
  notifyMigration,
} from '../migrations.sql.ts'
import { deleteSync } from './syncs.sql.ts'

/**
 * Ends the synchronization of a migration and deletes its passwords and credentials. A pass that runs
 * is completed first.
 * @returns false when it has none
 */
export async function endSync(
  db: Kysely<DB>,
  workspaceId: string,
  migrationId: string,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    if (!(await deleteSync(trx, migrationId))) return false
    await eraseEndedSecret(trx, migrationId)
    const row = await findMigration(trx, workspaceId, migrationId)
    if (row) await releaseCredentials(trx, workspaceId, credentialsOf(row), 0)
    await notifyMigration(trx, workspaceId, migrationId)
    return true
  })
}
