import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseFeedbackReport } from '../../../src/protocols/reports/feedback-report.ts'
import { fieldValues } from '../../../src/protocols/mail/message.ts'
import { complaintMail } from '../../deliverability/complaint-mail.ts'

const parse = (mail: string) => parseFeedbackReport(Buffer.from(mail, 'latin1'))
const fixture = (name: string) => readFileSync(`test/fixtures/dmarc/${name}`)

describe('a feedback report', () => {
  it('tells type, source, domain, recipient and header of the mail', () => {
    const report = parse(
      complaintMail({
        report: ['Source-IP: 192.0.2.7', 'Original-Rcpt-To: <Anna@Yahoo.test>', 'Incidents: 3'],
        header: ['From: Shop <news@shop.example.com>', 'Subject: Offers'],
      }),
    )
    expect(report).toMatchObject({
      type: 'abuse',
      incidents: 3,
      source: '192.0.2.7',
      domain: 'shop.example.com',
      recipients: ['anna@yahoo.test'],
    })
    expect(report?.header && fieldValues(report.header, 'subject')).toEqual([' Offers'])
    expect(report?.header?.body).toBe('')
  })

  it('is read with a header alone, encoded or not', () => {
    const header = ['From: news@example.com', 'List-Id: <offers.example.com>']
    for (const part of ['text/rfc822-headers', 'message/rfc822'])
      for (const encoding of ['7bit', 'base64', 'quoted-printable'])
        expect(parse(complaintMail({ header, part, encoding, body: null }))).toMatchObject({
          domain: 'example.com',
          header: { fields: [{ name: 'from' }, { name: 'list-id' }] },
        })
  })

  it('names the domain by its own fields where the mail is missing', () => {
    const bare = { header: null }
    const named = ['Reported-Domain: Example.COM', 'Original-Mail-From: <b@other.test>']
    expect(parse(complaintMail({ ...bare, report: named }))?.domain).toBe('example.com')
    expect(parse(complaintMail({ ...bare, report: named.slice(1) }))?.domain).toBe('other.test')
    expect(parse(complaintMail(bare))).toMatchObject({ domain: null, source: null, header: null })
  })

  it('is read from the example of RFC 5965, and from real reports', () => {
    expect(parseFeedbackReport(fixture('arf-abuse.eml'))).toMatchObject({
      type: 'abuse',
      domain: 'example.net',
      incidents: 1,
    })
    expect(parseFeedbackReport(fixture('failure-arf.eml'))?.type).toBe('auth-failure')
  })

  it('is nothing else: not mail without one, nor one without a type', () => {
    expect(parse('From: a@example.com\r\n\r\nFeedback-Type: abuse\r\n')).toBeNull()
    expect(parse(complaintMail({ type: '' }))).toBeNull()
    expect(parse(complaintMail({ type: '<script>' }))).toBeNull()
    expect(parse('')).toBeNull()
  })

  it('bounds what a stranger can claim', () => {
    const report = ['Incidents: 4294967295', 'Source-IP: not an address', 'Reported-Domain: x y']
    expect(parse(complaintMail({ report, header: null }))).toMatchObject({
      incidents: 1_000,
      source: null,
      domain: null,
    })
    expect(parse(complaintMail({ report: ['Incidents: -5'] }))?.incidents).toBe(1)
  })
})
