import { defineJob, type Job } from '../jobs/job.ts'
import type { Db } from '../store/database.ts'
import { deleteExpiredShares } from './store.ts'

/** Every night: shared results that have expired go. */
export function cleanUpSharedChecksJob({ db }: { db: Db }): Job {
  return defineJob({
    name: 'diagnostics.clean-up',
    schedule: '41 3 * * *',
    async run(_data, { log }) {
      log.info({ deleted: await deleteExpiredShares(db) }, 'expired shared results deleted')
    },
  })
}
