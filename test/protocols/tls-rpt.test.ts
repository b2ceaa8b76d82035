import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { adviceOnTlsRpt, parseTlsRpt } from '../../src/protocols/tls-rpt.ts'
import { hostile, within } from './hostile.ts'

/** RFC 8460, 3.1. */
const RECORD = 'v=TLSRPTv1;rua=mailto:reports@example.com'

describe('a TLS reporting record', () => {
  it('names addresses for reports', () => {
    expect(parseTlsRpt('v=TLSRPTv1; rua=mailto:a@b.example, https://r.example/v1/tlsrpt')).toMatchObject({
      rua: ['mailto:a@b.example', 'https://r.example/v1/tlsrpt'],
      invalid: [],
    })
  })
  it('has addresses that nobody can use', () => {
    expect(parseTlsRpt('v=TLSRPTv1; rua=a@b.example,http://r.example,mailto:c')).toMatchObject({
      rua: [],
      invalid: ['a@b.example', 'http://r.example', 'mailto:c'],
    })
  })
  it.each(['v=TLSRPTv2; rua=mailto:a@b.example', 'rua=mailto:a@b.example', ''])('is not %j', (text) => {
    expect(parseTlsRpt(text)).toBeNull()
  })
  it('is read without an error, whatever a stranger publishes, in a time in proportion to its length', () => {
    fc.assert(fc.property(hostile(), (text) => void parseTlsRpt(`v=TLSRPTv1; rua=${text}`)))
    within(
      parseTlsRpt,
      [',', 'mailto:', '@', 'mailto:a@', 'https://', ' '],
      ['v=TLSRPTv1; rua=', 'v=TLSRPTv1; rua=mailto:'],
    )
  })
})

const advise = (...texts: string[]) =>
  adviceOnTlsRpt('example.com', { exists: true, alias: null, error: null, texts }, true)

describe('advice on TLS reporting', () => {
  it('is silent when all is well, and where no mail is received', () => {
    expect(advise(RECORD)).toEqual([])
    expect(adviceOnTlsRpt('example.com', { exists: true, alias: null, error: null, texts: [] }, false)).toEqual([])
  })
  it.each([
    ['info', advise()],
    ['error', advise(RECORD, RECORD)],
    ['error', advise('v=TLSRPTv1')],
    ['warning', advise(`${RECORD},nobody`)],
  ])('is of the kind %s and comes with a record that works', (severity, advice) => {
    expect(advice).toMatchObject([{ severity, publish: { name: '_smtp._tls.example.com', type: 'TXT' } }])
    expect(parseTlsRpt(advice[0]?.publish?.value ?? '')).toMatchObject({ rua: { length: 1 }, invalid: [] })
  })
  it('does not speak of absence when the question failed', () => {
    const failed = { exists: true, alias: null, error: 'SERVFAIL' as const, texts: [] }
    expect(adviceOnTlsRpt('example.com', failed, true)).toMatchObject([
      { severity: 'warning', message: expect.stringMatching(/SERVFAIL/) },
    ])
  })
})
