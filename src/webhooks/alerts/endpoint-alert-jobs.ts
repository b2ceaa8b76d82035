import type { Kysely } from 'kysely'
import { defineJob, type Job } from '../../jobs/job.ts'
import type { DB } from '../../store/tables.ts'
import { watchEndpoints } from './watch-endpoints.ts'

/** Evaluates the alerts of webhook endpoints every minute. */
export function webhookAlertJob(deps: { db: Kysely<DB>; secretKey: string }): Job {
  return defineJob({
    name: 'webhooks.alerts',
    schedule: '* * * * *',
    concurrency: 1,
    run: (_data, { signal, log }) => watchEndpoints({ ...deps, log }, signal),
  })
}
