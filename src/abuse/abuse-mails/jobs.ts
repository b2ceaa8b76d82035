import { defineJob, type Job } from '../../jobs/job.ts'
import { readBounces, type BounceDeps } from './bounces/read-bounces.ts'
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
    run: (_data, context) => mailReports(deps, context),
  })
}

/** Reads bounced abuse emails, in one instance at a time. */
export function readBouncesJob(deps: BounceDeps): Job {
  return defineJob({
    name: 'abuse.bounces',
    schedule: '*/5 * * * *',
    concurrency: 1,
    uniqueBy: () => 'all',
    deadline: 240,
    retry: { limit: 0 },
    run: (_data, { signal }) => readBounces(deps, signal),
  })
}
