import { HOUR_MS } from '../time.ts'

/** Time for which a test address receives mail. */
export const TEST_LIFETIME_MS = 24 * HOUR_MS

/** Time for which the mails themselves are stored. */
export const RAW_LIFETIME_MS = 24 * HOUR_MS

/** Days for which findings are stored. */
export const FINDINGS_DAYS = 7

/** Tests of an account that still receive mail. */
export const MAX_OPEN_TESTS = 5

export const MAX_MAILS_PER_TEST = 3
export const MAX_MAIL_BYTES = 10 * 1024 * 1024

/** A mail as JSON: in base64, with room for the other fields. */
export const MAX_RAW_BODY_BYTES = Math.ceil(MAX_MAIL_BYTES / 3) * 4 + 16 * 1024

/** Analyses at a time in one instance: each holds a mail of up to 10 MB, and its texts. */
export const MAX_CONCURRENT_ANALYSES = 8

/** Seconds after which an analysis that did not end is repeated, and how often. */
export const ANALYSIS_LEASE_SECONDS = 60
export const MAX_ATTEMPTS = 3

/** Milliseconds between two stores of findings that have become known. */
export const SAVE_INTERVAL_MS = 250

/** Milliseconds for each engine, and for what is known about the sender. */
export const ENGINE_TIMEOUT_MS = 8_000
