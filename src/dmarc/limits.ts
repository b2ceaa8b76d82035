/** Bytes of one mail or uploaded file: the largest real report is a few megabytes, compressed far less. */
export const MAX_DELIVERY_BYTES = 25 * 1024 * 1024

/** Files in one upload, parts of a form among them. */
export const MAX_UPLOAD_FILES = 100

/** Domains of one account. */
export const MAX_DOMAINS = 1_000

/** Mailboxes of one account: each is a connection every ten minutes. */
export const MAX_MAILBOXES = 20

/** Mailboxes read at once over all instances; accounts share them. */
export const MAX_CONCURRENT_MAILBOXES = 8

/** Milliseconds for one look into a mailbox: what it leaves is read at the next. */
export const MAILBOX_TIMEOUT_MS = 5 * 60_000

/** Reports, or records, that are stored in one transaction: enough to share its cost, few enough to be done soon. */
export const BATCH_REPORTS = 100
export const BATCH_RECORDS = 20_000

/** Records that are kept, and shown, together. */
export const RECORDS_PER_PART = 500

/** Signers' selectors taken from one report: more are not a mail server's. */
export const MAX_REPORT_SELECTORS = 100

/** A report on a longer time counts for the day on which it begins. */
export const MAX_SPREAD_DAYS = 31

/** Days that a summary may span: as long as reports are kept, and a margin. */
export const MAX_SUMMARY_DAYS = 800

/** Sources that a summary names; the rest is in its counts. */
export const MAX_SUMMARY_SOURCES = 500
export const MAX_SUMMARY_REPORTERS = 100

/** Records of one source from which its names are taken, the newest: enough for what holds now. */
export const MAX_SOURCE_RECORDS = 2_000

/** Milliseconds for what the DNS says about a domain while somebody waits for it. */
export const DNS_TIMEOUT_MS = 4_000

/** Days after which a domain whose proof has gone from the DNS counts as unproven. */
export const PROOF_GRACE_DAYS = 7

/** Mails of an mbox that an upload may hold; `import-reports` takes any number. */
export const MAX_MBOX_MAILS = 1_000

/** What was not taken is listed with a sample: so many of one mail or upload, of one address and of one account in a day. */
export const MAX_SAMPLES_PER_DELIVERY = 20
export const MAX_SAMPLES_PER_ADDRESS_DAY = 50
export const MAX_SAMPLES_PER_ACCOUNT_DAY = 1_000

/** Bytes of a mail or file that are kept when nothing of it was stored. */
export const MAX_SAMPLE_BYTES = 64 * 1024

/** Days for which it is known what came in on each. */
export const USAGE_RETENTION_DAYS = 7

const GIB = 1024 ** 3

/** What one upload may hold altogether, where it is more than one mail may: it may be the mails of a year. */
export const UPLOAD_LIMITS = { files: 10_000, inflated: GIB }

type DailyLimit = { mails: number; bytes: number; unpackedBytes: number; records: number }
export type IntakeLimits = Record<'address' | 'account' | 'installation', DailyLimit>

/**
 * What may come in as mail in one day (UTC). An address is public, it stands in the DNS, and anybody may write to it: the
 * busiest real one has some thousand reports a day with a million records.
 */
export const INTAKE_LIMITS: IntakeLimits = {
  address: { mails: 10_000, bytes: GIB, unpackedBytes: 8 * GIB, records: 2_000_000 },
  account: { mails: 50_000, bytes: 4 * GIB, unpackedBytes: 32 * GIB, records: 10_000_000 },
  installation: { mails: 500_000, bytes: 40 * GIB, unpackedBytes: 320 * GIB, records: 100_000_000 },
}

/** What every address may take in whatever came for the others of its account and of the installation. */
export const GUARANTEED_LIMIT: DailyLimit = { mails: 200, bytes: GIB / 16, unpackedBytes: GIB, records: 100_000 }
