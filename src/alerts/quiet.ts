import { Fault } from '../errors.ts'

/** Between these times of the day (`22:00`, `07:00`) in a time zone of the IANA database. */
export type QuietHours = { from: string; to: string; timeZone: string }

const MINUTE = 60_000
const DAY_MINUTES = 24 * 60

/**
 * When the quiet hours in which a moment lies end; null when it lies in none. Where a clock change lies between, an hour
 * early or late: whoever asks again then is told the rest.
 */
export function endOfQuiet({ from, to, timeZone }: QuietHours, now: Date): Date | null {
  const start = minutesOf(from)
  const length = (minutesOf(to) - start + DAY_MINUTES) % DAY_MINUTES
  const elapsed = (minutesOf(clockIn(timeZone).format(now)) - start + DAY_MINUTES) % DAY_MINUTES
  if (elapsed >= length) return null
  const thisMinute = Math.floor(now.getTime() / MINUTE) * MINUTE
  return new Date(thisMinute + (length - elapsed) * MINUTE)
}

/** @throws Fault `invalid_request` when there is no such time zone */
export function requireTimeZone({ timeZone }: QuietHours): void {
  try {
    clockIn(timeZone)
  } catch {
    const message = `is no time zone such as Europe/Berlin or UTC`
    throw new Fault('invalid_request', `“${timeZone.slice(0, 80)}” ${message}.`, {
      details: [{ path: 'quietHours.timeZone', message }],
    })
  }
}

function clockIn(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
}

function minutesOf(clock: string): number {
  const [hours = 0, minutes = 0] = clock.split(':').map(Number)
  return hours * 60 + minutes
}
