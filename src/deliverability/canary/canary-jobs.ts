import { defineSweep, type InWorkspace, type Job } from '../../jobs/job.ts'
import { WorkspaceDeleted } from '../../jobs/workspace-guard.ts'
import { CANARY_BATCH, PARALLEL_CANARIES } from '../limits.ts'
import { claimCanaries, claimResults } from './canary.sql.ts'
import { checkResult } from './check-result.ts'
import { runCanary } from './run-canary.ts'
import type { CanaryDeps } from './sign-ins.ts'

/** Sends the mails of canaries that are due, every minute. */
export function sendCanariesJob(deps: CanaryDeps): Job {
  return defineSweep({
    name: 'deliverability.send-canaries',
    schedule: '* * * * *',
    async run(_data, { signal, inWorkspace }) {
      const due = await claimCanaries(deps.db, CANARY_BATCH)
      await eachOf(due, inWorkspace, signal, (row, own) => runCanary(deps, row, own))
    },
  })
}

/** Looks for the mails of canaries in the mailboxes of their seeds, every minute. */
export function checkCanariesJob(deps: CanaryDeps): Job {
  return defineSweep({
    name: 'deliverability.check-canaries',
    schedule: '* * * * *',
    async run(_data, { signal, inWorkspace }) {
      const due = await claimResults(deps.db, CANARY_BATCH)
      await eachOf(due, inWorkspace, signal, (row, own) => checkResult(deps, row, own))
    },
  })
}

/** Works on rows a few at a time. What is interrupted is repeated when its lease is over. */
async function eachOf<Row extends { workspaceId: string }>(
  rows: readonly Row[],
  inWorkspace: InWorkspace,
  signal: AbortSignal,
  work: (row: Row, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const waiting = rows.values()
  await Promise.all(
    Array.from({ length: PARALLEL_CANARIES }, async () => {
      for (const row of waiting) {
        if (signal.aborted) return
        try {
          await inWorkspace(row.workspaceId, (own) => work(row, own))
        } catch (error) {
          if (!(error instanceof WorkspaceDeleted) && !signal.aborted) throw error
        }
      }
    }),
  )
}
