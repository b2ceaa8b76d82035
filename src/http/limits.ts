/** A JSON body; the largest real one is a migration with 200 folder names. */
export const BODY_LIMIT = 1024 * 1024

/** Milliseconds for a whole request to arrive; without it a slow sender holds a connection for ever. */
export const REQUEST_TIMEOUT = 60_000

/** Milliseconds that running requests get to finish when the service stops. */
export const STOP_GRACE = 10_000

/** Milliseconds for the headers alone: a sender that trickles them costs one connection no longer than this. */
export const HEADERS_TIMEOUT = 10_000

/** Milliseconds between two looks for connections beyond these limits. */
export const CONNECTIONS_CHECKED_EVERY = 5_000

/** Tabs of one account in one instance that are told what changes; a tab that nobody sees lets go of its stream. */
export const TABS_PER_ACCOUNT = 20

/** Milliseconds for an idle connection: longer than the minute after which proxies let go, or they would meet a closed one. */
export const KEEP_ALIVE = 72_000

/** Problems that the answer to an invalid request names; a client mends a few at a time. */
export const MAX_PROBLEMS = 10

/** Characters of the sentence of a failure, and of a path or message in its details: in all below 64 kB as escaped JSON. */
export const MAX_ERROR_LENGTH = 2_000
export const MAX_DETAIL_LENGTH = 300
