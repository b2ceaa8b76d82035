/** Bytes of one mail or uploaded file: the largest real report is a few megabytes, compressed far less. */
export const DELIVERY_BYTES = 25 * 1024 * 1024

/** Files in one upload, parts of a form among them. */
export const UPLOAD_FILES = 100

/** Domains of one account. */
export const MOST_DOMAINS = 1_000

/** Mailboxes of one account: each is a connection every ten minutes. */
export const MOST_MAILBOXES = 20

/** Reports, or records, that are stored in one transaction: enough to share its cost, few enough to be done soon. */
export const BATCH_REPORTS = 100
export const BATCH_RECORDS = 20_000

/** Records that are kept, and shown, together. */
export const PART_RECORDS = 500

/** Signers' selectors taken from one report: more are not a mail server's. */
export const REPORT_SELECTORS = 100

/** A report on a longer time counts for the day on which it begins. */
export const LONGEST_SPREAD_DAYS = 31

/** Days that a summary may span: as long as reports are kept, and a margin. */
export const SUMMARY_DAYS = 800

/** Sources that a summary names; the rest is in its counts. */
export const SUMMARY_SOURCES = 500
export const SUMMARY_REPORTERS = 100

/** Records of one source from which its names are taken, the newest: enough for what holds now. */
export const SOURCE_RECORDS = 2_000

/** Milliseconds for what the DNS says about a domain while somebody waits for it. */
export const DNS_DEADLINE = 4_000

/** Days after which a domain whose proof has gone from the DNS counts as unproven. */
export const PROOF_GRACE_DAYS = 7
