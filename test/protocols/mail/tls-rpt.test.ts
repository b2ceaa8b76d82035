import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { adviceOnTlsRpt, parseTlsRpt } from '../../../src/protocols/mail/tls-rpt.ts'
import { hostile, within } from '../reports/hostile.ts'

/** RFC 8460, 3.1. */
const RECORD = 'v=TLSRPTv1;rua=mailto:reports@example.com'

describe('a TLS reporting record', () => {
  it('names addresses for reports', () => {
    expect(
      parseTlsRpt('v=TLSRPTv1; rua=mailto:a@b.example, https://r.example/v1/tlsrpt'),
    ).toMatchObject({
      rua: ['mailto:a@b.example', 'https://r.example/v1/tlsrpt'],
      invalid: [],
    })
  })
  it('reports unusable addresses', () => {
    expect(parseTlsRpt('v=TLSRPTv1; rua=a@b.example,http://r.example,mailto:c')).toMatchObject({
      rua: [],
      invalid: ['a@b.example', 'http://r.example', 'mailto:c'],
    })
  })
  it('has the addresses of a second rua apart', () => {
    const text = 'v=TLSRPTv1 ;rua=mailto:a@b.example; rua=mailto:c@d.example,x;'
    expect(parseTlsRpt(text)).toMatchObject({
      rua: ['mailto:a@b.example'],
      repeated: ['mailto:c@d.example', 'x'],
    })
  })
  it.each([
    'v=TLSRPTv2; rua=mailto:a@b.example',
    'v=tlsrptv1; rua=mailto:a@b.example',
    'v = TLSRPTv1; rua=mailto:a@b.example',
    ' v=TLSRPTv1; rua=mailto:a@b.example',
    'v=TLSRPTv1 rua=mailto:a@b.example',
    'v=TLSRPTv1',
    'rua=mailto:a@b.example',
    '',
  ])('is not %j', (text) => {
    expect(parseTlsRpt(text)).toBeNull()
  })
  it('is parsed without an error, for any published record, in linear time', () => {
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
    expect(
      adviceOnTlsRpt('example.com', { exists: true, alias: null, error: null, texts: [] }, false),
    ).toEqual([])
  })
  it.each([
    ['info', advise()],
    ['error', advise(RECORD, RECORD)],
    ['error', advise('v=TLSRPTv1')],
    ['warning', advise(`${RECORD},nobody`)],
  ])('is of the kind %s and comes with a record that works', (severity, advice) => {
    expect(advice).toMatchObject([
      { severity, publish: { name: '_smtp._tls.example.com', type: 'TXT' } },
    ])
    expect(parseTlsRpt(advice[0]?.publish?.value ?? '')).toMatchObject({
      rua: { length: 1 },
      invalid: [],
    })
  })
  it.each([
    [
      'warning',
      /more than once/,
      `${RECORD}; rua=mailto:more@example.com,https://r.example`,
      `${RECORD},mailto:more@example.com,https://r.example`,
    ],
    ['error', /must begin with exactly/, 'v=tlsrptv1; rua=mailto:reports@example.com', RECORD],
    ['error', /must begin with exactly/, '"v=TLSRPTv1;rua=mailto:reports@example.com"', RECORD],
  ])('is of the kind %s, says %s of %j and mends it', (severity, message, text, mended) => {
    const value = mended.replace(';rua', '; rua')
    expect(advise(text)).toMatchObject([
      { severity, message: expect.stringMatching(message), publish: { value } },
    ])
  })
  it('passes over other TXT records, such as a wildcard gives', () => {
    expect(advise('v=spf1 -all')).toMatchObject([{ severity: 'info' }])
    expect(advise('v=spf1 -all', RECORD)).toEqual([])
  })
  it('does not claim absence when the query failed', () => {
    const failed = { exists: true, alias: null, error: 'SERVFAIL' as const, texts: [] }
    expect(adviceOnTlsRpt('example.com', failed, true)).toMatchObject([
      { severity: 'warning', message: expect.stringMatching(/SERVFAIL/) },
    ])
  })
})
