import { defineSweep, type Job } from '../../jobs/job.ts'
import { readBounces, type BounceDeps } from './bounces/read-bounces.ts'
import { mailReports, type AbuseMailDeps } from './send-mails.ts'

/** Prepares and sends abuse emails, in one instance at a time. */
export function mailReportsJob(deps: AbuseMailDeps): Job {
  return defineSweep({
    name: 'abuse.mails',
    schedule: '*/10 * * * *',
    run: (_data, context) => mailReports(deps, context),
  })
}

/** Reads bounced abuse emails, in one instance at a time. */
export function readBouncesJob(deps: BounceDeps): Job {
  return defineSweep({
    name: 'abuse.bounces',
    schedule: '*/5 * * * *',
    deadline: 240,
    run: (_data, { signal }) => readBounces(deps, signal),
  })
}
