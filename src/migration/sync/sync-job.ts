import { defineJob, type Job } from '../../jobs/job.ts'
import { expireBatchSyncs, notifyBatch } from '../batches/batches.sql.ts'
import { SECOND_MS } from '../../time.ts'
import { endSync } from './end-sync.ts'
import { checkDueMailboxes, type CheckDeps } from './checks/check-mailboxes.ts'
import { listExpired } from './syncs.sql.ts'

/** Seconds of one run. The next one continues. */
const DEADLINE_SECONDS = 600
const CLAIMS_SECONDS = 540

/**
 * The job of standing synchronizations: one instance at a time checks the mailboxes that are due,
 * every minute and whenever a synchronization starts.
 */
export function syncJob(deps: CheckDeps): Job {
  return defineJob({
    name: 'migration.sync',
    concurrency: 1,
    uniqueBy: () => 'all',
    schedule: '* * * * *',
    deadline: DEADLINE_SECONDS,
    async run(_data, { enqueue, inWorkspace, log, signal }) {
      for (const { migrationId, workspaceId, batchId } of await listExpired(deps.db)) {
        await endSync(deps.db, workspaceId, migrationId)
        if (batchId !== null) await notifyBatch(deps.db, workspaceId, batchId)
      }
      await expireBatchSyncs(deps.db)
      const until = performance.now() + CLAIMS_SECONDS * SECOND_MS
      await checkDueMailboxes(deps, { enqueue, inWorkspace, log, signal, until })
    },
  })
}
