import { describe, expect, it } from 'vitest'
import { areAlwaysQuiet, ruleQuietEnd } from '../../../src/alerts/rules/quiet.ts'
import { WEEKDAYS, type RuleQuietHours, type Weekday } from '../../../src/alerts/rules/rule.ts'

const EVERY_DAY = [...WEEKDAYS]
const hours = (from: string, to: string, more: Partial<RuleQuietHours> = {}): RuleQuietHours => ({
  days: EVERY_DAY,
  from,
  to,
  timeZone: 'Europe/Berlin',
  ...more,
})
const NIGHT = hours('22:00', '07:00')
const WEEKEND: Weekday[] = ['sat', 'sun']

describe('the quiet hours of a rule', () => {
  it.each<[string, RuleQuietHours, string, string | null]>([
    ['before them', NIGHT, '2026-11-24T20:59:59Z', null],
    ['at their beginning', NIGHT, '2026-11-24T21:00:00Z', '2026-11-25T06:00:00.000Z'],
    ['past midnight', NIGHT, '2026-11-25T00:30:40Z', '2026-11-25T06:00:00.000Z'],
    ['a moment before their end', NIGHT, '2026-11-25T05:59:59.999Z', '2026-11-25T06:00:00.000Z'],
    ['at their end', NIGHT, '2026-11-25T06:00:00Z', null],
    ['within one day', hours('12:00', '13:30'), '2026-11-24T11:10:00Z', '2026-11-24T12:30:00.000Z'],
    // 24 November 2026 is a Tuesday.
    [
      'on their day',
      hours('22:00', '07:00', { days: ['tue'] }),
      '2026-11-24T22:00:00Z',
      '2026-11-25T06:00:00.000Z',
    ],
    [
      'on the morning after their day',
      hours('22:00', '07:00', { days: ['mon'] }),
      '2026-11-24T05:00:00Z',
      '2026-11-24T06:00:00.000Z',
    ],
    [
      'on the evening of another day',
      hours('22:00', '07:00', { days: ['mon'] }),
      '2026-11-24T22:00:00Z',
      null,
    ],
    [
      'on a whole day',
      hours('00:00', '00:00', { days: ['tue'] }),
      '2026-11-24T12:00:00Z',
      '2026-11-24T23:00:00.000Z',
    ],
    [
      'on two whole days in a row',
      hours('00:00', '00:00', { days: WEEKEND }),
      '2026-11-28T12:00:00Z',
      '2026-11-29T23:00:00.000Z',
    ],
    [
      'over six days in a row',
      hours('08:00', '08:00', { days: EVERY_DAY.slice(0, 6) }),
      '2026-11-23T12:00:00Z',
      '2026-11-29T07:00:00.000Z',
    ],
    [
      'in a zone ahead of UTC',
      hours('22:00', '07:00', { timeZone: 'Pacific/Kiritimati', days: ['wed'] }),
      '2026-11-25T08:00:00Z',
      '2026-11-25T17:00:00.000Z',
    ],
    [
      'in a zone behind UTC',
      hours('22:00', '07:00', { timeZone: 'America/Los_Angeles', days: ['tue'] }),
      '2026-11-25T06:30:00Z',
      '2026-11-25T15:00:00.000Z',
    ],
    [
      'in a zone with half hours',
      hours('22:00', '07:00', { timeZone: 'Asia/Kolkata' }),
      '2026-11-24T16:30:00Z',
      '2026-11-25T01:30:00.000Z',
    ],
    [
      'in the night in which the clock goes forward',
      NIGHT,
      '2026-03-28T22:00:00Z',
      '2026-03-29T05:00:00.000Z',
    ],
    [
      'in the night in which the clock goes back',
      NIGHT,
      '2026-10-24T21:00:00Z',
      '2026-10-25T06:00:00.000Z',
    ],
    [
      'until a time that the clock skips',
      hours('22:00', '02:30'),
      '2026-03-29T00:30:00Z',
      '2026-03-29T01:00:00.000Z',
    ],
    ['after that time', hours('22:00', '02:30'), '2026-03-29T01:00:00Z', null],
    [
      'from a time that the clock skips',
      hours('02:30', '05:00'),
      '2026-03-29T01:00:00Z',
      '2026-03-29T03:00:00.000Z',
    ],
    [
      'until a time that occurs twice',
      hours('22:00', '02:30'),
      '2026-10-25T00:29:00Z',
      '2026-10-25T00:30:00.000Z',
    ],
    ['when that time occurs again', hours('22:00', '02:30'), '2026-10-25T01:10:00Z', null],
    [
      'from a time that occurs twice',
      hours('02:30', '05:00'),
      '2026-10-25T00:40:00Z',
      '2026-10-25T04:00:00.000Z',
    ],
    [
      'on a day of 23 hours',
      hours('00:00', '00:00', { days: ['sun'] }),
      '2026-03-29T12:00:00Z',
      '2026-03-29T22:00:00.000Z',
    ],
    [
      'on a day of 25 hours',
      hours('00:00', '00:00', { days: ['sun'] }),
      '2026-10-25T22:30:00Z',
      '2026-10-25T23:00:00.000Z',
    ],
    ['across the end of a year', NIGHT, '2026-12-31T23:30:00Z', '2027-01-01T06:00:00.000Z'],
  ])('%s', (_when, quiet, at, expected) => {
    expect(ruleQuietEnd(quiet, new Date(at))?.toISOString() ?? null).toBe(expected)
  })

  it('end on every minute of a year where they are over', () => {
    // An end that is itself quiet, or is not in the future, would hold alerts for longer or forever.
    const from = Date.parse('2026-01-01T00:00:00Z')
    for (let minute = 0; minute < 366 * 24 * 60; minute += 397) {
      const now = new Date(from + minute * 60_000)
      const end = ruleQuietEnd(NIGHT, now)
      if (end === null) continue
      expect(end.getTime()).toBeGreaterThan(now.getTime())
      expect(end.getTime() - now.getTime()).toBeLessThanOrEqual(10 * 3_600_000)
      expect(ruleQuietEnd(NIGHT, end)).toBe(null)
    }
  })

  it('may not cover the whole week', () => {
    expect(areAlwaysQuiet(hours('08:00', '08:00'))).toBe(true)
    expect(areAlwaysQuiet(hours('08:00', '07:59'))).toBe(false)
    expect(areAlwaysQuiet(hours('08:00', '08:00', { days: WEEKEND }))).toBe(false)
  })
})
