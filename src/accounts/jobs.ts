import { defineJob, type Job } from '../jobs/job.ts'
import type { Db } from '../store/database.ts'
import { deleteAuditEntriesBefore, deleteExpired } from './store.ts'

/** Milliseconds for which it can be seen what administrators did: a year and some. */
const AUDIT_KEPT = 400 * 86_400_000

/** Every night: sessions and verifications that have expired, counters of sign-ins, and old entries of the audit go. */
export function cleanUpJob({ db }: { db: Db }): Job {
  return defineJob({
    name: 'accounts.clean-up',
    schedule: '17 3 * * *',
    async run(_data, { log }) {
      await deleteAuditEntriesBefore(db, new Date(Date.now() - AUDIT_KEPT))
      log.info(await deleteExpired(db), 'expired sessions and verifications deleted')
    },
  })
}
