import { createHash, X509Certificate } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  compareTlsa,
  formatTlsa,
  recommendedTlsa,
  type TlsaRecord,
} from '../../../src/protocols/mail/tlsa.ts'
import { certificateFacts } from '../../../src/net/tls/certificate.ts'
import { makeAuthority, makeCertificate, type Certified } from '../../servers/certificates.ts'

const { intermediate } = makeAuthority()
const leaf = makeCertificate({ subject: '/CN=mx.example.test', issuer: intermediate })
const other = makeCertificate({ subject: '/CN=mx.example.test' })
const NAMES = ['mx.example.test']
const facts = ({ cert }: Certified) => certificateFacts(new X509Certificate(cert).raw)
const chain = [facts(leaf), facts(intermediate)]

function record(
  [usage, selector, matchingType]: [number, number, number],
  of: Certified,
): TlsaRecord {
  const { der, publicKeyDer } = facts(of)
  const data = selector === 0 ? der : (publicKeyDer ?? Buffer.alloc(0))
  const digest = { 1: 'sha256', 2: 'sha512' }[matchingType]
  const certificate = digest ? createHash(digest).update(data).digest() : data
  return { usage, selector, matchingType, certificate }
}

const compare = (one: TlsaRecord, sent = chain) => compareTlsa([one], sent, NAMES)[0]

describe('a TLSA record', () => {
  it.each([0, 1])(
    'of usage 3 and selector %i matches the certificate of the server',
    (selector) => {
      for (const matchingType of [0, 1, 2]) {
        const parts: [number, number, number] = [3, selector, matchingType]
        expect(compare(record(parts, leaf))?.status).toBe('matched')
        expect(compare(record(parts, other))?.status).toBe('mismatched')
        expect(compare(record(parts, intermediate))?.status).toBe('mismatched')
      }
    },
  )

  it('of usage 2 matches an issuer that the server sent', () => {
    const found = record([2, 1, 1], intermediate)
    expect(compare(found)?.status).toBe('matched')
    expect(compare(found, chain.slice(0, 1))?.status).toBe('mismatched')
  })

  it('is unusable for mail with usage 0 or 1, an unknown type, or a digest of another length', () => {
    const good = record([3, 1, 1], leaf)
    for (const wrong of [
      { ...good, usage: 0 },
      { ...good, usage: 1 },
      { ...good, selector: 2 },
      { ...good, matchingType: 3 },
      { ...good, certificate: good.certificate.subarray(1) },
    ])
      expect(compare(wrong)).toMatchObject({
        status: 'unusable',
        reason: expect.any(String),
      })
  })

  it('is recommended as 3 1 1 with the digest of the key, and matches', () => {
    const proposal = recommendedTlsa(facts(leaf))
    expect(proposal && compare(proposal)?.status).toBe('matched')
    expect(proposal && formatTlsa(proposal)).toMatch(/^3 1 1 [0-9a-f]{64}$/)
  })

  it('matches nothing without a certificate', () => {
    expect(compare(record([3, 1, 1], leaf), [])?.status).toBe('mismatched')
  })
})
