import { describe, expect, it } from 'vitest'
import {
  lastOccurrence,
  nextOccurrence,
  periodOf,
  type Schedule,
} from '../../src/digest/digest-schedule.ts'

const daily = (hour: number, timeZone: string): Schedule => ({
  frequency: 'daily',
  weekday: 1,
  hour,
  timeZone,
})
const weekly = (weekday: number, hour: number, timeZone: string): Schedule => ({
  frequency: 'weekly',
  weekday,
  hour,
  timeZone,
})
const next = (schedule: Schedule, after: string) =>
  nextOccurrence(schedule, new Date(after)).toISOString()

/** Each scheduled time in a span, found one after the other. */
function occurrences(schedule: Schedule, from: string, to: string): string[] {
  const found: string[] = []
  for (let at = nextOccurrence(schedule, new Date(from)); at < new Date(to);) {
    found.push(at.toISOString())
    at = nextOccurrence(schedule, at)
  }
  return found
}

describe('the schedule of a digest', () => {
  it('is local time: 08:00 in Berlin is 07:00 UTC in winter and 06:00 UTC in summer', () => {
    expect(next(daily(8, 'Europe/Berlin'), '2026-01-10T12:00:00Z')).toBe('2026-01-11T07:00:00.000Z')
    expect(next(daily(8, 'Europe/Berlin'), '2026-07-10T12:00:00Z')).toBe('2026-07-11T06:00:00.000Z')
  })

  it('has the day of the week of the time zone, not of UTC', () => {
    // Monday 01:00 in Auckland is Sunday in UTC.
    expect(next(weekly(1, 1, 'Pacific/Auckland'), '2026-11-20T00:00:00Z')).toBe(
      '2026-11-22T12:00:00.000Z',
    )
    expect(next(weekly(7, 23, 'America/Los_Angeles'), '2026-11-20T00:00:00Z')).toBe(
      '2026-11-23T07:00:00.000Z',
    )
  })

  it('is strictly later than the time given', () => {
    expect(next(weekly(1, 8, 'UTC'), '2026-11-23T08:00:00Z')).toBe('2026-11-30T08:00:00.000Z')
    expect(next(weekly(1, 8, 'UTC'), '2026-11-23T07:59:59Z')).toBe('2026-11-23T08:00:00.000Z')
  })

  it('moves an hour that the clock skips to after the change, and keeps one a day', () => {
    // In Berlin, 02:00 to 03:00 does not exist on 29 March 2026.
    expect(
      occurrences(daily(2, 'Europe/Berlin'), '2026-03-27T12:00:00Z', '2026-03-31T12:00:00Z'),
    ).toEqual([
      '2026-03-28T01:00:00.000Z',
      '2026-03-29T01:00:00.000Z',
      '2026-03-30T00:00:00.000Z',
      '2026-03-31T00:00:00.000Z',
    ])
  })

  it('takes the first of an hour that occurs twice, and only that', () => {
    // In Berlin, 02:00 occurs twice on 25 October 2026: at 00:00 and 01:00 UTC.
    expect(
      occurrences(daily(2, 'Europe/Berlin'), '2026-10-24T12:00:00Z', '2026-10-27T12:00:00Z'),
    ).toEqual(['2026-10-25T00:00:00.000Z', '2026-10-26T01:00:00.000Z', '2026-10-27T01:00:00.000Z'])
    // In New York, 01:00 occurs twice on 1 November 2026.
    expect(
      occurrences(daily(1, 'America/New_York'), '2026-10-31T12:00:00Z', '2026-11-02T12:00:00Z'),
    ).toEqual(['2026-11-01T05:00:00.000Z', '2026-11-02T06:00:00.000Z'])
  })

  it('works at midnight where the clock changes at midnight, and in zones with half hours', () => {
    // In Beirut, 00:00 does not exist on 29 March 2026.
    const beirut = occurrences(
      daily(0, 'Asia/Beirut'),
      '2026-03-27T12:00:00Z',
      '2026-03-31T12:00:00Z',
    )
    expect(beirut).toEqual([
      '2026-03-27T22:00:00.000Z',
      '2026-03-28T22:00:00.000Z',
      '2026-03-29T21:00:00.000Z',
      '2026-03-30T21:00:00.000Z',
    ])
    expect(next(daily(8, 'Asia/Kathmandu'), '2026-11-20T00:00:00Z')).toBe(
      '2026-11-20T02:15:00.000Z',
    )
  })

  it.each([
    'Europe/Berlin',
    'America/New_York',
    'Australia/Lord_Howe',
    'Asia/Beirut',
    'Africa/Casablanca',
  ])('has one digest on every local day of a year in %s, at every hour', (timeZone) => {
    const day = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' })
    for (const hour of [0, 1, 2, 3, 23]) {
      const all = occurrences(daily(hour, timeZone), '2026-01-01T12:17:00Z', '2026-12-31T12:17:00Z')
      const days = new Set(all.map((at) => day.format(new Date(at))))
      expect(days.size).toBe(all.length)
      expect(all.length).toBeGreaterThanOrEqual(364)
      expect(all.length).toBeLessThanOrEqual(365)
    }
  })

  it('finds the last time as the inverse of the next one', () => {
    const schedule = weekly(3, 2, 'Europe/Berlin')
    for (const at of occurrences(schedule, '2026-02-01T00:00:00Z', '2026-12-01T00:00:00Z')) {
      expect(lastOccurrence(schedule, new Date(at)).toISOString()).toBe(at)
      const previous = lastOccurrence(schedule, new Date(Date.parse(at) - 1))
      expect(nextOccurrence(schedule, previous).toISOString()).toBe(at)
    }
  })
})

describe('the period of a digest', () => {
  const schedule = weekly(1, 8, 'UTC')
  const period = (covered: string | null, now: string) => {
    const { from, to } = periodOf(
      schedule,
      covered === null ? null : new Date(covered),
      new Date(now),
    )
    return [from.toISOString(), to.toISOString()]
  }

  it('is the last week for the first digest, whenever it is sent', () => {
    expect(period(null, '2026-11-23T08:03:00Z')).toEqual([
      '2026-11-16T08:00:00.000Z',
      '2026-11-23T08:00:00.000Z',
    ])
  })
  it('begins where the last digest ended', () => {
    expect(period('2026-11-09T08:00:00Z', '2026-11-23T10:00:00Z')).toEqual([
      '2026-11-09T08:00:00.000Z',
      '2026-11-23T08:00:00.000Z',
    ])
  })
  it('covers up to 31 days', () => {
    expect(period('2026-06-01T08:00:00Z', '2026-11-23T08:00:00Z')[0]).toBe(
      '2026-10-23T08:00:00.000Z',
    )
  })
  it('is the usual one where a clock ran ahead', () => {
    expect(period('2027-01-01T00:00:00Z', '2026-11-23T08:00:00Z')[0]).toBe(
      '2026-11-16T08:00:00.000Z',
    )
  })
})
