import { DAY_MS } from '../time.ts'

/** Active bans of a workspace. Beyond them, reports ban no further address. */
export const MAX_ACTIVE_BANS = 50_000

/** Addresses that a workspace remembers, banned or not. */
export const MAX_REMEMBERED_ADDRESSES = 100_000

/** Networks on the allowlist of a workspace. */
export const MAX_ALLOWED_NETWORKS = 1_000

/** Addresses of servers that a workspace remembers. */
export const MAX_SERVERS = 2_000

export const MAX_RULES = 20

/** Networks of public feeds that the servers of a workspace load. */
export const MAX_FEED_NETWORKS = 250_000

/** Reports of an address that are kept with it. A rule counts no more than these. */
export const MAX_SIGHTINGS = 50

/** An address without a report for so long starts again with the shortest ban. */
export const MEMORY_MS = 30 * DAY_MS

/** Changes that are kept: a follower that is further behind gets the whole list. */
export const HISTORY_MS = 30 * DAY_MS
export const MAX_CHANGES = 100_000

/** A ban lasts up to a year. */
export const MAX_BAN_SECONDS = 366 * 86_400
