const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How often what is looked at, in milliseconds. */
export type Rhythm = {
  /** Critical and major lists: a listing there is known within the hour. */
  grave: number
  /** All lists. */
  full: number
  /** Certificates and DNS records. */
  side: number
  /** Between two answers that have to say the same before a change is believed. */
  confirm: number
  /** Until lists that did not answer by chance are asked again. */
  retry: number
}

export const RHYTHM: Rhythm = { grave: HOUR, full: DAY, side: 3 * HOUR, confirm: 5 * MINUTE, retry: 15 * MINUTE }

/** Part of an interval by which it is shortened at random, so that hosts added together do not stay together. */
export const JITTER = 0.1

/** Milliseconds between the first questions about two addresses: no list gets more than ten a second from us. */
export const SPACING = 100

/**
 * Hosts taken at once, looked at side by side, and of these those of one account: thousands of hosts that do not answer
 * hold up their own account alone.
 */
export const BATCH = 16
export const LANES = 16
export const LANES_PER_ACCOUNT = 8

/** Milliseconds after which a sweep that is still busy looks again for hosts that came due. */
export const CLAIM_AGAIN = 1_000

/** Seconds a host is with whoever looks at it: longer than it takes to look at two of them. */
export const LEASE = 300

/** Milliseconds for all of one look, and for one handshake. */
export const LOOK_DEADLINE = 120_000
export const HANDSHAKE_DEADLINE = 15_000

/** Milliseconds after which an address that the name does not lead to any more is forgotten: round robin comes back. */
export const ADDRESS_KEPT = DAY

/** Addresses of one name that are watched. */
export const MOST_ADDRESSES = 16

/** Looks that were missed after which nobody knows how it was meanwhile. */
export const MISSED_LOOKS = 3

/** Changes of a record in a week after which it is known to keep changing, and is told no more. */
export const RESTLESS = 3
export const RESTLESS_FOR = 7 * DAY

/** Over which time the availability is counted. */
export const AVAILABILITY_DAYS = 30

export const EVENTS_KEPT = 400 * DAY

export const HOSTS_PER_ACCOUNT = 10_000
