import type { Kysely } from 'kysely'
import { defineJob, type Job } from '../jobs/job.ts'
import type { Db } from '../store/database.ts'
import type { DB } from '../store/tables.ts'
import { deleteOldOutgoingMail } from '../store/limits/outgoing-mail.ts'
import { deleteAttemptsBefore, deleteKnownNetworksBefore } from './attempts/store.ts'
import { KNOWN_NETWORK_DAYS } from './sign-in/trusted-clients.ts'
import { BACKOFF } from './sign-in/password-throttle.ts'
import { deleteAuditEntriesBefore, deleteExcessAuditEntries } from './audit/store.ts'
import { deleteExpiredSessions } from './store.ts'
import { deleteTokensExpiredFor } from './tokens/store.ts'
import { deleteExpiredSecrets } from './secrets/store.ts'
import { deleteExpiredWorkspaces } from './workspaces/delete-expired.ts'
import { deleteExpiredInvitations } from './workspaces/invitations/store.ts'
import { DAY_MS, HOUR_SECONDS } from '../time.ts'

/** How long audit entries are kept: 400 days. */
const AUDIT_RETENTION_MS = 400 * DAY_MS

/**
 * Entries that are kept of one workspace, about 50 MB. Only a program that makes hundreds of changes
 * a day reaches it.
 */
export const MAX_WORKSPACE_ENTRIES = 100_000

/** How long the list shows tokens that have expired. */
const EXPIRED_TOKEN_DAYS = 30

/** Deletes expired sessions, verifications, tokens, sign-in counters and audit entries every night. */
export function cleanUpAccountsJob({ db }: { db: Db }): Job {
  return defineJob({
    name: 'accounts.clean-up',
    schedule: '17 3 * * *',
    async run(_data, { log }) {
      await deleteAuditEntriesBefore(db, new Date(Date.now() - AUDIT_RETENTION_MS))
      await deleteExcessAuditEntries(db, MAX_WORKSPACE_ENTRIES)
      await deleteTokensExpiredFor(db, EXPIRED_TOKEN_DAYS)
      await deleteKnownNetworksBefore(db, KNOWN_NETWORK_DAYS)
      await deleteOldOutgoingMail(db)
      await deleteExpiredSecrets(db)
      await deleteExpiredInvitations(db)
      log.info(await deleteExpiredSessions(db), 'expired sessions and verifications deleted')
    },
  })
}

/** Deletes workspaces whose owners did not restore them in time. One instance does it at a time. */
export function deleteWorkspacesJob({ db }: { db: Kysely<DB> }): Job {
  return defineJob({
    name: 'accounts.delete-workspaces',
    schedule: '29 * * * *',
    concurrency: 1,
    deadline: 6 * HOUR_SECONDS,
    run: (_data, { signal, log }) => deleteExpiredWorkspaces(db, { signal, log }),
  })
}

/**
 * Deletes expired sign-in attempts every hour, because guessing leaves a row for each email
 * address.
 */
export function deleteAttemptsJob({ db }: { db: Db }): Job {
  return defineJob({
    name: 'accounts.forget-attempts',
    schedule: '41 * * * *',
    async run() {
      await deleteAttemptsBefore(db, BACKOFF.forgottenAfterSeconds)
    },
  })
}
