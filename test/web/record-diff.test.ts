import { describe, expect, it } from 'vitest'
import { diffRecords } from '../../web/src/domains/record-diff.ts'

const shown = (before: string, after: string) =>
  diffRecords(before, after)
    .map(({ kind, text }) =>
      kind === 'removed' ? `-${text}` : kind === 'added' ? `+${text}` : text,
    )
    .join(' ')

describe('the difference of two records', () => {
  it('shows changed tags and keeps the others, such as pct', () => {
    expect(
      shown(
        'v=DMARC1; p=none; pct=50; rua=mailto:a@example.com',
        'v=DMARC1; p=quarantine; pct=50; rua=mailto:a@example.com',
      ),
    ).toBe('v=DMARC1; -p=none; +p=quarantine; pct=50; rua=mailto:a@example.com')
  })
  it('shows an added mechanism of SPF where it is added', () => {
    expect(shown('v=spf1 mx ~all', 'v=spf1 mx include:sendgrid.net ~all')).toBe(
      'v=spf1 mx +include:sendgrid.net ~all',
    )
  })
  it('shows removals at the end', () => {
    expect(shown('v=spf1 mx -all extra', 'v=spf1 mx -all')).toBe('v=spf1 mx -all -extra')
  })
})
