import type { Kysely } from 'kysely'
import { defineJob, type Job } from '../../jobs/job.ts'
import type { DB } from '../../store/tables.ts'
import { startMailboxes, type StartDeps } from './schedule/start-mailboxes.ts'
import { finishBatch, listIdleBatches, notifyBatch } from './batches.sql.ts'

/**
 * The job that starts mailboxes of batches. It is enqueued when a mailbox is queued and when one
 * ends, and runs every minute for what was missed.
 */
export function batchSchedulerJob(deps: StartDeps): Job {
  return defineJob({
    name: 'migration.batches',
    uniqueBy: () => 'all',
    schedule: '* * * * *',
    deadline: 60,
    async run(_data, { enqueue }) {
      const started = await startMailboxes(deps, enqueue)
      // Idle batches can wait for a pass that starts nothing.
      if (started === 0) await finishIdleBatches(deps.db)
    },
  })
}

/** Passwords are not kept for batches that nobody uses. */
async function finishIdleBatches(db: Kysely<DB>): Promise<void> {
  for (const { id, workspaceId } of await listIdleBatches(db))
    await db.transaction().execute(async (trx) => {
      await finishBatch(trx, { workspaceId, id })
      await notifyBatch(trx, workspaceId, id)
    })
}
