import { X509Certificate } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { certificateFacts, parseAltNames } from '../../src/net/tls/certificate.ts'
import { makeCertificate } from '../servers/certificates.ts'

describe('a certificate', () => {
  it('has zero octets as OpenSSL writes them, since no text can be stored with one', () => {
    const { cert } = makeCertificate({ subject: '/O=aX!/CN=bX!.test', altNames: ['DNS:cX!.test'] })
    const der = Buffer.from(new X509Certificate(cert).raw.toString('latin1').replaceAll('X!', 'X\0'), 'latin1') // prettier-ignore
    expect(certificateFacts(der)).toMatchObject({
      subject: { O: String.raw`aX\00`, CN: String.raw`bX\00.test` },
      subjectAltNames: [String.raw`cX\00.test`],
    })
  })
})

describe('subject alternative names', () => {
  it.each<[string, string[]]>([
    ['', []],
    ['DNS:a.test', ['a.test']],
    ['DNS:a.test, DNS:*.a.test', ['a.test', '*.a.test']],
    ['IP Address:192.0.2.1, IP Address:2001:DB8:0:0:0:0:0:1', ['192.0.2.1', '2001:db8::1']],
    ['URI:https://a.test/x, email:a@b.test', ['URI:https://a.test/x', 'email:a@b.test']],
    ['DNS:"a.test, DNS:evil.test", DNS:b.test', ['a.test, DNS:evil.test', 'b.test']],
    [String.raw`DNS:"a\u0000b.test"`, [String.raw`a\00b.test`]],
  ])('%j are %j', (text, names) => {
    expect(parseAltNames(text)).toEqual(names)
  })

  it('never throw', () => {
    fc.assert(
      fc.property(
        fc.string(),
        (text) =>
          Array.isArray(parseAltNames(text)) && Array.isArray(parseAltNames(`DNS:"${text}`)),
      ),
    )
  })
})
