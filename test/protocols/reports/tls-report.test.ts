import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tlsReportKey } from '../../../src/protocols/reports/tls-report.ts'
import { parseTlsReport, readSample, tlsIn } from './report-samples.ts'

type Json = Record<string, unknown>
const SAMPLE = JSON.parse(readSample('tlsrpt-rfc8460.json').toString()) as Json
const bytesOf = (report: unknown) => Buffer.from(JSON.stringify(report))
const read = (changes: Json) => parseTlsReport(bytesOf({ ...SAMPLE, ...changes }))
const policies = (...entries: unknown[]) =>
  read({ policies: entries }).then((report) => report.policies)

describe('a TLS report', () => {
  it('is read with every word of RFC 8460', async () => {
    const { policies: read8460 } = await tlsIn('tlsrpt-rfc8460.json')
    expect(read8460).toMatchObject([
      {
        policyType: 'sts',
        policyString: [
          'version: STSv1',
          'mode: testing',
          'mx: *.mail.company-y.example',
          'max_age: 86400',
        ],
        policyDomain: 'company-y.example',
        mxHost: ['*.mail.company-y.example'],
        totalSuccessfulSessionCount: 5326,
        totalFailureSessionCount: 303,
      },
    ])
    expect(read8460[0]?.failureDetails[1]).toEqual({
      resultType: 'starttls-not-supported',
      sendingMtaIp: '2001:db8:abcd:13::1',
      receivingMxHostname: 'mx2.mail.company-y.example',
      receivingMxHelo: null,
      receivingIp: '203.0.113.56',
      failedSessionCount: 200,
      additionalInformation:
        'https://reports.company-x.example/report_info?id=5065427c-23d3#StarttlsNotSupported',
      failureReasonCode: null,
    })
  })

  it('may be UTF-16, or have a byte order mark', async () => {
    const text = `\ufeff${JSON.stringify(SAMPLE)}`
    const [utf8, utf16] = await Promise.all(
      [Buffer.from(text), Buffer.from(text, 'utf16le')].map((b) => parseTlsReport(b)),
    )
    expect(utf16).toEqual(utf8)
  })

  it('may have one thing where a list belongs, and nothing where another does', async () => {
    const policy = {
      'policy-type': 'STS',
      'policy-domain': 'Example.COM.',
      'policy-string': 'version: STSv1',
    }
    const details = { 'result-type': 'Validation-Failure', 'failed-session-count': '3' }
    const [policyRead] = await policies({ policy, 'failure-details': details })
    expect(policyRead).toMatchObject({
      policyType: 'sts',
      policyString: ['version: STSv1'],
      policyDomain: 'example.com',
      mxHost: [],
      totalSuccessfulSessionCount: 0,
      failureDetails: [
        { resultType: 'validation-failure', failedSessionCount: 3, sendingMtaIp: null },
      ],
    })
  })

  it('keeps the other policies when one has no domain', async () => {
    const named = {
      policy: { 'policy-domain': 'a.example' },
      summary: { 'total-failure-session-count': 2 },
    }
    const report = await read({
      policies: [
        { policy: { 'policy-type': 'sts' } },
        named,
        null,
        { policy: { 'policy-domain': 7 } },
      ],
    })
    expect(report).toMatchObject({
      policies: [{ policyDomain: 'a.example', totalFailureSessionCount: 2 }],
      skippedPolicies: 3,
    })
    expect(await read({ policies: [] })).toMatchObject({ policies: [], skippedPolicies: 0 })
  })

  it.each([-1, 1.5, 2 ** 31, '-1', 'many', null, {}, []])(
    'counts %j sessions as none',
    async (count) => {
      const summary = {
        'total-successful-session-count': count,
        'total-failure-session-count': count,
      }
      const [policyRead] = await policies({ policy: { 'policy-domain': 'a.example' }, summary })
      expect(policyRead).toMatchObject({
        totalSuccessfulSessionCount: 0,
        totalFailureSessionCount: 0,
      })
    },
  )

  it.each([
    ['report-id', { 'report-id': undefined }],
    ['report-id', { 'report-id': 7 }],
    ['start-datetime', { 'date-range': {} }],
    [
      'end-datetime',
      { 'date-range': { 'start-datetime': '2026-01-01T00:00:00Z', 'end-datetime': 'soon' } },
    ],
    ['policy-domain', { policies: [{}] }],
    ['policy-domain', { policies: [null] }],
  ])('is refused without a readable %s', async (name, changes) => {
    await expect(read(changes)).rejects.toMatchObject({
      message: expect.stringContaining(`“${name}”`),
    })
  })

  it.each(['', 'x', '{"report-id": "1"', '[]', 'null', '7'])('%j is rejected', async (text) => {
    await expect(parseTlsReport(Buffer.from(text))).rejects.toMatchObject({
      name: 'Fault',
      code: 'invalid_request',
    })
  })

  it('that consists of brackets is rejected', async () => {
    await expect(parseTlsReport(Buffer.from('['.repeat(1_000_000)))).rejects.toMatchObject({
      code: 'too_large',
    })
  })

  it('cannot reach a prototype', async () => {
    const text = JSON.stringify(SAMPLE).replace('{', '{"__proto__": {"report-id": "stolen"},')
    expect((await parseTlsReport(Buffer.from(text))).reportId).toBe(SAMPLE['report-id'])
    expect({}).not.toHaveProperty('report-id')
  })

  it('has a key of reporter, ID and period', async () => {
    const key = tlsReportKey(await read({}))
    expect(tlsReportKey(await read({ 'organization-name': 'COMPANY-x', policies: [] }))).toBe(key)
    expect(tlsReportKey(await read({ 'report-id': 'other' }))).not.toBe(key)
    expect(tlsReportKey(await read({ 'organization-name': 'other' }))).not.toBe(key)
  })

  it('is parsed or rejected, for any input', async () => {
    const anything = fc.jsonValue()
    const changed = fc.tuple(fc.constantFrom(...Object.keys(SAMPLE)), anything)
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          anything,
          changed.map(([name, value]) => ({ ...SAMPLE, [name]: value })),
        ),
        async (report) => {
          const outcome = await parseTlsReport(bytesOf(report ?? null)).catch(
            (error: unknown) => error,
          )
          if (outcome instanceof Error) expect(outcome).toMatchObject({ name: 'Fault' })
        },
      ),
      { numRuns: 500 },
    )
  })
})
