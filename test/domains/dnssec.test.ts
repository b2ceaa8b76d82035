import { randomInt, X509Certificate } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DomainLine, DomainReport, LineName } from '../../src/domains/shapes.ts'
import { certificateFacts } from '../../src/net/tls/certificate.ts'
import { formatTlsa, recommendedTlsa, type TlsaRecord } from '../../src/protocols/mail/tlsa.ts'
import { startTestService, type Person, type TestService } from '../service.ts'
import { makeAuthority, makeCertificate } from '../servers/certificates.ts'
import { startSignedZones, type SignedZone, type SignedZones } from '../servers/signed-zones.ts'
import { SCRIPTS, startPlainServer, startTlsServer, type TcpServer } from '../servers/tls.ts'
import type { Rbldnsd } from '../servers/rbldnsd.ts'
import { startAllLists } from './check-with.ts'

// Own addresses of this machine, since mail servers listen on port 25.
const network = `127.${randomInt(2, 250)}.${randomInt(1, 250)}`
const [WITH_TLS, WITHOUT_TLS, SILENT] = [`${network}.1`, `${network}.2`, `${network}.3`]

const { intermediate } = makeAuthority()
const { intermediate: stranger } = makeAuthority()
const leaf = makeCertificate({
  subject: '/CN=mail.issuer.example',
  altNames: ['DNS:mail.issuer.example'],
  issuer: intermediate,
})
const factsOf = ({ cert }: { cert: string }) => certificateFacts(new X509Certificate(cert).raw)
const LEAF = recommendedTlsa(factsOf(leaf)) as TlsaRecord
const tlsa = (usage: number, of = LEAF) => formatTlsa({ ...of, usage })
const ISSUER = recommendedTlsa(factsOf(intermediate)) as TlsaRecord
const OTHER = `3 1 1 ${'ab'.repeat(32)}`

/** A domain with one mail server and these TLSA records. */
const domain = (signing: SignedZone['signing'], records: string[], address = WITH_TLS) => ({
  signing,
  records: [
    '@ MX 10 mail',
    '@ TXT "v=spf1 mx -all"',
    `mail A ${address}`,
    ...records.map((record) => `_25._tcp.mail TLSA ${record}`),
  ].join('\n'),
})

const ZONES: Record<string, SignedZone> = {
  'matched.example': domain('valid', [tlsa(3)]),
  'rollover.example': domain('valid', [OTHER, tlsa(3)]),
  'issuer.example': domain('valid', [tlsa(2, ISSUER)]),
  // The certificate is for a host of another domain.
  'other-name.example': domain('valid', [tlsa(2, ISSUER)]),
  'other-issuer.example': domain('valid', [
    tlsa(2, recommendedTlsa(factsOf(stranger)) as TlsaRecord),
  ]),
  'mismatched.example': domain('valid', [OTHER]),
  'pkix.example': domain('valid', [tlsa(1)]),
  'unsigned.example': domain('unsigned', [tlsa(3)]),
  'unsigned-silent.example': domain('unsigned', [tlsa(3)], SILENT),
  'island.example': domain('no-ds', [tlsa(3)]),
  'expired.example': domain('expired', [tlsa(3)]),
  'wrong-ds.example': domain('wrong-ds', [tlsa(3)]),
  'no-tls.example': domain('valid', [tlsa(3)], WITHOUT_TLS),
  'silent.example': domain('valid', [tlsa(3)], SILENT),
  'no-records.example': domain('valid', []),
  'bogus-records.example': domain('valid', []),
  '_tcp.mail.bogus-records.example': { signing: 'wrong-ds', records: `_25 TLSA ${tlsa(3)}` },
  'customer.example': { signing: 'unsigned', records: '@ MX 10 mail.matched.example.' },
  'customer-of-mismatched.example': {
    signing: 'valid',
    records: '@ MX 10 mail.mismatched.example.',
  },
  'customer-of-bogus.example': { signing: 'valid', records: '@ MX 10 mail.expired.example.' },
  'alias.example': { signing: 'valid', records: '@ MX 10 mail\nmail CNAME mail.matched.example.' },
  'alias-own.example': {
    signing: 'valid',
    records: `@ MX 10 mail\nmail CNAME mail.no-records.example.\n_25._tcp.mail TLSA ${tlsa(3)}`,
  },
  'alias-insecure.example': {
    signing: 'valid',
    records: `@ MX 10 mail\nmail CNAME mail.plain.example.\n_25._tcp.mail TLSA ${tlsa(3)}`,
  },
  'plain.example': domain('unsigned', []),
  'tlsa-alias.example': {
    signing: 'valid',
    records: `@ MX 10 mail\nmail A ${WITH_TLS}\n_25._tcp.mail CNAME _dane\n_dane TLSA ${tlsa(3)}`,
  },
  'delegated.example': { signing: 'valid', records: '@ MX 0 .' },
  'part.delegated.example': domain('unsigned', []),
}

