import { defineJob, type Job } from '../../jobs/job.ts'
import { sendDueReports, type RelayDeps } from './send-due.ts'

/** Relays the reports that are due, every minute, in one instance at a time. */
export function relayReportsJob(deps: RelayDeps): Job {
  return defineJob({
    name: 'abuse.relays',
    schedule: '* * * * *',
    concurrency: 1,
    uniqueBy: () => 'all',
    deadline: 900,
    retry: { limit: 0 },
    run: (_data, { signal }) => sendDueReports(deps, signal),
  })
}
