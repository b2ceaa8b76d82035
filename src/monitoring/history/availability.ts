import { AVAILABILITY_DAYS } from '../limits.ts'
import type { Period } from './host-history.sql.ts'
import { DAY_MS } from '../../time.ts'

/** `percent` (0 to 100) is the share of the known time without a critical or major listing. */
export type Availability = {
  days: number
  percent: number | null
  cleanSeconds: number
  listedSeconds: number
  unknownSeconds: number
}

/** Start of the period over which availability is computed. */
export function availableSince(now = new Date()): Date {
  return new Date(now.getTime() - AVAILABILITY_DAYS * DAY_MS)
}

/** A period of a host in milliseconds since 1970. */
type HostPeriod = { state: Period; from: number; to: number }

/**
 * The periods of a host by the seconds at which they began; the current one ends now, or as soon as
 * it begins where the clock of the database is ahead.
 */
export function periodsUntil(begun: [Period, number][], now: Date): HostPeriod[] {
  const periods = begun.map(([state, seconds], index) => {
    const from = seconds * 1000
    const [, next] = begun[index + 1] ?? []
    return { state, from, to: next === undefined ? Math.max(from, now.getTime()) : next * 1000 }
  })
  // Periods before the first day begin and end with it.
  return periods.filter(({ from, to }, index) => to > from || index === periods.length - 1)
}

/** Sums the periods of a host since `availableSince`. */
export function availabilityOf(periods: HostPeriod[]): Availability {
  const milliseconds: Record<Period, number> = { clean: 0, listed: 0, unknown: 0 }
  for (const { state, from, to } of periods) milliseconds[state] += to - from
  const secondsIn = (state: Period) => Math.round(milliseconds[state] / 1000)
  const [cleanSeconds, listedSeconds] = [secondsIn('clean'), secondsIn('listed')]
  const known = cleanSeconds + listedSeconds
  return {
    days: AVAILABILITY_DAYS,
    percent: known > 0 ? Math.floor((cleanSeconds / known) * 100_000) / 1000 : null,
    cleanSeconds,
    listedSeconds,
    unknownSeconds: secondsIn('unknown'),
  }
}

/** State on a UTC day; `none` before the first check. */
export type DayState = Period | 'none'

const WEIGHTS: Record<DayState, number> = { none: 0, unknown: 1, clean: 2, listed: 3 }

/**
 * The state of a host on each of the last UTC days, today last: listed if it was for a part of the
 * day, else clean if it was for a part of it.
 */
export function dailyStatesOf(periods: HostPeriod[], now: Date): DayState[] {
  const today = dayOf(now.getTime())
  const first = today - (AVAILABILITY_DAYS - 1)
  const days = Array.from({ length: AVAILABILITY_DAYS }, (): DayState => 'none')
  for (const { state, from, to } of periods) {
    const last = Math.min(dayOf(to), today)
    for (let day = Math.max(dayOf(from), first); day <= last; day++)
      if (WEIGHTS[state] > WEIGHTS[days[day - first] ?? 'none']) days[day - first] = state
  }
  return days
}

const dayOf = (time: number) => Math.floor(time / DAY_MS)
