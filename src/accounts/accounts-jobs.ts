import type { Kysely } from 'kysely'
import { defineJob, type Job } from '../jobs/job.ts'
import type { Db } from '../store/database.ts'
import { OUTGOING_MAIL_DAYS } from '../store/limits/outgoing-mail.ts'
import type { Retention } from '../store/retention.ts'
import type { DB } from '../store/tables.ts'
import { deleteExcessAuditEntries } from './audit/audit-log.sql.ts'
import { BACKOFF } from './sign-in/password-throttle.ts'
import { KNOWN_NETWORK_DAYS } from './sign-in/trusted-clients.ts'
import { deleteExpiredWorkspaces } from './workspaces/delete-expired.ts'
import { DAY_SECONDS, HOUR_SECONDS } from '../time.ts'

export const RETENTION: Retention[] = [
  { table: 'session', column: 'expires_at', days: 0 },
  { table: 'verification', column: 'expires_at', days: 0 },
  { table: 'used_secret', column: 'expires_at', days: 0 },
  { table: 'invitation', column: 'expires_at', days: 0 },
  // Until then, the list shows that they have expired.
  { table: 'api_token', column: 'expires_at', days: 30 },
  { table: 'known_network', column: 'last_used_at', days: KNOWN_NETWORK_DAYS },
  // Guessing leaves a row for each email address.
  {
    table: 'password_attempt',
    column: 'last_failed_at',
    days: BACKOFF.forgottenAfterSeconds / DAY_SECONDS,
  },
  { table: 'auth_rate_limit', column: 'last_request', days: 1, isNumber: true },
  // A full bucket is the same as none.
  { table: 'account_rate', column: 'full_at', days: 0 },
  { table: 'outgoing_mail', column: 'sent_at', days: OUTGOING_MAIL_DAYS },
  { table: 'audit_entry', column: 'at', days: 400 },
]

/**
 * Entries that are kept of one workspace, about 50 MB. Only a program that makes hundreds of changes
 * a day reaches it.
 */
const MAX_WORKSPACE_ENTRIES = 100_000

/** Deletes audit entries beyond the number that is kept, every night. */
export function cleanUpAccountsJob({ db }: { db: Db }): Job {
  return defineJob({
    name: 'accounts.clean-up',
    schedule: '17 3 * * *',
    run: () => deleteExcessAuditEntries(db, MAX_WORKSPACE_ENTRIES),
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
