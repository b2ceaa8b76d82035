import * as fc from 'fast-check'
import type { DnsFailure } from '../../src/net/dns.ts'
import { createHash, X509Certificate } from 'node:crypto'
import { rsaKey } from '../diagnostics/mail-domain.ts'
import { makeAuthority, makeCertificate } from '../servers/certificates.ts'
import type { Records } from '../servers/dns-records.ts'

/** A zone of a domain as people publish it, with mistakes, and queries that fail. */
export type RandomZone = {
  domain: string
  records: Records
  failures: Record<string, DnsFailure>
  /** Whether DNSSEC secures all of it. */
  isSigned: boolean
  /** What answers on port 25 of its mail servers. */
  server: ServerKind
}

/** Nothing, a server without TLS, one with a certificate for its name, or with another one. */
export type ServerKind = 'closed' | 'plain' | 'valid' | 'self-signed'

export const { root, intermediate } = makeAuthority()
const altNames = ['example.com', '*.example.com', 'shop.example.com', '*.shop.example.com']
export const CERTIFICATES = {
  valid: makeCertificate({
    subject: '/CN=mail',
    altNames: altNames.map((name) => `DNS:${name}`),
    issuer: intermediate,
  }),
  'self-signed': makeCertificate({ subject: '/CN=other.test', altNames: ['DNS:other.test'] }),
}

/** The data of a TLSA record about the key of a certificate. */
function tlsaOf(parts: string, { cert }: { cert: string }): string {
  const key = new X509Certificate(cert).publicKey.export({ type: 'spki', format: 'der' })
  return `${parts} 1 1 ${createHash('sha256').update(key).digest('hex')}`
}

const [KEY, SMALL, TINY] = [rsaKey(2048), rsaKey(1024), rsaKey(512)]
const ORGANIZATION = 'example.com'

const receiving: Records[] = [
  { 'DOMAIN MX': ['10 mx.DOMAIN'], 'mx.DOMAIN A': ['127.0.0.2'] },
  {
    'DOMAIN MX': ['10 mx.DOMAIN', '20 mx2.DOMAIN'],
    'mx.DOMAIN A': ['127.0.0.2'],
    'mx2.DOMAIN A': ['127.0.0.3'],
  },
  {
    'DOMAIN MX': ['10 mx.DOMAIN'],
    'mx.DOMAIN CNAME': ['real.DOMAIN'],
    'real.DOMAIN A': ['127.0.0.2'],
  },
  { 'DOMAIN MX': ['10 mx.DOMAIN'] },
  { 'DOMAIN MX': ['0 .'] },
  { 'DOMAIN A': ['127.0.0.4'] },
  { 'DOMAIN A': ['127.0.0.4'], 'DOMAIN MX': ['10 mx.DOMAIN'], 'mx.DOMAIN A': ['127.0.0.2'] },
  { 'DOMAIN A': ['127.0.0.4'], 'DOMAIN MX': ['0 .'] },
  {},
]

const spf: string[][] = [
  [],
  ['v=spf1 -all'],
  ['v=spf1 mx -all'],
  ['v=spf1 mx ~all'],
  ['v=spf1 ip4:127.0.0.2 -all'],
  ['v=spf1 mx a -all', 'other text'],
  ['v=spf1 include:_spf.example.net -all'],
  ['v=spf1 mx -all', 'v=spf1 a -all'],
  ['v=spf1 mx ?all'],
  ['v=spf1 mx'],
  ['v=spf1 redirect=_spf.example.net'],
  ['v=spf1 mx x=y -all'],
  ['v=spf1 +all'],
  ['v=spf1 mx +all'],
  ['v=spf1 include:_all.example.net -all'],
  ['v=spf1 redirect=_all.example.net'],
  ['v=spf1 mx -include:_all.example.net ~all'],
  ['v=spf1 ip4:0.0.0.0/0 -all'],
  ['v=spf1 mx/0 -all'],
  ['v=spf1 exists:%{h} -all'],
  ['v=spf1 ?all -all'],
  ['v=spf1 mx a:dead.example -all'],
]

