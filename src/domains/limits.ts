import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../time.ts'

/** Milliseconds within which a domain check responds, whatever the network does. */
export const DOMAIN_DEADLINE_MS = 10 * SECOND_MS

/**
 * Milliseconds before the deadline at which queries end, so that lines can still report what they
 * have.
 */
export const WIND_DOWN_MS = 400

/** Milliseconds for one connection to a mail or web server, and for the MTA-STS policy. */
export const PROBE_TIMEOUT_MS = 7_000

/** Mail servers that are checked, in the order of their priority. */
export const MAX_MAIL_HOSTS = 10
/** Of these, the ones that are connected to on each port. */
export const MAX_PROBED_HOSTS = 5
export const MAX_ADDRESSES_PER_HOST = 8

/** Addresses whose reverse DNS is looked up. */
export const MAX_REVERSE_ADDRESSES = 24

/**
 * Addresses that are looked up on every blocklist. Each costs some ninety queries. All 64
 * make 5,800 queries, which take one second with a resolver on this machine.
 */
export const MAX_BLOCKLIST_ADDRESSES = 64
/** Of these at once in one check, so that queries of other checks get their turn in between. */
export const PARALLEL_BLOCKLIST_ADDRESSES = 6
/** Milliseconds after which no further address is started. */
export const BLOCKLIST_STARTS_MS = 7 * SECOND_MS
/** Networks of up to 16 addresses are looked up address by address; larger ones are counted. */
export const SMALL_NETWORK_BITS = 4

/** Networks of an SPF record that are reported one by one. */
export const MAX_SENDER_NETWORKS = 100

/** Sentences and answers of one line. */
export const MAX_DETAILS = 30
export const MAX_EVIDENCE = 120

/** Characters of a proposed record; a longer one is beyond repair. */
export const MAX_RECORD_CHARACTERS = 4_096
export const MAX_FIXES = 40

export const MAX_WATCHED_DOMAINS = 1_000

/** Imported domains that are completed at once, and in one run of the job. */
export const PARALLEL_WATCHES = 4
export const MAX_COMPLETED_WATCHES = 2_000

/** Milliseconds after which the records of a watched domain are checked again. */
export const RECORDS_INTERVAL_MS = 14 * MINUTE_MS
/** Domains of one sweep, and of these at once; the next sweep continues with the rest. */
export const SWEEP_BATCH = 2_000
export const PARALLEL_DOMAINS = 8
export const RECORDS_TIMEOUT_MS = 10 * SECOND_MS

/** Values of one record set, and characters of each, that are compared and stored. */
export const MAX_KNOWN_VALUES = 20
export const MAX_KNOWN_CHARACTERS = 1_000

/** Changes of one domain that are kept, and for how long. */
export const MAX_DOMAIN_EVENTS = 500
export const HISTORY_DAYS = 90
export const EVENT_DAYS = 100

/** Milliseconds between two checks that confirm a change of state, and until the second one. */
export const CONFIRM_AFTER_MS = 10 * MINUTE_MS
export const CONFIRM_IN_MS = 15 * MINUTE_MS

/** Domains that one run claims and checks at once; each takes up to ten seconds. */
export const CHECK_BATCH = 8
export const PARALLEL_CHECKS = 4
/** Seconds for one run, and milliseconds in which it claims domains. */
export const CHECK_RUN_SECONDS = 600
export const CHECK_CLAIMS_FOR_MS = 8 * MINUTE_MS
/** Seconds after which another run may check a claimed domain. */
export const CHECK_LEASE_SECONDS = 120
export const FAILED_CHECK_RETRY_MS = HOUR_MS

/** Characters of a stored picture, as JSON. */
export const MAX_STORED_REPORT_CHARACTERS = 200_000

/** Days before the end of a registration at which an alert is raised; 0 is the end itself. */
export const EXPIRY_ALERT_DAYS = [30, 14, 7, 1, 0]
