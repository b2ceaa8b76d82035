import type { MailLimits } from '../store/limits/outgoing-mail.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../time.ts'

/** Milliseconds before each retry, as Standard Webhooks recommends; about three days in total. */
export const RETRY_DELAYS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
]

/**
 * Milliseconds before each retry at a chat, push or paging service that names no time itself: a day,
 * so that nothing is lost in an outage of that length.
 */
export const CHAT_RETRY_DELAYS_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  ...Array.from({ length: 50 }, () => 30 * MINUTE_MS),
]

/** Milliseconds after which a chat no longer gets an alert; it gets their number instead. */
export const CHAT_GIVE_UP_MS = 25 * HOUR_MS

/** Milliseconds between two attempts to send that number. */
export const SUMMARY_RETRY_MS = 10 * MINUTE_MS

/** Limits in milliseconds of the time that a service names (`Retry-After`). */
export const RETRY_AFTER_MS = { least: SECOND_MS, most: HOUR_MS }

/**
 * Milliseconds within which a second rejection of the settings disables a channel, and before the
 * attempt that may be the second one.
 */
export const DEAD_WINDOW_MS = 10 * MINUTE_MS
export const DEAD_RETRY_MS = 30 * SECOND_MS

/** Alerts of a burst that are still sent one by one. */
export const MAX_UNGROUPED_ALERTS = 5

/** Milliseconds without a success after which a channel is disabled. */
export const DISABLE_AFTER_MS = 7 * DAY_MS

/**
 * Times for which a batched message collects alerts, and between two messages: a burst becomes one
 * digest.
 */
export const BATCHING = { holdMs: MINUTE_MS, gapMs: 5 * MINUTE_MS, burstHoldMs: 20 * SECOND_MS }

/**
 * Milliseconds for one webhook request (Standard Webhooks: 15 to 30 s), and for one email with all
 * commands of the relay.
 */
export const WEBHOOK_DEADLINE_MS = 20 * SECOND_MS
export const MAIL_DEADLINE_MS = 5 * MINUTE_MS

/** Milliseconds for an email that a person is waiting for: a code or a test. */
export const INTERACTIVE_MAIL_DEADLINE_MS = 30 * SECOND_MS

/**
 * Seconds for which a sender claims a message beyond the deadline of its channel type, and the
 * longest of these times.
 */
export const LEASE_SLACK_SECONDS = 60
export const MESSAGE_LEASE_SECONDS = MAIL_DEADLINE_MS / SECOND_MS + LEASE_SLACK_SECONDS

/** Milliseconds between two queries for due messages. */
export const POLL_INTERVAL_MS = 5 * SECOND_MS

/**
 * Messages in transit per instance, and per account over all instances: a slow receiver delays only
 * workspaces of its own account.
 */
export const PARALLEL_MESSAGES = 20
export const PARALLEL_MESSAGES_PER_ACCOUNT = 5

/** Alerts shown in full in one email; further ones are only counted. */
export const MAX_ALERTS_PER_MAIL = 50

export const MAX_CHANNELS_PER_WORKSPACE = 20

/** Attempts at one confirmation code. */
export const MAX_CODE_ATTEMPTS = 5

/**
 * Codes go to addresses that any workspace can name, so there are few: per address, per account, and
 * for the installation, whose relay is responsible for them.
 */
export const CODE_MAIL_LIMITS: MailLimits = {
  recipient: { count: 5, seconds: DAY_MS / SECOND_MS },
  sender: { count: 20, seconds: DAY_MS / SECOND_MS },
  network: { count: 60, seconds: HOUR_MS / SECOND_MS },
  installation: { count: 300, seconds: HOUR_MS / SECOND_MS },
}

/** Tests go to confirmed addresses, whose owner may no longer want them. */
export const TEST_MAIL_LIMITS: MailLimits = {
  recipient: { count: 10, seconds: HOUR_MS / SECOND_MS },
  sender: { count: 30, seconds: HOUR_MS / SECOND_MS },
  installation: { count: 1_000, seconds: HOUR_MS / SECOND_MS },
}

export const ALERT_DAYS = 180

/** Milliseconds for messages in transit when the service stops: less than its own grace period. */
export const SENDER_STOP_GRACE_MS = 8 * SECOND_MS
