import { defineJob, type Job } from '../jobs/job.ts'
import type { Db } from '../store/database.ts'
import { deleteOldOutgoingMail } from '../store/outgoing-mail.ts'
import { deleteAttemptsBefore, deleteKnownNetworksBefore } from './attempts/store.ts'
import { KNOWN_NETWORK_DAYS } from './trusted-clients.ts'
import { BACKOFF } from './password-throttle.ts'
import { deleteAuditEntriesBefore, deleteExpired } from './store.ts'

/** Milliseconds for which it can be seen what administrators did: a year and some. */
const AUDIT_RETENTION_MS = 400 * 86_400_000

/** Every night: sessions and verifications that have expired, counters of sign-ins, and old entries of the audit go. */
export function cleanUpJob({ db }: { db: Db }): Job {
  return defineJob({
    name: 'accounts.clean-up',
    schedule: '17 3 * * *',
    async run(_data, { log }) {
      await deleteAuditEntriesBefore(db, new Date(Date.now() - AUDIT_RETENTION_MS))
      await deleteKnownNetworksBefore(db, KNOWN_NETWORK_DAYS)
      await deleteOldOutgoingMail(db)
      log.info(await deleteExpired(db), 'expired sessions and verifications deleted')
    },
  })
}

/** Every hour, because somebody who guesses at names leaves a row for each. */
export function deleteAttemptsJob({ db }: { db: Db }): Job {
  return defineJob({
    name: 'accounts.forget-attempts',
    schedule: '41 * * * *',
    async run() {
      await deleteAttemptsBefore(db, BACKOFF.forgottenAfterSeconds)
    },
  })
}
