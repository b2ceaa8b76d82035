import type { Method } from './methods.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../time.ts'

/** All times are in milliseconds. */

/** Time between the two clean answers that complete a step. */
export const CONFIRMATION_MS = 15 * MINUTE_MS
/** Pause after a list did not answer, and the most by which the deadline moves for that. */
export const UNKNOWN_PAUSE_MS = 15 * MINUTE_MS
export const MAX_GRACE_MS = 7 * DAY_MS
/** While the owner has to fix a problem: checked often, so that the fix shows soon. */
export const BLOCKER_PAUSE_MS = HOUR_MS
/** While the user has to act, and for how long. */
export const USER_PAUSE_MS = 6 * HOUR_MS
export const USER_DEADLINE_MS = 30 * DAY_MS
export const PROVIDER_PAUSE_MS = DAY_MS
export const FIRST_CHECK_AFTER_MAIL_MS = DAY_MS
/** Time after a mail before a reminder: operators overlook mail, and dislike pressure. */
export const REMINDER_AFTER_MS = 7 * DAY_MS
/**
 * Pauses after an email that the relay rejected temporarily. After the last one, the step fails.
 */
export const REFUSED_PAUSES_MS = [5 * MINUTE_MS, 30 * MINUTE_MS, 120 * MINUTE_MS]
/**
 * Time after which a claimed mail without a result counts as sent; longer than sending can take.
 */
export const CLAIM_TIMEOUT_MS = 10 * MINUTE_MS
export const SENDING_TIMEOUT_MS = 4 * MINUTE_MS
/** Lease of a worker on a step. */
export const LEASE_MS = 5 * MINUTE_MS

export const MAX_ATTEMPTS = 3

/** Hours for a list to act, where the catalogue has none for it. */
const DEADLINE_HOURS: Record<Method, number> = {
  automatic: 14 * 24,
  email: 14 * 24,
  form: 7 * 24,
  provider: 30 * 24,
}
/** Hours between two requests to the same list for the same address. */
const COOLDOWN_HOURS = { email: 7 * 24, form: 24 }

/**
 * Time for a blocklist to act: from the start where entries expire, from the request where one is
 * needed.
 */
export function deadlineMs({
  method,
  plan,
}: {
  method: Method
  plan: { deadlineHours?: number | undefined }
}): number {
  return (plan.deadlineHours ?? DEADLINE_HOURS[method]) * HOUR_MS
}

export function cooldownMs(step: {
  method: Method
  plan: { cooldownHours?: number | undefined }
}): number {
  return (
    (step.plan.cooldownHours ?? COOLDOWN_HOURS[step.method === 'email' ? 'email' : 'form']) *
    HOUR_MS
  )
}

/**
 * Pause while entries expire by themselves: twice a day until they should have expired, then after
 * 1, 2, 4, 8 and every 12 hours.
 */
export function afterExpected(sinceStart: number, expectedHours = 0): number {
  const left = expectedHours * HOUR_MS - sinceStart
  return left > 0 ? Math.min(left, 12 * HOUR_MS) : clamp(-left, HOUR_MS, 12 * HOUR_MS)
}

/** Pause after a request: 6 and 12 hours after it, then daily. */
export function afterRequest(sinceRequest: number): number {
  return clamp(sinceRequest, 6 * HOUR_MS, DAY_MS)
}

/** Adds milliseconds to a date. */
export function addMs(date: Date, milliseconds: number): Date {
  return new Date(date.getTime() + milliseconds)
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most)
}
