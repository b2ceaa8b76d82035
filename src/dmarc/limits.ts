import { MINUTE_MS } from '../time.ts'

/**
 * Bytes of one email or uploaded file. The largest real reports have a few megabytes, far less
 * compressed.
 */
export const MAX_DELIVERY_BYTES = 25 * 1024 * 1024

/** Files in one upload, including the parts of a form. */
export const MAX_UPLOAD_FILES = 100

/** Domains per workspace. */
export const MAX_DOMAINS = 1_000

/** Mailboxes per workspace. Each costs a connection every ten minutes. */
export const MAX_MAILBOXES = 20

/** Mailboxes read at the same time over all instances. Accounts share them. */
export const MAX_CONCURRENT_MAILBOXES = 8

/** Milliseconds for one read of a mailbox. The next read continues where it stopped. */
export const MAILBOX_TIMEOUT_MS = 5 * MINUTE_MS

/**
 * Reports and records stored in one transaction: enough to share its cost, few enough to keep it
 * short.
 */
export const BATCH_REPORTS = 100
export const BATCH_RECORDS = 20_000

/** Records stored in one row, which is also one page of the API. */
export const RECORDS_PER_PART = 500

/** Selectors counted per report. No legitimate mail flow has more. */
export const MAX_REPORT_SELECTORS = 100

/** A report on more days counts for the day on which it begins. */
export const MAX_SPREAD_DAYS = 31

/** Days between `from` and `to` of a summary: the retention of reports and a margin. */
export const MAX_SUMMARY_DAYS = 800

/** Sources and reporters that a summary lists. Its totals include the others. */
export const MAX_SUMMARY_SOURCES = 500
export const MAX_SUMMARY_REPORTERS = 100

/** Senders with a series of their own in the daily counts; the others are one series. */
export const MAX_DAILY_SENDERS = 8

/** Sources with most messages, from which the senders of the daily counts are named. */
export const MAX_DAILY_SOURCES = 200

/** Days with messages in the daily counts by sender. Each day and source is a look-up in an index. */
export const MAX_DAILY_DAYS = 800

/** Marked senders per domain. */
export const MAX_SENDER_MARKS = 1_000

/** Known senders per domain. A domain with more raises no alerts about new ones. */
export const MAX_KNOWN_SENDERS = 5_000

/** Newest records of a source from which its identities are taken: enough for its current setup. */
export const MAX_SOURCE_RECORDS = 500

/** Milliseconds for the DNS queries about a domain during a request. */
export const DNS_TIMEOUT_MS = 4_000

/** Milliseconds for which a page waits for DNS. Afterwards it shows the last answer. */
export const MAX_DNS_WAIT_MS = 200

/** Lookups of one account that may go on after their pages were shown, in an instance. */
export const MAX_RUNNING_LOOKUPS = 20

/** Last answers of DNS that an instance has in memory. */
export const MAX_KNOWN_PUBLICATIONS = 10_000

/** Days for which a domain stays verified after its proof is gone from DNS. */
export const PROOF_GRACE_DAYS = 7

/** Emails of an uploaded mbox. `import-reports` has no limit. */
export const MAX_MBOX_MAILS = 1_000

/**
 * Rejected items are listed as a sample: per email or upload, per address and day, per account and
 * day.
 */
export const MAX_SAMPLES_PER_DELIVERY = 20
export const MAX_SAMPLES_PER_ADDRESS_DAY = 50
export const MAX_SAMPLES_PER_ACCOUNT_DAY = 1_000

/** Bytes that are stored of an email or file without a report. */
export const MAX_SAMPLE_BYTES = 64 * 1024

/** Days for which the daily usage is stored. */
export const USAGE_RETENTION_DAYS = 7

const GIB = 1024 ** 3

/** Limits of one upload above those of one email: it may contain the emails of a year. */
export const UPLOAD_LIMITS = { files: 10_000, inflated: GIB }

type DailyLimit = { mails: number; bytes: number; unpackedBytes: number; records: number }
export type IntakeLimits = Record<'address' | 'account' | 'installation', DailyLimit>

/**
 * Mail per UTC day. A report address is public in DNS, so anyone can send to it. The busiest real
 * address gets some thousand reports a day with a million records.
 */
export const INTAKE_LIMITS: IntakeLimits = {
  address: { mails: 10_000, bytes: GIB, unpackedBytes: 8 * GIB, records: 2_000_000 },
  account: { mails: 50_000, bytes: 4 * GIB, unpackedBytes: 32 * GIB, records: 10_000_000 },
  installation: { mails: 500_000, bytes: 40 * GIB, unpackedBytes: 320 * GIB, records: 100_000_000 },
}

/**
 * Mail per day that every address can receive, regardless of its account's and the installation's
 * usage.
 */
export const GUARANTEED_LIMIT: DailyLimit = {
  mails: 200,
  bytes: GIB / 16,
  unpackedBytes: GIB,
  records: 100_000,
}
