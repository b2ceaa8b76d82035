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

/** Days for which statistics of providers are stored. */
export const STATISTICS_DAYS = 400

/** Workspaces whose statistics are fetched at a time, and seconds until another instance repeats one. */
export const STATISTICS_BATCH = 20
export const PARALLEL_STATISTICS = 4
export const STATISTICS_LEASE_SECONDS = 30 * MINUTE_SECONDS

/** Seconds between two fetches: Google adds a day at a time, and Microsoft shows the latest one. */
export const POSTMASTER_INTERVAL_SECONDS = DAY_SECONDS
export const SNDS_INTERVAL_SECONDS = DAY_SECONDS / 2

/** Seconds until a fetch that failed is repeated: doubled from the first to the last. */
export const STATISTICS_RETRY_SECONDS = { first: 15 * MINUTE_SECONDS, last: DAY_SECONDS / 4 }

/** Days of failures after which there is an alert. */
export const FAILING_DAYS = 2

/** Domains of a workspace that Google is asked about, and milliseconds and bytes of an answer. */
export const MAX_POSTMASTER_DOMAINS = 200
export const POSTMASTER_TIMEOUT_MS = 20_000
export const MAX_POSTMASTER_BYTES = 2 * 1024 * 1024
export const MAX_POSTMASTER_PAGES = 20

/** Days that are fetched first, and later: some change or come late. */
export const POSTMASTER_FIRST_DAYS = 90
export const POSTMASTER_DAYS = 14

/** Days within which the latest statistics count for an alert. */
export const RECENT_STATISTICS_DAYS = 7

/** Days that Microsoft is asked about first, and later, as far as they are not stored yet. */
export const SNDS_FIRST_DAYS = 14
export const SNDS_DAYS = 7

export const SNDS_TIMEOUT_MS = 30_000
export const MAX_SNDS_BYTES = 20 * 1024 * 1024
export const MAX_SNDS_BLOCKS = 1_000

/** Days for which the links of SNDS work, and days before their end with an alert. */
export const SNDS_LINK_DAYS = 30
export const SNDS_LINK_WARNING_DAYS = 5

/** Days without use after which Microsoft ends a sign-in, and days before with an alert. */
export const SNDS_SIGN_IN_DAYS = 90
export const SNDS_SIGN_IN_WARNING_DAYS = 10

/** Months after which the access to SNDS must be approved again, and days before with an alert. */
export const SNDS_APPROVAL_MONTHS = 10
export const SNDS_APPROVAL_WARNING_DAYS = 30

/** Addresses of a domain that are looked for in SNDS. */
export const MAX_DOMAIN_ADDRESSES = 500
