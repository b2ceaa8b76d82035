/** Milliseconds of the units of time. */
export const SECOND_MS = 1_000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** Seconds of the units of time. */
export const MINUTE_SECONDS = 60
export const HOUR_SECONDS = 60 * MINUTE_SECONDS
export const DAY_SECONDS = 24 * HOUR_SECONDS

/** The day of a time in UTC: `2026-11-30`. */
export function isoDay(time: Date | number): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** Milliseconds since 1970 at which the day of a time began in UTC. */
export function startOfDay(time: number): number {
  return Math.floor(time / DAY_MS) * DAY_MS
}

/** The same time months before: on the last day of a month that is too short. */
export function monthsBefore(date: Date, months: number): Date {
  const before = new Date(date)
  before.setUTCMonth(before.getUTCMonth() - months)
  if (before.getUTCDate() !== date.getUTCDate()) before.setUTCDate(0)
  return before
}

const ISO_8601 =
  /^(\d{4})-?(\d\d)-?(\d\d)(?:[T ](\d\d):?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?)? ?(?:Z|UTC|GMT|([+-]\d\d)(?::?(\d\d))?)?$/i

/**
 * Parses a date or time in ISO 8601, extended (RFC 3339) or basic. Without a zone it is in UTC,
 * wherever this runs.
 * @returns milliseconds since 1970; null for text that is no such time
 */
export function parseIsoTime(text: string): number | null {
  const match = ISO_8601.exec(text)
  if (!match) return null
  const [, year, month, day = '', hour = '00', minute = '00', second = '00', fraction = '', hours = '+00', minutes = '00'] = match // prettier-ignore
  const date = `${year}-${month}-${day}`
  // RFC 3339, 5.6 allows leap seconds, which no clock of a computer has.
  const clock = `${hour}:${minute}:${second === '60' ? '59' : second}`
  const at = Date.parse(
    `${date}T${clock}.${fraction.slice(0, 3).padEnd(3, '0')}${hours}:${minutes}`,
  )
  // Otherwise the 30th of February would be a day in March.
  const isDay = new Date(`${date}T00:00:00Z`).getUTCDate() === Number(day)
  return isDay && !Number.isNaN(at) ? at : null
}

/**
 * Parses a date of HTTP in any of its three forms (RFC 9110, 5.6.7). The form of `asctime` names no
 * zone, and all are in UTC.
 * @returns milliseconds since 1970; null for any other text
 */
export function parseHttpDate(text: string): number | null {
  if (!/^[A-Za-z]{3,9},? /.test(text)) return null
  const isZoned = /(?:[A-Z]{3,4}|[+-]\d{4})$/.test(text)
  const at = Date.parse(isZoned ? text : `${text} GMT`)
  return Number.isNaN(at) ? null : at
}
