import { describe, expect, it } from 'vitest'
import { splitIntoBatches } from '../../web/src/dmarc/reports/batches.ts'
import { daysParameterSince } from '../../web/src/dmarc/search.ts'
import { describeDays, canReceiveMail, partsOf, shareText } from '../../web/src/dmarc/words.ts'

describe('a share', () => {
  it.each([
    [1, 3, '33.3 %'],
    [9_997, 10_000, '99.9 %'],
    [0, 10, '0 %'],
    [10, 10, '100 %'],
    [0, 0, '–'],
  ])('of %i in %i is %s, rounded down', (part, all, text) => {
    expect(shareText(part, all)).toBe(text)
  })
})

describe('the days in a sentence', () => {
  const day = (name: string, messages: number, fail: number) => ({ day: name, messages, fail }) as never
  const text = (days: never[], messages: number, fail: number) => describeDays({ days, totals: { messages, fail } })

  it('names the worst day', () => {
    expect(text([day('2026-11-01', 10, 1), day('2026-11-02', 1_000, 70)], 1_010, 71)).toBe(
      '1,010 messages in 2 days, of which 71 failed, the most on 2 Nov: 70.',
    )
  })
  it('says so when nothing failed, and when nothing was sent', () => {
    expect(text([day('2026-11-01', 1, 0)], 1, 0)).toBe('1 message in 1 day, none of which failed.')
    expect(text([day('2026-11-01', 0, 0)], 0, 0)).toBe('No messages in 1 day.')
  })
})

describe('files to upload', () => {
  const files = (count: number, size: number) => Array.from({ length: count }, () => ({ size }))

  it('go together, a hundred at most', () => {
    expect(splitIntoBatches(files(250, 10)).map(({ length }) => length)).toEqual([100, 100, 50])
  })
  it('go in parts that are not too large, and what is too large goes alone', () => {
    expect(splitIntoBatches(files(3, 10_000_000)).map(({ length }) => length)).toEqual([2, 1])
    expect(
      splitIntoBatches([...files(1, 5), ...files(1, 90_000_000), ...files(1, 5)]).map(({ length }) => length),
    ).toEqual([1, 1, 1])
    expect(splitIntoBatches([])).toEqual([])
  })
})

describe('a verdict', () => {
  it('has the answer first, and then what belongs to it', () => {
    expect(partsOf('90.0 % aligned: p=reject is not safe yet; this source would be hit: a.test (3 messages).')).toEqual(
      {
        verdict: '90.0 % aligned: p=reject is not safe yet',
        rest: 'This source would be hit: a.test (3 messages).',
      },
    )
    expect(partsOf('Nothing can be said yet.')).toEqual({ verdict: 'Nothing can be said yet', rest: null })
  })
})

describe('where reports would be sent', () => {
  it('is a name that mail can be delivered to, and neither this machine nor a bare address', () => {
    const domains = ['localhost', '127.0.0.1', '[::1]', 'reports.example.com', 'xn--bcher-kva.example']
    expect(domains.filter((domain) => canReceiveMail(`ab12@${domain}`))).toEqual(domains.slice(3))
  })
})

describe('how far back to look', () => {
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()

  it('is the shortest time in which a report lies, and the usual goes without saying', () => {
    expect([1, 28, 30, 200, 2_000].map((days) => daysParameterSince(ago(days)))).toEqual([
      undefined,
      undefined,
      90,
      365,
      365,
    ])
  })
})
