import { invalidField } from '../errors.ts'
import { DAY_MS } from '../time.ts'
import type { Period } from '../store/bounded.ts'
import { MAX_PERIOD_MS } from './limits.ts'

/** When a digest is sent, in local time. */
export type Schedule = {
  frequency: 'daily' | 'weekly'
  /** 1 is Monday; only for weekly digests. */
  weekday: number
  /** 0 to 23. */
  hour: number
  /** A name of the IANA database, such as `Europe/Berlin`. */
  timeZone: string
}

/** A day of the calendar, without a time zone. */
type Day = { year: number; month: number; day: number }

/** The first scheduled time after `after`. */
export function nextOccurrence(schedule: Schedule, after: Date): Date {
  const clock = createClock(schedule.timeZone)
  for (let days = 0; ; days++) {
    const at = occurrenceOn(schedule, dayAfter(clock.dayOf(after), days), clock)
    if (at !== null && at > after) return at
  }
}

/** The last scheduled time up to `upTo`, which is included. */
export function lastOccurrence(schedule: Schedule, upTo: Date): Date {
  const clock = createClock(schedule.timeZone)
  for (let days = 0; ; days--) {
    const at = occurrenceOn(schedule, dayAfter(clock.dayOf(upTo), days), clock)
    if (at !== null && at <= upTo) return at
  }
}

/**
 * The period of the digest that is sent now: up to the last scheduled time, from the end of the
 * last digest. After downtime, one digest covers everything that was missed, up to 31 days.
 */
export function periodOf(schedule: Schedule, coveredUntil: Date | null, now: Date): Period {
  const to = lastOccurrence(schedule, now)
  const usual = lastOccurrence(schedule, new Date(to.getTime() - 1))
  const from = coveredUntil !== null && coveredUntil < to ? coveredUntil : usual
  return { from: new Date(Math.max(from.getTime(), to.getTime() - MAX_PERIOD_MS)), to }
}

/** The period of a test or preview: a day or a week up to now. */
export function periodUntil({ frequency }: Pick<Schedule, 'frequency'>, to: Date): Period {
  return { from: new Date(to.getTime() - (frequency === 'daily' ? 1 : 7) * DAY_MS), to }
}

/** @throws Fault `invalid_request` when the time zone does not exist */
export function requireTimeZone(timeZone: string): void {
  try {
    createClock(timeZone)
  } catch {
    const message = 'is not a time zone such as Europe/Berlin or UTC'
    throw invalidField('timeZone', message, `“${timeZone.slice(0, 60)}”`)
  }
}

/** Null on a day without a digest. */
function occurrenceOn({ frequency, weekday, hour }: Schedule, day: Day, clock: Clock): Date | null {
  return frequency === 'weekly' && weekdayOf(day) !== weekday ? null : clock.instantOf(day, hour)
}

const wallTime = ({ year, month, day }: Day, hour: number) => Date.UTC(year, month - 1, day, hour)

function dayAfter(day: Day, days: number): Day {
  const at = new Date(wallTime(day, 0) + days * DAY_MS)
  return { year: at.getUTCFullYear(), month: at.getUTCMonth() + 1, day: at.getUTCDate() }
}

/** 1 is Monday. */
const weekdayOf = (day: Day) => new Date(wallTime(day, 0)).getUTCDay() || 7

type Clock = { dayOf(at: Date): Day; instantOf(day: Day, hour: number): Date }

/** @throws RangeError when the time zone does not exist */
function createClock(timeZone: string): Clock {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'iso8601',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })

  function partsOf(at: number): Record<string, number> {
    return Object.fromEntries(
      format.formatToParts(at).map(({ type, value }) => [type, Number(value)]),
    )
  }

  function dayOf(at: Date): Day {
    const { year = 0, month = 0, day = 0 } = partsOf(at.getTime())
    return { year, month, day }
  }

  /** Milliseconds that local time is ahead of UTC. */
  function offsetAt(at: number): number {
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = partsOf(at)
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000
  }

  /**
   * The instant of a local time. One that the clock skips is replaced by the time after the change,
   * and of one that occurs twice the first counts.
   */
  function instantOf(day: Day, hour: number): Date {
    const wall = wallTime(day, hour)
    const [before, after] = [offsetAt(wall - DAY_MS), offsetAt(wall + DAY_MS)]
    const found = [wall - before, wall - after]
      .filter((at) => offsetAt(at) === wall - at)
      .toSorted((a, b) => a - b)
    return new Date(found[0] ?? wall - before)
  }

  return { dayOf, instantOf }
}
