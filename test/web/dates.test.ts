import { globSync, readFileSync } from 'node:fs'
import { afterAll, describe, expect, it, vi } from 'vitest'

// The viewer is in Berlin, an hour ahead of UTC in November. The formats read it once, so they are
// loaded anew here, and again for the next file of this process.
const { TZ } = process.env
process.env['TZ'] = 'Europe/Berlin'
vi.resetModules()
const {
  agoText,
  dateText,
  exactText,
  hourAgoText,
  minuteText,
  tooltipText,
  utcDay,
  utcDayBefore,
  utcDayText,
  utcPeriodText,
  viewerTimeZone,
} = await import('../../web/src/ui/text/dates.ts')
afterAll(() => {
  if (TZ === undefined) delete process.env['TZ']
  else process.env['TZ'] = TZ
  vi.resetModules()
})

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const AT = new Date('2026-11-21T23:30:09.120Z')
const later = (ms: number) => AT.getTime() + ms

describe('dates and times', () => {
  it('are formatted in one module only', () => {
    const strangers = globSync('web/src/**/*.{ts,tsx}').filter(
      (file) =>
        file !== 'web/src/ui/text/dates.ts' &&
        /DateTimeFormat|toLocale(?:Date|Time)?String|toDateString|RelativeTimeFormat|\.slice\(0, 10\)/.test(
          readFileSync(file, 'utf8'),
        ),
    )
    expect(strangers).toEqual([])
  })

  it('are in the viewer’s time zone', () => {
    expect(viewerTimeZone()).toBe('Europe/Berlin')
    expect(dateText(AT)).toBe('22 November 2026')
    expect(minuteText(AT)).toBe('22 November 2026 at 00:30')
    expect(exactText(AT)).toBe('22 November 2026 at 00:30:09')
  })

  it('name the zone and the instant in the tooltip', () => {
    expect(tooltipText(AT)).toBe('22 November 2026 at 00:30:09 CET (2026-11-21T23:30:09.120Z)')
  })

  it('are relative for an hour, then a time of today, then a day', () => {
    const noon = new Date(2026, 10, 21, 12, 5)
    const since = (ms: number) => agoText(noon, noon.getTime() + ms)
    expect([since(-5), since(59_999), since(MINUTE), since(59 * MINUTE)]).toEqual([
      'just now',
      'just now',
      '1 min ago',
      '59 min ago',
    ])
    expect(since(3 * HOUR)).toBe('12:05')
    expect(since(24 * HOUR)).toBe('21 Nov')
    expect(since(60 * 24 * HOUR)).toBe('21 Nov 2026')
  })

  it('are relative in hours where only the hour is known', () => {
    expect(hourAgoText(AT, later(59 * MINUTE))).toBe('within the last hour')
    expect(hourAgoText(AT, later(HOUR))).toBe('1 hour ago')
    expect(hourAgoText(AT, later(23 * HOUR))).toBe('23 hours ago')
    expect(hourAgoText(AT, later(72 * HOUR))).toBe('22 Nov')
    expect(hourAgoText(AT, later(400 * 24 * HOUR))).toBe('22 Nov 2026')
  })

  it('stay UTC days where a server counted days in UTC', () => {
    expect(utcDay(AT.getTime())).toBe('2026-11-21')
    expect(utcDayBefore(1, AT.getTime())).toBe('2026-11-20')
    expect(utcDayText('2026-11-21')).toBe('21 Nov')
    expect(utcPeriodText('2026-11-21T00:00:00Z', '2026-11-22T00:00:00Z')).toBe('21 Nov 2026')
    expect(utcPeriodText('2026-11-21T00:00:00Z', '2026-11-22T00:00:01Z')).toBe(
      '21 Nov 2026 – 22 Nov 2026',
    )
  })
})
