/** Hosts that are read, those with problems first; the others are counted. */
export const MAX_HOSTS = 50

/** Objects of every other kind that are read: each may be a problem. The others are counted. */
export const MAX_OBJECTS = 100

/** Hosts that a sentence names. */
export const MAX_NAMED_HOSTS = 3

/** Days for which a failed migration counts as a problem. */
export const FAILED_MIGRATION_DAYS = 14

/** Milliseconds for each query of a list of problems, which the dashboard waits for. */
export const QUERY_TIMEOUT_MS = 5_000
