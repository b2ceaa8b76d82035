import { DAY_SECONDS, HOUR_MS, MINUTE_SECONDS } from '../time.ts'

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

/** Complaints that an account receives in a day; beyond, the senders’ servers repeat them later. */
export const COMPLAINT_RATE = { requests: 20_000, windowSeconds: DAY_SECONDS }

/** Days for which complaints are stored. */
export const COMPLAINT_DAYS = 400

/** Days that a summary of complaints can cover, and rows of each of its groups. */
export const MAX_SUMMARY_DAYS = 90
export const MAX_GROUP_ROWS = 50

/** Milliseconds for the DNS queries that authenticate a complaint, while its sender waits. */
export const COMPLAINT_DNS_MS = 10_000

/** Spam rates from which receivers act on mail (Google Email sender guidelines). */
export const RAISED_SPAM_RATE = 0.001
export const HIGH_SPAM_RATE = 0.003

/** Complaints below which a rate says nothing. */
export const MIN_RATED_COMPLAINTS = 3

/** Known days of which a complaint rate is made, and how far back they may be. */
export const RATED_DAYS = 7
export const RATED_WITHIN_DAYS = 14

/** Days without data after which an alert about a spam rate ends. */
export const SPAM_RATE_FORGET_DAYS = 30

/** Canaries of a workspace, and the seeds of each. */
export const MAX_CANARIES = 5
export const MAX_SEEDS = 10

/** Hours between two runs of a canary. */
export const CANARY_HOURS = [3, 4, 6, 8, 12, 24] as const

/** Minutes by which a run is earlier or later, so that mails look less automated. */
export const CANARY_JITTER_MINUTES = 10

/** The longest time until a run of a canary, or a look for its mail. */
export const CANARY_LONGEST_SECONDS = DAY_SECONDS + CANARY_JITTER_MINUTES * MINUTE_SECONDS

/** Minutes after the submission at which a mail is looked for; after the last one it is missing. */
export const CANARY_CHECK_MINUTES = [1, 2, 5, 10, 20, 40, 60] as const

/** Minutes from which on folders besides inbox and junk are searched, too. */
export const SEARCH_EVERYWHERE_MINUTES = 10

/** Seconds of delivery from which a mail is late. */
export const LATE_SECONDS = 600

/** Canaries and mails in work at a time, and seconds until another instance repeats them. */
export const PARALLEL_CANARIES = 4
export const CANARY_BATCH = 40
export const CANARY_LEASE_SECONDS = 300

/** Milliseconds for one submission or one look into a mailbox. */
export const CANARY_TIMEOUT_MS = 60_000

/** Days for which results are stored, and from which the usual share of bad ones is made. */
export const CANARY_RESULT_DAYS = 400
export const BASELINE_DAYS = 90
