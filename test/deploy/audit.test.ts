import { describe, expect, it } from 'vitest'
import { judge } from '../../scripts/audit.ts'

const advisory = (severity: string) => ({
  title: 'Reads anything',
  url: 'https://example.test/1',
  severity,
})
const finding = (name: string, severity: string) => ({
  name,
  severity,
  range: '<2',
  via: [advisory(severity)],
})

describe('the audit of shipped packages', () => {
  it('fails for a high or a critical one, and names each', () => {
    const report = { vulnerabilities: { a: finding('a', 'high'), b: finding('b', 'low') } }
    expect(judge(report)).toEqual({
      isGrave: true,
      lines: [
        'high: a <2: Reads anything https://example.test/1',
        'low: b <2: Reads anything https://example.test/1',
      ],
    })
    expect(judge({ vulnerabilities: { c: finding('c', 'critical') } })?.isGrave).toBe(true)
  })

  it('accepts others, and lists them', () => {
    expect(judge({ vulnerabilities: { a: finding('a', 'moderate') } })).toMatchObject({
      isGrave: false,
    })
    expect(judge({ vulnerabilities: {} })).toEqual({ isGrave: false, lines: [] })
  })

  it('does not treat a missing answer as success', () => {
    expect(judge({ message: '405 Method Not Allowed' })).toBeNull()
    expect(judge({})).toBeNull()
  })
})
