import { defineJob, type Job } from '../jobs/job.ts'
import type { Db } from '../store/database.ts'
import { deleteExpired } from './store.ts'

/** Every night: sessions and verifications that have expired, and counters of sign-ins, go. */
export function cleanUpJob({ db }: { db: Db }): Job {
  return defineJob({
    name: 'accounts.clean-up',
    schedule: '17 3 * * *',
    async run(_data, { log }) {
      log.info(await deleteExpired(db), 'expired sessions and verifications deleted')
    },
  })
}
