import type { Kysely } from 'kysely'
import { defineSweep, type Enqueue, type Job } from '../../jobs/job.ts'
import type { DB } from '../../store/tables.ts'
import { MAX_ATTEMPTS, MAX_CONCURRENT_ANALYSES } from '../limits.ts'
import { claimAnalyses, listWaitingWorkspaces, saveAnalysis } from './mail-tests.sql.ts'
import type { Analyzer } from './run-analysis.ts'

/** Repeats analyses that ended with their instance, every minute. */
export function recoverAnalysesJob({ db, analyzer }: { db: Kysely<DB>; analyzer: Analyzer }): Job {
  return defineSweep({
    name: 'mail-tests.recover',
    schedule: '* * * * *',
    async run(_data, { signal, inWorkspace, log }) {
      for (const { attempts, ...mail } of await claimAnalyses(db, MAX_CONCURRENT_ANALYSES)) {
        if (signal.aborted) return
        // A mail that ended its instance twice would end each.
        if (attempts > MAX_ATTEMPTS) await saveAnalysis(db, mail.id, mail, 'failed')
        else await inWorkspace(mail.workspaceId, (own) => analyzer.run(mail, own))
        log.info({ mail: mail.id, attempts }, 'analysis of a mail repeated')
      }
    },
  })
}

export type ReadMailboxes = (db: Kysely<DB>, workspaceId: string, enqueue: Enqueue) => Promise<void>

/** Reads the report mailboxes of workspaces whose tests wait for a mail, every minute. */
export function pickUpJob({
  db,
  readMailboxes,
}: {
  db: Kysely<DB>
  readMailboxes: ReadMailboxes
}): Job {
  return defineSweep({
    name: 'mail-tests.pick-up',
    schedule: '* * * * *',
    async run(_data, { enqueue, signal }) {
      for (const workspaceId of await listWaitingWorkspaces(db)) {
        if (signal.aborted) return
        await readMailboxes(db, workspaceId, enqueue)
      }
    },
  })
}