let zones: SignedZones
let lists: Rbldnsd
let servers: TcpServer[]
let validating: { portreeve: TestService; alice: Person }
let trusting: typeof validating
beforeAll(async () => {
  const script = SCRIPTS.smtp
  const pem = { key: leaf.key, cert: leaf.cert + intermediate.cert }
  servers = await Promise.all([
    startTlsServer({ ...pem, script, host: WITH_TLS, port: 25 }),
    startPlainServer('220 mail\r\n250 mail\r\n502 no\r\n', { host: WITHOUT_TLS, port: 25 }),
  ])
  lists = await startAllLists()
  zones = await startSignedZones(ZONES)
  const start = async ({ port }: { port: number }) => {
    const portreeve = await startTestService({
      DNS_SERVERS: `127.0.0.1:${port}`,
      DNSBL_SERVERS: `127.0.0.1:${lists.port}`,
    })
    return { portreeve, alice: await portreeve.addPerson('Alice') }
  }
  validating = await start(zones.validating)
  trusting = await start(zones.trusting)
}, 60_000)
afterAll(async () => {
  await validating.portreeve.stop()
  await trusting.portreeve.stop()
  await zones.close()
  await lists.stop()
  for (const server of servers) await server.close()
})

async function check(name: string, { portreeve, alice } = validating): Promise<DomainReport> {
  const { token } = alice
  const answer = await portreeve.request(`/api/v1/domains/${name}`, { token })
  return ((await answer.json()) as { data: DomainReport }).data
}
const lineOf = ({ lines }: DomainReport, name: LineName) =>
  lines.find((line) => line.name === name) as DomainLine

const BLOCKED = 'Senders that use DANE do not deliver there.'

describe('DNSSEC, with a resolver that validates', () => {
  it.each([
    [
      'matched.example',
      'secure',
      { state: 'good', isUsed: true },
      'matched.example is signed, and the signatures are valid.',
    ],
    [
      'unsigned.example',
      'insecure',
      { state: 'good', isUsed: false },
      'unsigned.example is not signed with DNSSEC.',
    ],
    [
      'island.example',
      'insecure',
      { state: 'good', isUsed: false },
      'island.example is signed, but has no DS record, so DNSSEC does not protect it.',
    ],
    [
      'part.delegated.example',
      'insecure',
      { state: 'warning' },
      'delegated.example is signed, but part.delegated.example is in an unsigned zone below it, so DNSSEC does not protect part.delegated.example.',
    ],
    [
      'expired.example',
      'bogus',
      { state: 'bad' },
      'The DNSSEC signatures of expired.example are not valid, so resolvers that check them find nothing.',
    ],
    [
      'wrong-ds.example',
      'bogus',
      { state: 'bad' },
      'The DNSSEC signatures of wrong-ds.example are not valid, so resolvers that check them find nothing.',
    ],
  ] as const)('says of %s what unbound-host says: %s', async (name, security, line, summary) => {
    // prettier-ignore
    expect(await zones.securityOf(name, 'SOA')).toBe(security)
    const report = await check(name)
    expect(lineOf(report, 'dnssec')).toMatchObject({ ...line, summary })
  })

  it('reports a mail server that is lost to bad signatures', async () => {
    expect(lineOf(await check('customer-of-bogus.example'), 'mx')).toMatchObject({
      state: 'bad',
      summary:
        'The DNSSEC signatures of mail.expired.example are not valid, so resolvers that check them do not find it.',
    })
  })
})

