import { describe, expect, it } from 'vitest'
import { splitIntoBatches } from '../../web/src/dmarc/reports/batches.ts'
import { periodSince, periodWithReports } from '../../web/src/dmarc/search.ts'
import { monthsBetween, showsMonths, sumByMonth } from '../../web/src/dmarc/summary/months.ts'
import { describeDays, readinessTitle } from '../../web/src/dmarc/messages.ts'
import { shareText } from '../../web/src/dmarc/share-text.ts'

describe('a share', () => {
  it.each([
    [1, 3, '33.3%'],
    [9_997, 10_000, '99.9%'],
    [0, 10, '0%'],
    [10, 10, '100%'],
    [0, 0, '–'],
  ])('of %i in %i is %s, rounded down', (part, all, text) => {
    expect(shareText(part, all)).toBe(text)
  })
})

describe('the sentence of the daily chart', () => {
  const day = (name: string, messages: number, fail: number) =>
    ({ day: name, messages, fail }) as never
  const text = (days: never[], messages: number, fail: number) =>
    describeDays({ days, totals: { messages, fail } })

  it('names the worst day', () => {
    expect(text([day('2026-11-01', 10, 1), day('2026-11-02', 1_000, 70)], 1_010, 71)).toBe(
      '71 of 1,010 messages failed, most on 2 Nov (70).',
    )
  })
  it('reports when no message failed, and when there were none', () => {
    expect(text([day('2026-11-01', 1, 0)], 1, 0)).toBe('The only message passed.')
    expect(text([day('2026-11-01', 0, 0)], 0, 0)).toBe('No messages.')
  })
})

describe('files to upload', () => {
  const files = (count: number, size: number) => Array.from({ length: count }, () => ({ size }))

  it('are sent in batches of up to 100', () => {
    expect(splitIntoBatches(files(250, 10)).map(({ length }) => length)).toEqual([100, 100, 50])
  })
  it('are split by size; a file above the limit is sent alone', () => {
    expect(splitIntoBatches(files(3, 10_000_000)).map(({ length }) => length)).toEqual([2, 1])
    expect(
      splitIntoBatches([...files(1, 5), ...files(1, 90_000_000), ...files(1, 5)]).map(
        ({ length }) => length,
      ),
    ).toEqual([1, 1, 1])
    expect(splitIntoBatches([])).toEqual([])
  })
})

describe('the readiness verdict', () => {
  it('depends on the verdict code and the next policy, not on the API’s sentence', () => {
    expect(readinessTitle({ verdict: 'not-ready', policy: 'reject', undecided: [] })).toBe(
      'Not ready for p=reject',
    )
    expect(readinessTitle({ verdict: 'ready', policy: 'quarantine', undecided: [] })).toBe(
      'Ready for p=quarantine',
    )
    expect(readinessTitle({ verdict: 'too-early', policy: 'quarantine', undecided: [] })).toBe(
      'Not enough mail for p=quarantine yet',
    )
    expect(readinessTitle({ verdict: 'enforced', policy: null, undecided: [] })).toBe(
      'Enforced: p=reject',
    )
    expect(readinessTitle({ verdict: 'no-data', policy: 'quarantine', undecided: [] })).toBe(
      'No messages reported yet',
    )
  })
})

describe('the period of a summary', () => {
  const today = new Date().toISOString().slice(0, 10)

  it('ends with the newest report where the last 30 days have none', () => {
    expect(periodWithReports({ from: '1979-08-07', to: '2024-06-13' })).toEqual({
      from: '2024-05-15',
      to: '2024-06-13',
    })
    expect(periodWithReports({ from: '1979-08-07', to: today })).toEqual({})
    expect(periodWithReports(null)).toEqual({})
  })
  it('is shown by month from a year on', () => {
    expect(showsMonths({ from: '2025-11-22', to: '2026-11-21' })).toBe(false)
    expect(showsMonths({ from: '2024-01-01', to: '2026-11-21' })).toBe(true)
    expect(monthsBetween('2025-11-30', '2026-02-01')).toEqual([
      '2025-11',
      '2025-12',
      '2026-01',
      '2026-02',
    ])
    const days = ['2025-11-30', '2026-01-01', '2026-01-31'].map((day, index) => ({
      day,
      messages: 10 ** index,
      pass: 1,
    }))
    expect(sumByMonth(days)).toEqual([
      { day: '2025-11', messages: 1, pass: 1 },
      { day: '2026-01', messages: 110, pass: 2 },
    ])
  })
})

describe('the period of a link to a source', () => {
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()

  it('is the shortest that includes the report; the default is omitted', () => {
    expect([1, 28, 30, 200, 2_000].map((days) => periodSince(ago(days)))).toEqual([
      {},
      {},
      { days: 90 },
      { days: 365 },
      { days: 'all' },
    ])
  })
})
