import type { Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import type { Job } from '../../jobs/job.ts'
import type { Queue } from '../../jobs/queue.ts'
import type { DB } from '../../store/tables.ts'
import { KEEP_DAYS } from '../../mail-credentials/limits.ts'
import { extendCredentials } from '../../mail-credentials/mail-credentials.sql.ts'
import type { OpenTokens } from '../../mail-credentials/token-source.ts'
import { raiseResolved } from '../../alerts/raise.ts'
import { requireSecret } from '../mailbox-accounts.ts'
import { confirmedAlert } from '../messages.ts'
import { releaseDeletions } from '../run/copied-messages.sql.ts'
import { renewSides } from '../renew-sides.ts'
import {
  credentialsOf,
  findMigration,
  hasSecret,
  notifyMigration,
  saveSides,
} from '../migrations.sql.ts'
import { encryptSecrets, waitsForOwner } from '../submit-migration.ts'
import { endSync } from './end-sync.ts'
import { SYNC_LIMITS } from './limits.ts'
import type { MigrationSyncRequest } from './shapes.ts'
import { requestPass, saveSyncs } from './syncs.sql.ts'

export type SyncDeps = {
  db: Kysely<DB>
  queue: Queue
  secretKey: string
  openTokens: OpenTokens
  syncJob: Job
}

type Name = { workspaceId: string; id: string }

/**
 * Synchronizes a migration again and again, or changes how. The first pass is due at once, or when
 * the migration has ended.
 * @throws Fault `not_found`, `conflict` for a dry run and for a mailbox of a batch, `invalid_request`
 *   without passwords when they were deleted
 */
export async function setSync(
  { db, queue, secretKey, syncJob, openTokens }: SyncDeps,
  { workspaceId, id }: Name,
  { everyMinutes, deletions = 'record', source, destination }: MigrationSyncRequest,
): Promise<void> {
  const row = await findMigration(db, workspaceId, id)
  if (!row) throw new Fault('not_found', 'The migration was not found.')
  if (row.batchId !== null)
    throw new Fault('conflict', 'This migration is part of a batch. Synchronize the batch.')
  if (row.options.dryRun) throw new Fault('conflict', 'A dry run cannot be synchronized.')
  if ((source ?? destination) && waitsForOwner(row))
    throw new Fault('conflict', 'This migration waits for the owner of a mailbox to sign in.')
  const given = source || destination ? { source, destination } : null
  const renewed = given && (await renewSides(openTokens, row, given))
  const credentials = credentialsOf(renewed?.row ?? row)
  await db.transaction().execute(async (trx) => {
    if (renewed) await saveSides(trx, renewed.row, encryptSecrets(renewed.secrets, secretKey, id))
    else if (!(await hasSecret(trx, id))) requireSecret({}, 'source')
    await extendCredentials(trx, workspaceId, credentials, SYNC_LIMITS.days + KEEP_DAYS.used)
    await saveSyncs(trx, [id], { workspaceId, everyMinutes, deletions, nextAt: new Date() })
    await queue.enqueue(trx, syncJob, {})
    await notifyMigration(trx, workspaceId, id)
  })
}

/**
 * Confirms deletions that are held back. A pass that applies them is due at once.
 * @throws Fault `not_found`, `conflict` when none are held back
 */
export async function confirmDeletions(
  { db, queue, syncJob }: SyncDeps,
  { workspaceId, id }: Name,
): Promise<void> {
  const row = await findMigration(db, workspaceId, id)
  if (!row) throw new Fault('not_found', 'The migration was not found.')
  await db.transaction().execute(async (trx) => {
    const isSynchronized = row.sync !== null
    if (!isSynchronized || (await releaseDeletions(trx, id)) === 0)
      throw new Fault('conflict', 'No deletions are held back.')
    await requestPass(trx, id)
    await raiseResolved(trx, confirmedAlert(row))
    await queue.enqueue(trx, syncJob, {})
    await notifyMigration(trx, workspaceId, id)
  })
}

/**
 * Ends the synchronization of a migration.
 * @throws Fault `not_found`, `conflict` when it has none
 */
export async function stopSync({ db }: SyncDeps, { workspaceId, id }: Name): Promise<void> {
  const row = await findMigration(db, workspaceId, id)
  if (!row) throw new Fault('not_found', 'The migration was not found.')
  if (row.batchId !== null)
    throw new Fault('conflict', 'This migration is part of a batch. End the synchronization there.')
  if (!(await endSync(db, workspaceId, id)))
    throw new Fault('conflict', 'The migration is not synchronized.')
}
