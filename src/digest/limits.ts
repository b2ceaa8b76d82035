import type { MailLimits } from '../store/limits/outgoing-mail.ts'
import { DAY_MS, DAY_SECONDS, HOUR_MS, HOUR_SECONDS, MINUTE_MS, SECOND_MS } from '../time.ts'

/** Rows of one section. Further ones are counted, with a link to the dashboard. */
export const MAX_ROWS = 50

/**
 * Rows of all sections, and of each section beyond that: Gmail cuts off messages of more than 102 kB,
 * and with them the link to unsubscribe.
 */
export const MAX_TOTAL_ROWS = 100
export const MIN_SECTION_ROWS = 3

/** Open problems that are read: their objects are not shown twice. */
export const MAX_OPEN_PROBLEMS = 1_000

/** Changed sources shown for one DMARC domain. */
export const MAX_SOURCES_PER_DOMAIN = 3

/** Messages from a source below which it does not count as one that began to fail. */
export const MIN_FAILING_MESSAGES = 10

/** Days for which a source must have been unknown to count as new. */
export const UNKNOWN_SOURCE_DAYS = 400

/** Days that DMARC results and attack reports are summed over: single days are noise. */
export const COMPARED_DAYS = 7

/** Percentage points below which a pass rate counts as unchanged. */
export const STEADY_POINTS = 1

/** DMARC reports arrived on this many of 14 days, then none for this many days. */
export const SILENCE = { reportDays: 10, silentDays: 3, forgottenDays: 90 }

/** Milliseconds ahead for which expiring certificates and tokens are shown. */
export const EXPIRY_AHEAD_MS = 30 * DAY_MS

/** Milliseconds that a digest covers at most, after downtime or a change of its schedule. */
export const MAX_PERIOD_MS = 31 * DAY_MS

/** Milliseconds over which digests that are due at the same time are spread. */
export const SPREAD_MS = 4 * MINUTE_MS

/** Milliseconds for one query of a digest, which holds one database connection. */
export const QUERY_TIMEOUT_MS = 10 * SECOND_MS

/** Milliseconds for an email with all commands of the relay, and for a test. */
export const MAIL_DEADLINE_MS = 2 * MINUTE_MS
export const TEST_DEADLINE_MS = 30 * SECOND_MS

/** Seconds for which a digest is claimed: longer than its queries and its email take. */
export const LEASE_SECONDS = 600

/** Digests that are enqueued in one run, and sent at once over all instances. */
export const SWEEP_BATCH = 500
export const PARALLEL_DIGESTS = 4

/** Milliseconds before each retry after a temporary error of the relay. */
export const RETRY_DELAYS_MS = [5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 2 * HOUR_MS]

/** Tests go to the member’s own address. */
export const TEST_MAIL_LIMITS: MailLimits = {
  recipient: { count: 10, seconds: HOUR_SECONDS },
  sender: { count: 30, seconds: HOUR_SECONDS },
  installation: { count: 1_000, seconds: HOUR_SECONDS },
}

/**
 * Digests count against limits, too: a member of many workspaces must not make the relay’s operator
 * look like a spammer.
 */
export const DIGEST_MAIL_LIMITS: MailLimits = {
  recipient: { count: 100, seconds: DAY_SECONDS },
  sender: { count: 1_000, seconds: DAY_SECONDS },
  installation: { count: 20_000, seconds: HOUR_SECONDS },
}
