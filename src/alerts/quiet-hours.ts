import { invalidField } from '../errors.ts'
import { WEEKDAYS } from './rules/rule.ts'
import { ruleQuietEnd } from './rules/quiet.ts'

/** Times of day (`22:00`, `07:00`) in a time zone of the IANA database. */
export type QuietHours = { from: string; to: string; timeZone: string }

/**
 * The end of the quiet hours of a channel that contain a time; null when it is outside of them.
 * They begin every day. The same time twice is none, not a whole day.
 */
export function quietHoursEnd(hours: QuietHours, now: Date): Date | null {
  return hours.from === hours.to ? null : ruleQuietEnd({ ...hours, days: [...WEEKDAYS] }, now)
}

/** @throws Fault `invalid_request` when the time zone does not exist */
export function requireTimeZone({ timeZone }: QuietHours): void {
  try {
    new Intl.DateTimeFormat('en-GB', { timeZone }).format()
  } catch {
    const message = `is not a time zone such as Europe/Berlin or UTC`
    throw invalidField('quietHours.timeZone', message, `“${timeZone.slice(0, 80)}”`)
  }
}
