import { messages } from '../messages.ts'

// The one place that formats dates and times, so that an instant looks the same on every screen:
// British English, 24-hour clock, the reader's time zone. Days that a server counted in UTC, such
// as those of DMARC reports, stay UTC days.

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

type Format = (date: Date | number) => string

/** Created on first use: the first format of a page loads data, which takes a phone 50 ms. */
function format(options: Intl.DateTimeFormatOptions): Format {
  let created: Intl.DateTimeFormat | null = null
  return (date) => (created ??= new Intl.DateTimeFormat('en-GB', options)).format(date)
}

const SHORT_DAY = { day: 'numeric', month: 'short' } as const
const LONG_DAY = { day: 'numeric', month: 'long', year: 'numeric' } as const
const MINUTE = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
const SECOND = { ...MINUTE, second: '2-digit' } as const

const FORMATS = {
  clock: format(MINUTE),
  clockSecond: format(SECOND),
  day: format(SHORT_DAY),
  dayOfYear: format({ ...SHORT_DAY, year: 'numeric' }),
  longDay: format(LONG_DAY),
  minute: format({ ...LONG_DAY, ...MINUTE }),
  second: format({ ...LONG_DAY, ...SECOND }),
  secondInZone: format({ ...LONG_DAY, ...SECOND, timeZoneName: 'short' }),
  utcDay: format({ ...SHORT_DAY, timeZone: 'UTC' }),
  utcDayOfYear: format({ ...SHORT_DAY, year: 'numeric', timeZone: 'UTC' }),
  utcLongDay: format({ ...LONG_DAY, timeZone: 'UTC' }),
  utcMonth: format({ month: 'short', year: 'numeric', timeZone: 'UTC' }),
  utcMinute: format({ ...LONG_DAY, ...MINUTE, timeZone: 'UTC' }),
}

/** `14:05` */
export const clockText = (date: Date) => FORMATS.clock(date)

/** `21 November 2026` */
export const dateText = (date: Date) => FORMATS.longDay(date)

/** `21 November 2026 at 14:05` */
export const minuteText = (date: Date) => FORMATS.minute(date)

/** `21 November 2026 at 14:05:09` */
export const exactText = (date: Date) => FORMATS.second(date)

/** `21 November 2026 at 14:05:09 CET (2026-11-21T13:05:09.000Z)`: the tooltip of every time. */
export function tooltipText(date: Date): string {
  return `${FORMATS.secondInZone(date)} (${date.toISOString()})`
}

/**
 * `just now`, `3 min ago`, then the time of today (`14:05`), the day (`21 Nov`) or the day with its
 * year.
 * @param now milliseconds since 1970
 */
export function agoText(date: Date, now: number): string {
  const minutes = Math.floor((now - date.getTime()) / 60_000)
  if (minutes < 1) return messages.time.justNow
  if (minutes < 60) return messages.time.minutesAgo(minutes)
  return timeOrDay(date, new Date(now))
}

/**
 * `14:05:09`, or the day of an earlier one.
 * @param now milliseconds since 1970
 */
export function secondOfDayText(date: Date, now: number): string {
  const today = new Date(now)
  return date.toDateString() === today.toDateString()
    ? FORMATS.clockSecond(date)
    : dayIn(date, today)
}

/**
 * `now`, `in 3 min`, then like `agoText`, for a time to come.
 * @param now milliseconds since 1970
 */
export function untilText(date: Date, now: number): string {
  const minutes = Math.ceil((date.getTime() - now) / 60_000)
  if (minutes < 1) return messages.time.now
  if (minutes < 60) return messages.time.inMinutes(minutes)
  return timeOrDay(date, new Date(now))
}

/**
 * `in 3 h 58 min`, then `in 6 days`: how long something still lasts.
 * @param now milliseconds since 1970
 */
export function remainingText(date: Date, now: number): string {
  const minutes = Math.ceil((date.getTime() - now) / 60_000)
  if (minutes < 1) return messages.time.now
  if (minutes < 60) return messages.time.inMinutes(minutes)
  const hours = Math.floor(minutes / 60)
  return hours < 48
    ? messages.time.inHours(hours, minutes % 60)
    : messages.time.inDays(Math.floor(hours / 24))
}

/** The time of today, or the day. */
function timeOrDay(date: Date, today: Date): string {
  return date.toDateString() === today.toDateString() ? FORMATS.clock(date) : dayIn(date, today)
}

/**
 * `within the last hour`, `5 hours ago`, then the day, for times that are known only to the hour.
 * @param now milliseconds since 1970
 */
export function hourAgoText(date: Date, now: number): string {
  const hours = Math.floor((now - date.getTime()) / HOUR_MS)
  if (hours < 1) return messages.time.withinLastHour
  if (hours < 24) return hours === 1 ? messages.time.hourAgo : messages.time.hoursAgo(hours)
  return dayIn(date, new Date(now))
}

/** `21 Nov`, or `21 Nov 2025` in another year than today. */
function dayIn(date: Date, today: Date): string {
  const isThisYear = date.getFullYear() === today.getFullYear()
  return isThisYear ? FORMATS.day(date) : FORMATS.dayOfYear(date)
}

const YEAR_MS = 365 * DAY_MS

/**
 * `21 Nov`, of a UTC day such as `2026-11-21`; with its year if it is over a year ago. `Nov 2026` of
 * a month such as `2026-11`.
 */
export function utcDayText(day: string): string {
  const date = new Date(day)
  if (day.length === 'YYYY-MM'.length) return FORMATS.utcMonth(date)
  const isRecent = Math.abs(Date.now() - date.getTime()) <= YEAR_MS
  return isRecent ? FORMATS.utcDay(date) : FORMATS.utcDayOfYear(date)
}

/** `21 November 2026`, of a UTC day. */
export const utcLongDayText = (day: string) => FORMATS.utcLongDay(new Date(day))

/** `21 Nov 2026`, or `21 Nov 2026 – 23 Nov 2026`: the UTC days of a period. */
export function utcPeriodText(begin: string, end: string): string {
  const first = FORMATS.utcDayOfYear(new Date(begin))
  // A period that ends at midnight does not cover the day that begins then.
  const lastMs = Math.max(Date.parse(begin), Date.parse(end) - 1)
  const last = FORMATS.utcDayOfYear(lastMs)
  return first === last ? first : `${first} – ${last}`
}

/** `21 November 2026 at 13:05`, in UTC. */
export const utcMinuteText = (date: Date) => FORMATS.utcMinute(date)

/**
 * The UTC day of an instant, as the API writes it: `2026-11-21`.
 * @param at milliseconds since 1970
 */
export const utcDay = (at: number) => new Date(at).toISOString().slice(0, 10)

/**
 * The UTC day that is `days` before today: `2026-11-21`.
 * @param now milliseconds since 1970
 */
export const utcDayBefore = (days: number, now = Date.now()) => utcDay(now - days * DAY_MS)

/**
 * The first and last instant of a UTC day. The first is a millisecond late: a period that ends at
 * midnight does not cover the day that begins then.
 */
export function utcDayRange(day: string): { from: string; to: string } {
  const begin = Date.parse(day)
  return {
    from: new Date(begin + 1).toISOString(),
    to: new Date(begin + DAY_MS - 1).toISOString(),
  }
}

/** The reader's time zone: `Europe/Berlin`. */
export const viewerTimeZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone
