import type { Kysely, Transaction } from 'kysely'
import { defineJob, type Job } from '../../jobs/job.ts'
import type { Queue } from '../../jobs/queue.ts'
import type { DB } from '../../store/tables.ts'
import { failAbandoned, resumeMigration } from '../store.ts'
import type { MigrationData } from '../submit.ts'
import { listAbandoned, listWaitingFor } from './store.ts'

/** Queues the migrations that waited for a credential, in the transaction that renews it. */
export async function resumeAfterConsent(
  trx: Transaction<DB>,
  { workspaceId, credentialId }: { workspaceId: string; credentialId: string },
  { queue, job }: { queue: Queue; job: Job<MigrationData> },
): Promise<void> {
  for (const migrationId of await listWaitingFor(trx, workspaceId, credentialId)) {
    await resumeMigration(trx, workspaceId, migrationId)
    await queue.enqueue(trx, job, { migrationId, workspaceId })
  }
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
