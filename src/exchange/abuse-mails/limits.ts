import { DAY_MS, HOUR_MS, MINUTE_MS, MINUTE_SECONDS, SECOND_MS } from '../../time.ts'

/** Addresses of one day that a workspace mails about; further ones are left out. */
export const MAX_ADDRESSES = 2_000
/** Addresses that have a part of their own in an email; the text names the others. */
export const MAX_PARTS = 50
export const MAILS_A_DAY = {
  /** Of one account. */
  account: 100,
  /** To one recipient, of all workspaces together. */
  recipient: 10,
} as const
export const RETRY_DELAYS_MS = [10 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS]
export const SEND_TIMEOUT_MS = 30 * SECOND_MS
/** Seconds for which a sender claims an email: longer than sending can take. */
export const LEASE_SECONDS = 2 * MINUTE_SECONDS
/** For how long a recipient gets no email after one that its server rejected for good. */
export const BOUNCE_DAYS = 90
/** Bytes of a bounce, which may contain the whole email. */
export const MAX_BOUNCE_BYTES = 1024 * 1024
/** Registries ask for no more than about one query a second. */
export const LOOKUP_SPACING_MS = SECOND_MS
export const LOOKUPS_PER_RUN = 300
/** Failures after which the registries get a rest until the next run. */
export const MAX_FAILED_LOOKUPS = 10
export const LOOKUP_TIMEOUT_MS = 10 * SECOND_MS
export const CONTACT_LIFETIME_MS = 7 * DAY_MS
/** Reports whose network could not be found are given up after this time. */
export const REPORT_LIFETIME_MS = 3 * DAY_MS
/** Emails and what they were about are kept for this time. */
export const RETENTION_MS = 30 * DAY_MS
