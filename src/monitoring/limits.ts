import { DAY_MS, HOUR_MS, MINUTE_MS } from '../time.ts'

/** Intervals between two checks of a host, in milliseconds. */
export type CheckIntervals = {
  /** Critical and major blocklists: a listing there is found within the hour. */
  importantListsMs: number
  allListsMs: number
  certificatesAndRecordsMs: number
  /** Time after which a change must be seen again before it counts. */
  confirmMs: number
  /** Time until blocklists that failed for a moment are queried again. */
  retryMs: number
}

export const CHECK_INTERVALS: CheckIntervals = {
  importantListsMs: HOUR_MS,
  allListsMs: DAY_MS,
  certificatesAndRecordsMs: 3 * HOUR_MS,
  confirmMs: 5 * MINUTE_MS,
  retryMs: 15 * MINUTE_MS,
}

/** Share of an interval by which it is shortened at random: hosts added together drift apart. */
export const JITTER_RATIO = 0.1

/**
 * Milliseconds between the first queries for two addresses: a blocklist gets at most ten a second.
 */
export const QUERY_SPACING_MS = 100

/**
 * Hosts claimed at once, hosts checked in parallel, and of these the share of one account: thousands
 * of hosts that do not answer delay only workspaces of their own account.
 */
export const CLAIM_BATCH = 16
export const PARALLEL_HOSTS = 16
export const PARALLEL_HOSTS_PER_ACCOUNT = 8

/** Milliseconds after which a busy sweep looks for hosts that became due. */
export const CLAIM_INTERVAL_MS = 1_000

/** Seconds for which a host is claimed: longer than two checks take. */
export const HOST_LEASE_SECONDS = 300

/** Milliseconds for one check of a host, and for one TLS handshake. */
export const HOST_CHECK_DEADLINE_MS = 120_000
export const HANDSHAKE_DEADLINE_MS = 15_000

/**
 * Milliseconds after which an address that left the name is removed: round robin brings it back.
 */
export const ADDRESS_RETENTION_MS = DAY_MS

export const MAX_ADDRESSES_PER_NAME = 16

/** Number of missed checks after which the time in between counts as unknown. */
export const MISSED_CHECKS = 3

/** Changes of one record within the window after which further ones only go into the history. */
export const FREQUENT_CHANGES = 3
export const FREQUENT_CHANGES_WINDOW_MS = 7 * DAY_MS

/**
 * Days over which availability is computed. The function `monitored_recent_states` of the database
 * keeps a day more.
 */
export const AVAILABILITY_DAYS = 30

/** Days of a timeline, hosts of the workspace’s timeline, and what one host adds to it. */
export const TIMELINE_DAYS = 90
export const MAX_TIMELINE_HOSTS = 50
export const MAX_TIMELINE_PERIODS = 400
export const MAX_TIMELINE_EVENTS = 1_000
export const MAX_TIMELINE_LISTS = 100

export const HISTORY_DAYS = 400

export const MAX_HOSTS_PER_WORKSPACE = 10_000
