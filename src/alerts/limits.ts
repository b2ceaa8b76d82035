const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Milliseconds before each further try, as Standard Webhooks advises; all in all some three days. */
export const RETRY_AFTER = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
]

/** Milliseconds without one success after which a channel is switched off. */
export const FAILING_FOR = 7 * DAY

/** A mail waits so long for what else happens, and so long after the one before it: a burst is one digest. */
export const PATIENCE = { hold: MINUTE, gap: 5 * MINUTE }

/** Milliseconds for one request to a webhook (Standard Webhooks: 15 to 30 s), and for one mail with all the relay does. */
export const WEBHOOK_DEADLINE = 20 * SECOND
export const MAIL_DEADLINE = 5 * MINUTE

/** Seconds a sender has a message: longer than it may take. */
export const LEASE = 360

/** Milliseconds between two looks for what came due. */
export const LOOK_EVERY = 5 * SECOND

/** Messages sent at once by one instance, and of one account by all of them: a slow receiver holds up its account alone. */
export const AT_ONCE = 20
export const AT_ONCE_PER_ACCOUNT = 5

/** Alerts told whole in one mail; those beyond are only counted. */
export const TOLD_IN_ONE = 50

export const CHANNELS_PER_ACCOUNT = 20

/** Guesses at one confirmation code. */
export const CODE_TRIES = 5

export const ALERTS_KEPT = 180 * DAY

/** Milliseconds for what is being sent when the service stops: less than the service itself waits. */
export const STOP_PATIENCE = 8 * SECOND