describe('DANE, with a resolver that validates', () => {
  const CONFIRMED = 'The TLSA records confirm the certificate of 1 mail server.'
  const ignored = (host: string) =>
    `The TLSA records of ${host} are not secured by DNSSEC, so senders ignore them.`

  it.each([
    ['matched.example', 'good', CONFIRMED],
    ['rollover.example', 'good', CONFIRMED],
    ['issuer.example', 'good', CONFIRMED],
    [
      'other-name.example',
      'bad',
      `No TLSA record confirms the certificate of mail.other-name.example: the certificate is not for mail.other-name.example. ${BLOCKED}`,
    ],
    [
      'other-issuer.example',
      'bad',
      `No TLSA record matches the certificate of mail.other-issuer.example. ${BLOCKED}`,
    ],
    [
      'mismatched.example',
      'bad',
      `No TLSA record matches the certificate of mail.mismatched.example. ${BLOCKED}`,
    ],
    [
      'pkix.example',
      'warning',
      'Senders cannot use the TLSA records of mail.pkix.example: usage 1 is not for mail; use 3 (or 2) instead.',
    ],
    ['unsigned.example', 'warning', ignored('mail.unsigned.example')],
    ['unsigned-silent.example', 'warning', ignored('mail.unsigned-silent.example')],
    ['island.example', 'warning', ignored('mail.island.example')],
    [
      'no-tls.example',
      'bad',
      `mail.no-tls.example has TLSA records, but does not offer TLS. ${BLOCKED}`,
    ],
    [
      'silent.example',
      'unknown',
      'The certificate of mail.silent.example could not be read, so its TLSA records were not compared.',
    ],
    [
      'bogus-records.example',
      'bad',
      `The DNSSEC signatures of _25._tcp.mail.bogus-records.example are not valid. ${BLOCKED}`,
    ],
    ['alias.example', 'good', CONFIRMED],
    ['alias-own.example', 'good', CONFIRMED],
    ['alias-insecure.example', 'good', CONFIRMED],
    ['tlsa-alias.example', 'good', CONFIRMED],
  ] as const)('checks %s: %s', async (name, state, summary) => {
    // prettier-ignore
    expect(lineOf(await check(name), 'dane')).toMatchObject({ state, isUsed: true, summary })
  })

  it('compares the records at the target of a CNAME, and names them', async () => {
    const { evidence } = lineOf(await check('alias.example'), 'dane')
    expect(evidence).toMatchObject([
      { label: '_25._tcp.mail.matched.example TLSA', state: 'good', value: tlsa(3) },
    ])
  })

  it('proposes the record of the certificate, unless the host is in another domain', async () => {
    const { fixes } = await check('mismatched.example')
    expect(fixes.filter(({ type }) => type === 'TLSA')).toMatchObject([
      { name: '_25._tcp.mail.mismatched.example', value: tlsa(3), published: [OTHER] },
    ])
    const { lines, fixes: none } = await check('customer-of-mismatched.example')
    expect(lines.find(({ name }) => name === 'dane')?.state).toBe('bad')
    expect(none.filter(({ type }) => type === 'TLSA')).toEqual([])
  })

  it('does not use what is not there', async () => {
    expect(lineOf(await check('no-records.example'), 'dane')).toMatchObject({
      state: 'good',
      isUsed: false,
      summary: 'The mail servers do not use DANE.',
    })
  })

  it('says what DANE does not protect while the MX records are not secure', async () => {
    const { state, details } = lineOf(await check('customer.example'), 'dane')
    expect([state, details]).toEqual([
      'good',
      [
        'The MX records of customer.example are not secured by DNSSEC, so DANE does not protect against an attacker who changes them.',
      ],
    ])
  })
})

describe('with a resolver that does not validate', () => {
  it('never calls DNSSEC or DANE good', async () => {
    for (const name of ['matched.example', 'expired.example', 'wrong-ds.example']) {
      const report = await check(name, trusting)
      expect(lineOf(report, 'dnssec')).toMatchObject({
        state: 'unknown',
        summary: `${name} is signed, but the resolver of this service does not check signatures.`,
      })
      expect(lineOf(report, 'dane')).toMatchObject({
        state: 'unknown',
        summary: `The TLSA records match the certificate of mail.${name}, but the resolver of this service does not check DNSSEC.`,
      })
    }
    expect(lineOf(await check('mismatched.example', trusting), 'dane')).toMatchObject({
      state: 'warning',
      summary: expect.stringMatching(/^No TLSA record matches .* If its zone is signed/),
    })
  })

  it('takes the answer of the second resolver for not checked when the first one validates', async () => {
    const both = await startTestService({
      DNS_SERVERS: `127.0.0.1:${zones.validating.port},127.0.0.1:${zones.trusting.port}`,
      DNSBL_SERVERS: `127.0.0.1:${lists.port}`,
    })
    const alice = await both.addPerson('Alice')
    const report = await check('expired.example', { portreeve: both, alice })
    await both.stop()
    // The first answers SERVFAIL, the second without validation.
    expect(lineOf(report, 'dnssec').state).toBe('unknown')
    expect(lineOf(report, 'dane').state).toBe('unknown')
  })
})