const dmarc: string[][] = [
  [],
  [],
  ['v=DMARC1; p=none'],
  ['v=DMARC1; p=none; rua=mailto:d@example.com'],
  ['v=DMARC1; p=quarantine; rua=mailto:d@example.com'],
  ['v=DMARC1; p=reject; rua=mailto:d@example.com; sp=none'],
  ['v=DMARC1; p=none; sp=quarantine; np=reject; rua=mailto:d@example.com'],
  ['v=DMARC1; p=none; sp=reject; rua=mailto:d@example.com'],
  ['v=DMARC1; p=none; sp=none; rua=mailto:d@example.com'],
  ['v=DMARC1; p=reject; np=none; rua=mailto:d@example.com'],
  ['v=DMARC1; p=reject; pct=50; rua=mailto:d@example.com'],
  ['v=DMARC1; p=quarantine; pct=50; rua=mailto:d@example.com'],
  ['v=DMARC1; p=reject; t=y; rua=mailto:d@example.com'],
  ['v=DMARC1; p=quarantine; t=y; rua=mailto:d@example.com'],
  ['v=DMARC1; p=reject; rua=mailto:d@example.com,mailto:e@other.example'],
  ['v=DMARC1; p=reject; rua=mailto:d@gone.example'],
  ['v=DMARC1; p=reject; rua=d@example.com; ruf=mailto:f@example.com!10m; fo=0:1'],
  [String.raw`v=DMARC1\; p=reject\; rua=mailto:d@example.com`],
  ['v=DMARC1; p:reject; rua:mailto:d@example.com'],
  ['v=DMARC1, p=reject, rua=mailto:d@example.com'],
  ['"v=DMARC1; p=quarantine; rua=mailto:d@example.com"'],
  ['v=DMARC1;\u00A0p=reject; rua=mailto:d@example.com'],
  ['v=DMARC1; p=block; rua=mailto:d@example.com'],
  ['v=DMARC1; sp=reject; rua=mailto:d@example.com'],
  ['v=DMARC1; P=reject; rua=mailto:d@example.com'],
  ['v=DMARC1; p=none; p=reject; rua=mailto:d@example.com'],
  ['v=DMARC1; p=none; rua=mailto:d@example.com', 'v=DMARC1; p=reject; rua=mailto:e@example.com'],
  ['v=DMARC1; p=reject; psd=n; rua=mailto:d@example.com', 'v=spf1 -all'],
]

const dkim: Records[] = [
  {},
  { 'mail._domainkey.DOMAIN TXT': [KEY] },
  Object.fromEntries(
    ['s1', 's2', 'k1', 'k2', 'default'].map((name) => [`${name}._domainkey.DOMAIN TXT`, [SMALL]]),
  ),
  Object.fromEntries(
    ['s1', 's2', 'k1', 'k2', 'k3'].map((name) => [
      `${name}._domainkey.DOMAIN CNAME`,
      [`${name}.gone.example`],
    ]),
  ),
  Object.fromEntries(
    ['s1', 's2', 'k1', 'k2', 'k3'].map((name) => [
      `${name}._domainkey.DOMAIN TXT`,
      [`${KEY}; t=y`],
    ]),
  ),
  Object.fromEntries(
    ['s1', 's2', 'k1', 'k2', 'k3'].map((name) => [
      `${name}._domainkey.DOMAIN TXT`,
      ['v=DKIM1; p=AAAA'],
    ]),
  ),
  Object.fromEntries(
    ['s1', 's2', 'k1', 'k2', 'k3'].map((name) => [
      `${name}._domainkey.DOMAIN TXT`,
      ['v=DKIM1; p='],
    ]),
  ),
  Object.fromEntries(
    ['s1', 's2', 'k1', 'k2', 'k3'].map((name) => [`${name}._domainkey.DOMAIN TXT`, [KEY, SMALL]]),
  ),
  { '*._domainkey.DOMAIN TXT': ['v=DKIM1; p='] },
  { '*._domainkey.DOMAIN TXT': [KEY] },
  { '*._domainkey.DOMAIN CNAME': ['nothing.example'] },
  { '*._domainkey.DOMAIN TXT': ['v=DKIM1; p='], 'mail._domainkey.DOMAIN TXT': [KEY] },
  { '*.DOMAIN CNAME': ['DOMAIN'] },
  { '*.DOMAIN TXT': ['v=spf1 -all'] },
  { 'mail._domainkey.DOMAIN TXT': [KEY.replaceAll(';', '\\;')] },
  { 'mail._domainkey.DOMAIN TXT': [KEY.replace('DKIM1', 'DKIM1.0')] },
  { 'mail._domainkey.DOMAIN TXT': [KEY.replace('; ', ';; ')] },
  { 'mail._domainkey.DOMAIN TXT': [KEY.replace('k=rsa;', 'k=rsa;\u00A0')] },
  { 'mail._domainkey.DOMAIN TXT': [`${TINY}; t=y:s`] },
  { 'mail._domainkey.DOMAIN TXT': [KEY], 's1._domainkey.DOMAIN TXT': ['v=DKIM1; p='] },
]

const one = (name: string, ...variants: string[][]): Records[] =>
  variants.map((texts): Records => (texts.length === 0 ? {} : { [name]: texts }))

