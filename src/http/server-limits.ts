/** A JSON body; the largest real one is a migration with 200 folder names. */
export const MAX_BODY_BYTES = 1024 * 1024

/** Milliseconds for a whole request to arrive; without it a slow sender holds a connection for ever. */
export const REQUEST_TIMEOUT_MS = 60_000

/** Milliseconds that running requests get to finish when the service stops. */
export const STOP_GRACE_MS = 10_000

/** Milliseconds that a connection without a running request gets to complete its headers when the service stops. */
export const CLOSING_IDLE_GRACE_MS = 1_000

/** Milliseconds between two sweeps for connections without a request while the service stops. */
export const CLOSING_SWEEP_MS = 50

/** Milliseconds for the headers alone: a sender that trickles them costs one connection no longer than this. */
export const HEADERS_TIMEOUT_MS = 10_000

/** Milliseconds between two looks for connections beyond these limits. */
export const CONNECTIONS_CHECK_MS = 5_000

/** Milliseconds for an idle connection: longer than the minute after which proxies let go, or they would meet a closed one. */
export const KEEP_ALIVE_MS = 72_000
