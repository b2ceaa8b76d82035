import { invalidField } from '../../errors.ts'
import type { Db } from '../../store/database.ts'
import { DAY_MS, isoDay } from '../../time.ts'
import { MAX_SUMMARY_DAYS } from '../limits.ts'
import type { PERIODS } from './periods.ts'
import { findReportedDays, type DayRange } from './dmarc-summary.sql.ts'

const DEFAULT_DAYS = 30

type RangeQuery = {
  period?: (typeof PERIODS)[number] | undefined
  from?: string | undefined
  to?: string | undefined
}

/**
 * The days that a query asks for: a period by name, or `from` and `to`.
 * @throws Fault `invalid_request`
 */
export async function findRange(
  db: Db,
  domainId: string,
  { period, from, to }: RangeQuery,
): Promise<DayRange> {
  const now = new Date()
  if (period === undefined) return parseRange({ from, to }, now)
  if (from !== undefined || to !== undefined) {
    const message = 'cannot be combined with from or to'
    throw invalidField('period', message)
  }
  const today = isoDay(now.getTime())
  if (period !== 'all') return lastDays(parseInt(period, 10), today)
  const reported = await findReportedDays(db, domainId)
  if (!reported) return lastDays(DEFAULT_DAYS, today)
  return { from: reported.from, to: reported.to > today ? reported.to : today }
}

/** The days until a day, inclusive. */
export function lastDays(days: number, to: string): DayRange {
  return { from: isoDay(Date.parse(to) - (days - 1) * DAY_MS), to }
}

/** As many days before a range; null for one that is too long to have any. */
export function rangeBefore(range: DayRange): DayRange | null {
  const days = daysIn(range)
  if (days > MAX_SUMMARY_DAYS) return null
  return lastDays(days, isoDay(Date.parse(range.from) - DAY_MS))
}

/**
 * Parses a range of days, both inclusive. An end at midnight means the day before.
 * @throws Fault `invalid_request`
 */
export function parseRange(
  { from, to }: { from?: string | undefined; to?: string | undefined },
  now: Date,
): DayRange {
  const last = to === undefined ? now.getTime() : isDay(to) ? Date.parse(to) : Date.parse(to) - 1
  const first = from === undefined ? last - (DEFAULT_DAYS - 1) * DAY_MS : Date.parse(from)
  const range = { from: isoDay(first), to: isoDay(last) }
  const days = daysIn(range)
  if (days >= 1 && days <= MAX_SUMMARY_DAYS) return range
  const message =
    days < 1 ? 'must not be after to' : `must not be more than ${MAX_SUMMARY_DAYS} days before to`
  throw invalidField('from', message)
}

function isDay(text: string): boolean {
  return text.length === 'YYYY-MM-DD'.length
}

/** Days of a range, including both ends. */
export function daysIn({ from, to }: DayRange): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1
}
