/** Limits of batches of migrations. */
export const BATCH_LIMITS = {
  /** Lines of one batch, over all files that were added. */
  maxMailboxes: 5_000,
  /** Batches of a workspace that are not finished. */
  maxOpenBatches: 50,
  /** Bytes of a file; a line has some 150. */
  maxFileBytes: 2 * 1024 * 1024,
  /** Characters of one line. */
  maxLineChars: 20_000,
  maxColumns: 50,
  /** Rejected sign-ins in a row after which a host’s unverified mailboxes wait. */
  maxRejections: 3,
  /** Mailboxes that one pass of the scheduler starts. */
  maxStartsPerPass: 100,
  /**
   * Mailboxes of an account that have a place in the queue of migrations, per slot: enough to keep
   * all slots in use, few enough that a single migration does not wait for a whole batch.
   */
  startedPerSlot: 2,
  /** Days without an action or a result after which a batch ends and its passwords are deleted. */
  idleDays: 60,
} as const

/** Mailboxes at once at a host, unless a batch sets its own. */
export const DEFAULT_HOST_LIMIT = 10
export const MAX_HOST_LIMIT = 50
