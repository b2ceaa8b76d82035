/** A JSON body; the largest real one is a migration with 200 folder names. */
export const BODY_LIMIT = 1024 * 1024

/** Milliseconds for a whole request to arrive; without it a slow sender holds a connection for ever. */
export const REQUEST_TIMEOUT = 60_000

/** Milliseconds that running requests get to finish when the service stops. */
export const STOP_GRACE = 10_000
