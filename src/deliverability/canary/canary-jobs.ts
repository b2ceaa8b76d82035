import { eachInWorkspace } from '../../jobs/each-in-workspace.ts'
import { defineSweep, type Job } from '../../jobs/job.ts'
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
    async run(_data, context) {
      const due = await claimCanaries(deps.db, CANARY_BATCH)
      await eachInWorkspace(due, PARALLEL_CANARIES, context, (row, own) =>
        runCanary(deps, row, own),
      )
    },
  })
}

/** Looks for the mails of canaries in the mailboxes of their seeds, every minute. */
export function checkCanariesJob(deps: CanaryDeps): Job {
  return defineSweep({
    name: 'deliverability.check-canaries',
    schedule: '* * * * *',
    async run(_data, context) {
      const due = await claimResults(deps.db, CANARY_BATCH)
      await eachInWorkspace(due, PARALLEL_CANARIES, context, (row, own) =>
        checkResult(deps, row, own),
      )
    },
  })
}
