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
  outgoingMail: 7_301_509,
} as const
