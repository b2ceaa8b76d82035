import { invalidField } from '../errors.ts'
import { MINUTE_MS } from '../time.ts'

/** Times of day (`22:00`, `07:00`) in a time zone of the IANA database. */
export type QuietHours = { from: string; to: string; timeZone: string }

const MINUTES_PER_DAY = 24 * 60

/**
 * The end of the quiet hours that contain a time; null when it is outside of them. An hour early or
 * late where the clock changes in between: callers ask again at that time.
 */
export function quietHoursEnd({ from, to, timeZone }: QuietHours, now: Date): Date | null {
  const start = minutesOf(from)
  const length = (minutesOf(to) - start + MINUTES_PER_DAY) % MINUTES_PER_DAY
  const elapsed =
    (minutesOf(clockIn(timeZone).format(now)) - start + MINUTES_PER_DAY) % MINUTES_PER_DAY
  if (elapsed >= length) return null
  const thisMinute = Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS
  return new Date(thisMinute + (length - elapsed) * MINUTE_MS)
}

/** @throws Fault `invalid_request` when the time zone does not exist */
export function requireTimeZone({ timeZone }: QuietHours): void {
  try {
    clockIn(timeZone)
  } catch {
    const message = `is not a time zone such as Europe/Berlin or UTC`
    throw invalidField('quietHours.timeZone', message, `“${timeZone.slice(0, 80)}”`)
  }
}

function clockIn(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
}

function minutesOf(clock: string): number {
  const [hours = 0, minutes = 0] = clock.split(':').map(Number)
  return hours * 60 + minutes
}
