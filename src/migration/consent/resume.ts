import type { Kysely, Transaction } from 'kysely'
import { raiseResolved } from '../../alerts/raise.ts'
import { defineJob, type Enqueue, type Job } from '../../jobs/job.ts'
import type { DB } from '../../store/tables.ts'
import { notifyBatch } from '../batches/batches.sql.ts'
import { queueWaitingMailboxes } from '../batches/batch-progress.sql.ts'
import { correctedAlert } from './consent-alerts.ts'
import { failAbandoned, resumeMigration } from '../migrations.sql.ts'
import type { MigrationData } from '../submit-migration.ts'
import { listAbandoned, listWaitingFor } from './migration-consents.sql.ts'

/** Queues the migrations that waited for a credential, in the transaction that renews it. */
export async function resumeAfterConsent(
  trx: Transaction<DB>,
  { workspaceId, credentialId }: { workspaceId: string; credentialId: string },
  { enqueue, job, scheduler }: { enqueue: Enqueue; job: Job<MigrationData>; scheduler: Job },
): Promise<void> {
  for (const migrationId of await listWaitingFor(trx, workspaceId, credentialId)) {
    await resumeMigration(trx, workspaceId, migrationId)
    await enqueue(trx, job, { migrationId, workspaceId })
  }
  const batches = await queueWaitingMailboxes(trx, workspaceId, credentialId)
  for (const id of batches) await notifyBatch(trx, workspaceId, id)
  if (batches.length > 0) await enqueue(trx, scheduler, {})
  await raiseResolved(trx, correctedAlert({ workspaceId, credentialId }))
}

/**
 * Fails migrations for which nobody has signed in again before the credential was deleted, and
 * deletes their secrets.
 */
export function abandonedMigrationsJob({ db }: { db: Kysely<DB> }): Job {
  return defineJob({
    name: 'migration.abandoned',
    schedule: '37 * * * *',
    async run() {
      for (const { id, workspaceId } of await listAbandoned(db))
        await db.transaction().execute((trx) => failAbandoned(trx, workspaceId, id))
    },
  })
}
