import { DAY_MS, HOUR_MS, MINUTE_MS, MINUTE_SECONDS } from '../../time.ts'

/** Reports that wait for one service of a workspace; further ones are dropped and counted. */
export const MAX_WAITING = 10_000
/** Reports are given up after this time, because they are no longer news. */
export const MAX_AGE_MS = 2 * DAY_MS
/** Reports that were sent or rejected are kept for this time. */
export const RETENTION_MS = 30 * DAY_MS
/** Pauses after failures, the last one again and again. */
export const RETRY_DELAYS_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 6 * HOUR_MS]
/** Limits of the pause that a service asks for. */
export const MAX_PAUSE_MS = DAY_MS
/** Time for one request or email to a service. */
export const SEND_TIMEOUT_MS = 20_000
/** Longer than sending can take. */
export const LEASE_SECONDS = 2 * MINUTE_SECONDS
/** Services of workspaces that are sent to at once. */
export const CONCURRENCY = 8
