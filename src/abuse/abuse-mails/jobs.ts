import { defineJob, type Job } from '../../jobs/job.ts'
import { mailReports, type AbuseMailDeps } from './send-mails.ts'

/** Prepares and sends abuse emails, in one instance at a time. */
export function mailReportsJob(deps: AbuseMailDeps): Job {
  return defineJob({
    name: 'abuse.mails',
    schedule: '*/10 * * * *',
    concurrency: 1,
    uniqueBy: () => 'all',
    deadline: 900,
    retry: { limit: 0 },
    run: (_data, { signal }) => mailReports(deps, signal),
  })
}
