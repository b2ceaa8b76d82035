import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../time.ts'

/** Installations that can be peers, and requests of strangers that wait for an administrator. */
export const MAX_PEERS = 50
export const MAX_REQUESTS = 20

/** Items of a page, and pages read from a peer in one contact. */
export const PAGE_ITEMS = 500
export const PAGES_PER_CONTACT = 20
/** Items of a peer in a day. One that sends more is refused until an administrator decides. */
export const MAX_ITEMS_PER_DAY = 100_000

/** Requests that a peer may send in a minute; it needs 120 for full pages. */
export const REQUESTS_PER_MINUTE = 240

/** Milliseconds for one request to a peer. */
export const REQUEST_TIMEOUT_MS = 15_000
/**
 * Milliseconds in which a stranger must show its key. A request fails after all of them, so that its
 * sender learns nothing about the host.
 */
export const IDENTITY_TIMEOUT_MS = 5_000
/** Milliseconds between two contacts, and the longest pause after failures. */
export const CONTACT_INTERVAL_MS = 10_000
export const MAX_PAUSE_MS = 5 * MINUTE_MS
/**
 * Milliseconds after which another instance continues a contact, longer than a page takes: each page
 * begins them again.
 */
export const CONTACT_LEASE_MS = 30_000

/** Milliseconds that the clocks of two installations may differ. */
export const MAX_CLOCK_SKEW_MS = 5 * MINUTE_MS
/** Evidence that is dated later than this is refused, with its peer. */
export const MAX_FUTURE_MS = MAX_CLOCK_SKEW_MS + 10 * MINUTE_MS
/** Evidence is kept as long as that of our own reporters. */
export const KEEP_MS = 30 * DAY_MS
/** A nonce is remembered longer than a signature is valid. */
export const KEEP_NONCES_MS = 3 * MAX_CLOCK_SKEW_MS

/** How far back the first collection goes, and the length of a step. */
export const COLLECT_BACK_MS = 7 * DAY_MS
export const COLLECT_STEP_MS = HOUR_MS
/** Reports are looked for a little further back, because their transactions take time. */
export const COLLECT_OVERLAP_MS = MINUTE_MS
export const COLLECT_INTERVAL_MS = 2_000
