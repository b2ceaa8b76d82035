/** Limits of standing synchronizations. */
export const SYNC_LIMITS = {
  minMinutes: 5,
  maxMinutes: 7 * 24 * 60,
  /** Days after which a synchronization ends, unless it is set again: passwords are not kept for ever. */
  days: 90,
  /** Mailboxes that are checked at once, in one instance at a time. */
  checksAtOnce: 16,
  /** Mailboxes of single migrations at one source host that are checked at once. */
  checksPerHost: 10,
  /** Time for one check. */
  checkMs: 30_000,
  /** How long a claimed check is kept from others when its instance has died. */
  leaseSeconds: 120,
  /** Checks in a row that could not reach the source, after which a whole pass reports why. */
  maxFailedChecks: 3,
  /** Passes with changes that are kept for a mailbox. */
  passesKept: 100,
} as const