const others: Records[][] = [
  one(
    '_mta-sts.DOMAIN TXT',
    [],
    ['v=STSv1; id=1'],
    ['v=STSv1; id=1', 'v=STSv1; id=2'],
    ['v=stsv1; id=1'],
    ['v=STSv1; id= 1'],
  ),
  one(
    '_smtp._tls.DOMAIN TXT',
    [],
    ['v=TLSRPTv1; rua=mailto:t@example.com'],
    ['v=TLSRPTv1; rua=mailto:t@example.com!10m'],
    ['v=TLSRPTv1\\; rua=mailto:t@example.com'],
    ['v=TLSRPTv1; rua=mailto:t@example.com', 'v=TLSRPTv1; rua=mailto:u@example.com'],
  ),
  one(
    'default._bimi.DOMAIN TXT',
    [],
    ['v=BIMI1; l=https://example.com/l.svg; a=https://example.com/l.pem'],
    ['v=BIMI1; l=https://example.com/l.svg'],
    ['v=BIMI1; l=; a=;'],
    ['v=bimi1; l=https://example.com/l.svg'],
  ),
  one(
    'DOMAIN CAA',
    [],
    ['0 issue ca.example'],
    ['128 unheard-of x'],
    ['0 issue ;'],
    ['128 iodef mailto:a@example.com'],
    ['0 issue Our CA'],
  ),
]

const tlsa = (...records: string[]) => ({ '_25._tcp.mx.DOMAIN TLSA': records })
const dane: Records[] = [
  {},
  {},
  tlsa(tlsaOf('3', CERTIFICATES.valid)),
  tlsa(tlsaOf('3', CERTIFICATES['self-signed'])),
  tlsa(tlsaOf('2', intermediate)),
  tlsa(tlsaOf('2', root)),
  tlsa(tlsaOf('3', root), tlsaOf('3', CERTIFICATES.valid)),
  tlsa(tlsaOf('1', CERTIFICATES.valid)),
  { '*.DOMAIN TLSA': [tlsaOf('3', CERTIFICATES.valid)] },
]

const failing = [
  'DOMAIN MX',
  '_dmarc.DOMAIN TXT',
  'DOMAIN TXT',
  '*._domainkey.DOMAIN TXT',
  '_mta-sts.DOMAIN TXT',
  '_smtp._tls.DOMAIN TXT',
  '_dmarc.example.com TXT',
  'DOMAIN CAA',
]

/** Domains of one or two levels; what their organization publishes is random as well. */
export const zones: fc.Arbitrary<RandomZone> = fc
  .record({
    domain: fc.constantFrom(ORGANIZATION, ORGANIZATION, 'shop.example.com'),
    receiving: fc.constantFrom(...receiving),
    spf: fc.constantFrom(...spf),
    dmarc: fc.constantFrom(...dmarc),
    above: fc.constantFrom(...dmarc),
    dkim: fc.constantFrom(...dkim),
    dane: fc.constantFrom(...dane),
    isSigned: fc.boolean(),
    server: fc.constantFrom('closed', 'closed', 'plain', 'valid', 'self-signed'),
    others: fc.tuple(...others.map((variants) => fc.constantFrom(...variants))),
    failures: fc.oneof(
      { weight: 4, arbitrary: fc.constant<string[]>([]) },
      { weight: 1, arbitrary: fc.subarray(failing, { minLength: 1, maxLength: 2 }) },
    ),
  })
  .map(({ domain, above, failures, isSigned, server, ...wish }): RandomZone => {
    const records: Records = {
      '. SOA': ['a.root. b.root. 1 2 3 4 5'],
      'example.com NS': ['ns.example.net'],
      [`${domain} SOA`]: ['ns.example.net hostmaster.example.com 1 2 3 4 5'],
      '_spf.example.net TXT': ['v=spf1 ip4:127.0.0.9 -all'],
      '_all.example.net TXT': ['v=spf1 +all'],
      'other.example MX': ['10 mx.other.example'],
      ...(domain === ORGANIZATION ? {} : withTexts('_dmarc.example.com TXT', above)),
      ...Object.assign({}, wish.receiving, wish.dkim, wish.dane, ...wish.others),
      ...withTexts('DOMAIN TXT', wish.spf),
      ...withTexts('_dmarc.DOMAIN TXT', wish.dmarc),
    }
    return {
      domain,
      records: named(records, domain),
      isSigned,
      server,
      failures: Object.fromEntries(
        [...failures, 'dead.example *'].map((key) => [
          key.replaceAll('DOMAIN', domain),
          'SERVFAIL' as const,
        ]),
      ),
    }
  })

const withTexts = (name: string, texts: string[]): Records =>
  texts.length === 0 ? {} : { [name]: texts }

function named(records: Records, domain: string): Records {
  const written = JSON.stringify(records).replaceAll('DOMAIN', domain)
  return JSON.parse(written) as Records
}
