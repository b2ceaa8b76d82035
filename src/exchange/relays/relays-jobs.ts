import { defineSweep, type Job } from '../../jobs/job.ts'
import { sendDueReports, type RelayDeps } from './send-due.ts'

/** Relays the reports that are due, every minute, in one instance at a time. */
export function relayReportsJob(deps: RelayDeps): Job {
  return defineSweep({
    name: 'abuse.relays',
    schedule: '* * * * *',
    run: (_data, { signal }) => sendDueReports(deps, signal),
  })
}
