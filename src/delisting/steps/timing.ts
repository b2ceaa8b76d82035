import type { Method } from './machine.ts'

/** All in milliseconds. */
const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** Between the two clean answers that end a step. */
export const CONFIRMATION = 15 * MINUTE
/** After a list that did not answer; and by how much that may move the deadline in all. */
export const UNKNOWN_PAUSE = 15 * MINUTE
export const MOST_GRACE = 7 * DAY
/** While the owner has to mend something: looked at often, so that mending shows. */
export const OBSTACLE_PAUSE = HOUR
/** While a person has to do something, and for how long. */
export const PERSON_PAUSE = 6 * HOUR
export const PERSON_PATIENCE = 30 * DAY
export const PROVIDER_PAUSE = DAY
export const FIRST_LOOK_AFTER_MAIL = DAY
/** After a mail that the list has not acted on: operators overlook mails, and mind being pressed. */
export const REMINDER_AFTER = 7 * DAY
/** After a mail that the relay refused for the moment; once more often, and it is given up. */
export const REFUSED_PAUSES = [5 * MINUTE, 30 * MINUTE, 120 * MINUTE]
/** After which a mail that was claimed and not heard of again counts as sent: longer than sending may take. */
export const CLAIM_PATIENCE = 10 * MINUTE
export const SENDING_PATIENCE = 4 * MINUTE
/** For which a worker has a step to itself. */
export const LEASE = 5 * MINUTE

export const MOST_ATTEMPTS = 3

/** Hours that a list is given where the catalogue has none for it. */
const DEADLINE_HOURS: Record<Method, number> = { automatic: 14 * 24, email: 14 * 24, form: 7 * 24, provider: 30 * 24 }
/** Hours between two requests to the same list for the same address. */
const COOLDOWN_HOURS = { email: 7 * 24, form: 24 }

/** What a list is given: from the start where entries leave by themselves, from the request where one asks. */
export function deadlineMs({ method, plan }: { method: Method; plan: { deadlineHours?: number | undefined } }): number {
  return (plan.deadlineHours ?? DEADLINE_HOURS[method]) * HOUR
}

export function cooldownMs(step: { method: Method; plan: { cooldownHours?: number | undefined } }): number {
  return (step.plan.cooldownHours ?? COOLDOWN_HOURS[step.method === 'email' ? 'email' : 'form']) * HOUR
}

/** Entries that leave by themselves: twice a day until they should have, then after 1, 2, 4, 8 and every 12 hours. */
export function afterExpected(sinceStart: number, expectedHours = 0): number {
  const left = expectedHours * HOUR - sinceStart
  return left > 0 ? Math.min(left, 12 * HOUR) : clamp(-left, HOUR, 12 * HOUR)
}

/** After a request: 6 and 12 hours after it, then daily. */
export function afterRequest(sinceRequest: number): number {
  return clamp(sinceRequest, 6 * HOUR, DAY)
}

/** So many milliseconds after a date. */
export function later(date: Date, milliseconds: number): Date {
  return new Date(date.getTime() + milliseconds)
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most)
}
