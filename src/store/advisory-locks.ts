import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'

/**
 * Keys of the PostgreSQL advisory locks that the service takes. They share one space in a database:
 * each purpose needs its own key, and a key must not change between versions that run side by side.
 */
export const ADVISORY_LOCKS = {
  /** One service on an embedded server; held in the database `postgres`. */
  embeddedOwner: 7_402_150,
  schemaMigration: 7_402_151,
  /** With the job’s name: one claim of a job at a time. */
  jobClaim: 7_402_152,
  listPublisher: 7_402_154,
  reportPartitions: 7_402_155,
  queueStart: 7_402_157,
  diskSpace: 7_402_158,
  /** With the account: one alert about blocklists at a time. */
  blocklistAlert: 7_402_161,
  /** With the recipient: one delisting request at a time. */
  delistingRecipient: 7_402_170,
  /** One instance at a time starts mailboxes of batches. */
  batchScheduling: 7_402_180,
  /** One writer of evidence for peers at a time. */
  federationJournal: 7_402_190,
  /** With the account: one creation of a mail test at a time. */
  mailTests: 7_402_200,
  outgoingMail: 7_301_509,
} as const

/** Milliseconds between two attempts to take a lock: half of it or more. */
const POLL_MS = 100

/**
 * Waits for an advisory lock of the session. It polls, because a statement that waits for the lock
 * holds a snapshot: `create index concurrently` of the one who has the lock would wait for it, and
 * PostgreSQL would end one of them with “deadlock detected”.
 */
export async function waitForAdvisoryLock(client: ClientBase, key: number): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ isOurs: boolean }>(
      'select pg_try_advisory_lock($1) as "isOurs"',
      [key],
    )
    if (rows[0]?.isOurs) return
    await sleep(POLL_MS * (0.5 + Math.random() / 2))
  }
}
