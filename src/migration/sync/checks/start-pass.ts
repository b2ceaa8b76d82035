import type { Kysely } from 'kysely'
import type { Enqueue, Job } from '../../../jobs/job.ts'
import type { DB } from '../../../store/tables.ts'
import { queueMailboxes } from '../../batches/batch-progress.sql.ts'
import { requeueForPass } from '../../migrations.sql.ts'
import type { MigrationData } from '../../submit-migration.ts'
import { markPassStarted } from '../syncs.sql.ts'
import type { DueMailbox } from './sync-checks.sql.ts'

type StartDeps = { db: Kysely<DB>; job: Job<MigrationData>; batchScheduler: Job }

/**
 * Queues a migration for a pass: a single one in the queue of migrations, the mailbox of a batch in
 * that of its batch, with its limits.
 */
export async function startPass(
  {
    migrationId,
    workspaceId,
    batchId,
    mailboxId,
  }: Pick<DueMailbox, 'migrationId' | 'workspaceId' | 'batchId' | 'mailboxId'>,
  { db, job, batchScheduler }: StartDeps,
  enqueue: Enqueue,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await markPassStarted(trx, migrationId)
    if (batchId !== null && mailboxId !== null) {
      const states = ['in_sync', 'needs_attention'] as const
      await queueMailboxes(trx, batchId, states, 'sync', { ids: [mailboxId] })
      await enqueue(trx, batchScheduler, {})
    } else if (await requeueForPass(trx, workspaceId, migrationId))
      await enqueue(trx, job, { migrationId, workspaceId })
  })
}
