import { describe, expect, it } from 'vitest'
import { diffRecords } from '../../web/src/domains/record-diff.ts'

/** Both records, with changed terms in brackets. */
function shown(before: string, after: string): string[] {
  const terms = diffRecords(before, after)
  return [terms.before, terms.after].map((side) =>
    side.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join(' '),
  )
}

describe('the difference of two records', () => {
  it('marks changed tags and leaves the others, such as pct', () => {
    expect(
      shown(
        'v=DMARC1; p=none; pct=50; rua=mailto:a@example.com',
        'v=DMARC1; p=quarantine; pct=50; rua=mailto:a@example.com',
      ),
    ).toEqual([
      'v=DMARC1; [p=none;] pct=50; rua=mailto:a@example.com',
      'v=DMARC1; [p=quarantine;] pct=50; rua=mailto:a@example.com',
    ])
  })
  it('marks an added mechanism of SPF where it is added', () => {
    expect(shown('v=spf1 mx ~all', 'v=spf1 mx include:sendgrid.net ~all')).toEqual([
      'v=spf1 mx ~all',
      'v=spf1 mx [include:sendgrid.net] ~all',
    ])
  })
  it('marks removals at the end', () => {
    expect(shown('v=spf1 mx -all extra', 'v=spf1 mx -all')).toEqual([
      'v=spf1 mx -all [extra]',
      'v=spf1 mx -all',
    ])
  })
  it('leaves the last tag alone when it only gets a semicolon', () => {
    expect(shown('v=DMARC1; p=none; pct=50', 'v=DMARC1; p=none; pct=50; rua=x')).toEqual([
      'v=DMARC1; p=none; pct=50',
      'v=DMARC1; p=none; pct=50; [rua=x]',
    ])
  })
})
