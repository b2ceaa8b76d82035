import { DAY_MS, MINUTE_MS, startOfDay } from '../../time.ts'
import { WEEKDAYS, type RuleQuietHours } from './rule.ts'

/** A date and time of day without a time zone, as milliseconds as if it were UTC. */
type WallClock = number

/** Quiet hours that follow one another are one period; more than a week of them never ends. */
const MAX_PERIODS = 9

/**
 * The end of the quiet hours that contain a time, exact also where the clock changes in between;
 * null when it is outside of them. Quiet hours that end when the next ones begin are one period.
 */
export function ruleQuietEnd(hours: RuleQuietHours, now: Date): Date | null {
  let end: Date | null = null
  for (let count = 0; count < MAX_PERIODS; count++) {
    const next = endOfPeriod(hours, end ?? now)
    if (next === null) break
    end = next
  }
  return end
}

function endOfPeriod(hours: RuleQuietHours, now: Date): Date | null {
  const { days, from, to, timeZone } = hours
  const today = startOfDay(wallClockAt(now, timeZone))
  const length = to > from ? 0 : DAY_MS
  // The hours that began yesterday may last until today.
  for (const day of [today - DAY_MS, today]) {
    if (!days.includes(weekdayOf(day))) continue
    const start = instantOf(day + millisecondsOf(from), timeZone)
    const end = instantOf(day + length + millisecondsOf(to), timeZone)
    if (start <= now && now < end) return end
  }
  return null
}

/** Whether quiet hours cover the whole week, so that nothing would ever be sent. */
export function areAlwaysQuiet({ days, from, to }: RuleQuietHours): boolean {
  return from === to && new Set(days).size === WEEKDAYS.length
}

/**
 * The instant at which clocks in a time zone show this. The first of two where it occurs twice; the
 * end of the gap where it is skipped.
 */
function instantOf(wall: WallClock, timeZone: string): Date {
  const offsetAt = (at: number) => wallClockAt(new Date(at), timeZone) - at
  // The offsets of the day before and the day after are those around a change of the clock.
  const offsets = [offsetAt(wall - DAY_MS), offsetAt(wall + DAY_MS)]
  const exact = offsets
    .map((offset) => wall - offset)
    .filter((at) => wallClockAt(new Date(at), timeZone) === wall)
  if (exact.length > 0) return new Date(Math.min(...exact))
  return endOfGap(wall, timeZone, Math.min(...offsets.map((offset) => wall - offset)))
}

/** The first whole minute, from `start` on, at which clocks show this or more. */
function endOfGap(wall: WallClock, timeZone: string, start: number): Date {
  let at = start
  while (wallClockAt(new Date(at), timeZone) < wall) at += MINUTE_MS
  return new Date(at)
}

function wallClockAt(at: Date, timeZone: string): WallClock {
  const parts = Object.fromEntries(
    clockIn(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  ) as Record<'year' | 'month' | 'day' | 'hour' | 'minute', number>
  const { year, month, day, hour, minute } = parts
  return Date.UTC(year, month - 1, day, hour, minute) + (at.getTime() % MINUTE_MS)
}

/** 1 January 1970 was a Thursday. */
const weekdayOf = (day: WallClock) =>
  WEEKDAYS[(Math.floor(day / DAY_MS) + 3) % 7] as (typeof WEEKDAYS)[number]

function millisecondsOf(clock: string): number {
  const [hours = 0, minutes = 0] = clock.split(':').map(Number)
  return (hours * 60 + minutes) * MINUTE_MS
}

/** Creating a formatter takes longer than using it. */
const clocks = new Map<string, Intl.DateTimeFormat>()
const MAX_CLOCKS = 100

function clockIn(timeZone: string): Intl.DateTimeFormat {
  const known = clocks.get(timeZone)
  if (known) return known
  if (clocks.size >= MAX_CLOCKS) clocks.clear()
  const clock = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    hourCycle: 'h23',
  })
  clocks.set(timeZone, clock)
  return clock
}
