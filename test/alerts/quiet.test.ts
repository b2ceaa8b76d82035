import { describe, expect, it } from 'vitest'
import { quietHoursEnd } from '../../src/alerts/quiet-hours.ts'

const NIGHT = { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' }
const end = (hours: typeof NIGHT, at: string) =>
  quietHoursEnd(hours, new Date(at))?.toISOString() ?? null

describe('quiet hours', () => {
  it.each([
    ['before them', '2026-11-21T20:59:59Z', null],
    ['at their beginning', '2026-11-21T21:00:00Z', '2026-11-22T06:00:00.000Z'],
    ['past midnight', '2026-11-22T00:30:40Z', '2026-11-22T06:00:00.000Z'],
    ['at their end', '2026-11-22T06:00:00Z', null],
    ['in summer', '2026-07-21T20:00:00Z', '2026-07-22T05:00:00.000Z'],
  ])('%s', (_when, at, expected) => {
    expect(end(NIGHT, at)).toBe(expected)
  })

  it('may be within one day, or absent', () => {
    const noon = { from: '12:00', to: '13:30', timeZone: 'UTC' }
    expect(end(noon, '2026-11-21T12:10:00Z')).toBe('2026-11-21T13:30:00.000Z')
    expect(end(noon, '2026-11-21T13:30:00Z')).toBe(null)
    expect(end({ ...noon, to: '12:00' }, '2026-11-21T12:00:00Z')).toBe(null)
  })
})
