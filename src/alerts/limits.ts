import type { MailLimits } from '../store/outgoing-mail.ts'

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

/**
 * Mails with a code go to addresses that anybody may name, so they are few: to one address, whoever asks; for one account; and of
 * the whole installation, whose relay answers for them.
 */
export const CODE_MAIL_LIMITS: MailLimits = {
  recipient: { count: 5, seconds: DAY / SECOND },
  account: { count: 20, seconds: DAY / SECOND },
  installation: { count: 300, seconds: HOUR / SECOND },
}

/** Tests go to addresses that were confirmed, whose owner may not want them any more. */
export const TEST_MAIL_LIMITS: MailLimits = {
  recipient: { count: 10, seconds: HOUR / SECOND },
  account: { count: 30, seconds: HOUR / SECOND },
  installation: { count: 1_000, seconds: HOUR / SECOND },
}

export const ALERTS_KEPT = 180 * DAY

/** Milliseconds for what is being sent when the service stops: less than the service itself waits. */
export const STOP_PATIENCE = 8 * SECOND
