import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../../time.ts'

/** Limits of cut-overs. */
export const CUTOVER_LIMITS = {
  /** Hosts of MX records. */
  maxMxHosts: 20,
  minTtl: 30,
  maxTtl: DAY_SECONDS,
  maxQuietHours: 30 * 24,
  /** Days after which a cut-over that is not done is cancelled: passwords are not kept for ever. */
  maxDays: 90,
  maxNoteChars: 500,
  /** Mailboxes with new messages that are shown. */
  maxShownMailboxes: 50,
  /** Name servers and MX hosts of an answer that are stored. */
  maxStoredServers: 8,
  maxStoredHosts: 20,
  /** Cut-overs that are checked at once, in one instance at a time. */
  checksAtOnce: 4,
  checksPerRun: 500,
  /** Milliseconds for the DNS queries of one check. */
  dnsMs: 15_000,
  /** How long a check is kept from others when its instance has died. */
  leaseSeconds: 2 * MINUTE_SECONDS,
  /** Seconds between two lookups of DNS records: while records are about to change, and otherwise. */
  dnsSeconds: MINUTE_SECONDS,
  slowDnsSeconds: 10 * MINUTE_SECONDS,
  /** A step that is open for longer is checked less often. */
  slowAfterSeconds: 2 * DAY_SECONDS,
  /** Seconds between two checks of a cut-over, and at least between passes that it requests. */
  checkSeconds: MINUTE_SECONDS,
  /** Rows of copy records that are read at once. */
  copyRowsPerRead: 500,
} as const

/** A TTL of five minutes, as most guides advise. */
export const DEFAULT_TTL = 5 * MINUTE_SECONDS

/** Senders try again for four to five days (RFC 5321, 4.5.4.1). */
export const DEFAULT_QUIET_HOURS = 5 * 24

/** Minutes between two passes, where the batch is not synchronized yet. */
export const DEFAULT_SYNC_MINUTES = 15

/** Seconds after which an open step is reported; the waiting time of its own comes on top. */
export const STUCK_SECONDS = {
  ttl: 3 * DAY_SECONDS,
  switch: 3 * DAY_SECONDS,
  quiet: 7 * DAY_SECONDS,
  final_pass: DAY_SECONDS,
  proof: DAY_SECONDS,
} as const

/** A message that arrives after so much silence is reported. */
export const ALERTING_QUIET_SECONDS = DAY_SECONDS - HOUR_SECONDS
