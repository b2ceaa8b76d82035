import { describe, expect, it } from 'vitest'
import { splitIntoBatches } from '../../web/src/dmarc/reports/batches.ts'
import { daysParameterSince } from '../../web/src/dmarc/search.ts'
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
      '1,010 messages in 2 days, 71 failed. Worst day (UTC): 2 Nov with 70.',
    )
  })
  it('reports when no message failed, and when there were none', () => {
    expect(text([day('2026-11-01', 1, 0)], 1, 0)).toBe('1 message in 1 day, none failed.')
    expect(text([day('2026-11-01', 0, 0)], 0, 0)).toBe('No messages in 1 day.')
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
    expect(readinessTitle({ verdict: 'not-ready', policy: 'reject' })).toBe(
      'Not ready for p=reject',
    )
    expect(readinessTitle({ verdict: 'ready', policy: 'quarantine' })).toBe(
      'Ready for p=quarantine',
    )
    expect(readinessTitle({ verdict: 'too-early', policy: 'quarantine' })).toBe(
      'Not enough data for p=quarantine yet',
    )
    expect(readinessTitle({ verdict: 'enforced', policy: null })).toBe('Enforced: p=reject')
    expect(readinessTitle({ verdict: 'no-data', policy: 'quarantine' })).toBe(
      'No messages reported yet',
    )
  })
})

describe('the period of a link to a source', () => {
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()

  it('is the shortest that includes the report; the default is omitted', () => {
    expect([1, 28, 30, 200, 2_000].map((days) => daysParameterSince(ago(days)))).toEqual([
      undefined,
      undefined,
      90,
      365,
      365,
    ])
  })
})
