import { defineJob, type Job } from '../jobs/job.ts'
import type { Db } from '../store/database.ts'
import { deleteOldConsents } from './consent/store.ts'
import { deleteExpiredCredentials } from './store.ts'

/** Deletes credentials that are no longer needed, and ended sign-ins, every hour. */
export function cleanUpCredentialsJob({ db }: { db: Db }): Job {
  return defineJob({
    name: 'mail-credentials.clean-up',
    schedule: '23 * * * *',
    async run(_data, { log }) {
      await deleteOldConsents(db)
      const deleted = await deleteExpiredCredentials(db)
      if (deleted > 0)
        log.info({ deleted }, 'sign-ins to mailboxes that were no longer used deleted')
    },
  })
}
