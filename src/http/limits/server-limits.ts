import { MINUTE_MS } from '../../time.ts'

/** Size of a JSON body; the largest real one is a migration with 200 folder names. */
export const MAX_BODY_BYTES = 1024 * 1024

/**
 * Time for a whole request to arrive; without a limit, a slow sender would hold a connection
 * forever.
 */
export const REQUEST_TIMEOUT_MS = MINUTE_MS

/** Time for running requests to finish when the service stops. */
export const STOP_GRACE_MS = 10_000

/**
 * Turns of the event loop in which waiting connections are accepted before the ports are closed. A
 * port accepts one in each, and up to 511 wait there. A time would be too short on a busy machine.
 */
export const CLOSING_ACCEPT_TURNS = 511

/** Time for the response to a client that has closed its side of the connection. */
export const HALF_CLOSED_MS = 10_000

/**
 * Time for which requests on kept-alive and new connections are answered when the service stops. A
 * busy proxy sends one on each within milliseconds; idle ones are closed after it.
 */
export const CLOSING_DRAIN_MS = 200

/**
 * Time for a connection without a running request to complete its headers when the service stops.
 */
export const CLOSING_IDLE_GRACE_MS = 1_000

/** Time between two sweeps for idle connections while the service stops. */
export const CLOSING_SWEEP_MS = 50

/**
 * Time for the headers alone: a client that trickles them holds a connection no longer than this.
 */
export const HEADERS_TIMEOUT_MS = 10_000

/** Time between two checks for connections beyond these limits. */
export const CONNECTIONS_CHECK_MS = 5_000

/**
 * Time an idle connection stays open: longer than the minute after which proxies close theirs, or
 * they would reuse a closed one.
 */
export const KEEP_ALIVE_MS = 72_000
