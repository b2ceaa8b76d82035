import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import * as fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Fault } from '../../src/errors.ts'
import { STARTTLS, type StartTls } from '../../src/net/tls/starttls.ts'
import { probeTls } from '../../src/net/tls/probe-tls.ts'
import { makeAuthority, makeCertificate, type Certified } from '../servers/certificates.ts'
import {
  SCRIPTS,
  startPlainServer,
  startTlsServer,
  type Script,
  type TcpServer,
} from '../servers/tls.ts'

const before = getCACertificates('default')
const { root, intermediate } = makeAuthority()
beforeAll(() => setDefaultCACertificates([...before, root.cert]))
afterAll(() => setDefaultCACertificates(before))

const open: TcpServer[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

type Wish = Partial<Parameters<typeof makeCertificate>[0]>
const certify = (wish: Wish = {}) =>
  makeCertificate({
    subject: '/CN=good.test',
    altNames: ['DNS:good.test'],
    issuer: intermediate,
    ...wish,
  })
const chained = ({ key, cert }: Certified) => ({ key, cert: cert + intermediate.cert })
const good = chained(certify())

type ServerOptions = Parameters<typeof startTlsServer>[0]
type ProbeOptions = { host?: string; starttls?: StartTls; deadline?: number }

async function probe(options: ServerOptions, wish: ProbeOptions = {}) {
  return probePort((await opened(startTlsServer(options))).port, wish)
}

async function opened(starting: Promise<TcpServer>): Promise<TcpServer> {
  const server = await starting
  open.push(server)
  return server
}

async function probePort(
  port: number,
  { host = 'good.test', starttls, deadline = 3000 }: ProbeOptions = {},
) {
  const servername = /^[\d.]+$|:/.test(host) ? undefined : host
  const target = { host, servername, addresses: ['127.0.0.1'] }
  return probeTls({ target, port, starttls, signal: AbortSignal.timeout(deadline) })
}

describe('a certificate', () => {
  it('that is in order is trusted, with its whole chain', async () => {
    const facts = await probe(good)
    expect(facts).toMatchObject({
      isTrusted: true,
      trustError: null,
      hostnameMatches: true,
      isOutdated: false,
    })
    expect(facts).toMatchObject({
      protocol: 'TLSv1.3',
      address: '127.0.0.1',
      cipher: { name: expect.stringMatching(/^TLS_/) },
    })
    expect(facts.chain.map(({ subject }) => subject.CN)).toEqual([
      'good.test',
      'Test intermediate',
      'Test root',
    ])
    expect(facts.chain.map(({ isCa, isSelfIssued }) => [isCa, isSelfIssued])).toEqual([
      [false, false],
      [true, false],
      [true, true],
    ])
  })

  it.each<[string, string, () => ServerOptions]>([
    ['is sent without its intermediate', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', () => certify()],
    ['has expired', 'CERT_HAS_EXPIRED', () => chained(certify({ from: -9, to: -1 }))],
    ['is not valid yet', 'CERT_NOT_YET_VALID', () => chained(certify({ from: 2, to: 9 }))],
    ['signed itself', 'DEPTH_ZERO_SELF_SIGNED_CERT', () => certify({ issuer: undefined })],
  ])('that %s is reported: %s', async (_what, code, server) => {
    const facts = await probe(server())
    expect(facts).toMatchObject({ isTrusted: false, trustError: code, hostnameMatches: true })
    expect(facts.chain[0].subject).toEqual({ CN: 'good.test' })
  })

  it('of an unknown root is distinguished from one without its chain', async () => {
    const other = makeCertificate({ subject: '/CN=Other root', isCa: true })
    const leaf = certify({ issuer: other })
    expect(await probe({ key: leaf.key, cert: leaf.cert + other.cert })).toMatchObject({
      isTrusted: false,
      trustError: 'SELF_SIGNED_CERT_IN_CHAIN',
    })
  })

  it('for another host is trusted and does not match, and an expired one reports both', async () => {
    const wrong = { isTrusted: true, hostnameMatches: false }
    expect(await probe(good, { host: 'other.test' })).toMatchObject(wrong)
    expect(
      await probe(chained(certify({ from: -9, to: -1 })), { host: 'other.test' }),
    ).toMatchObject({
      isTrusted: false,
      trustError: 'CERT_HAS_EXPIRED',
      hostnameMatches: false,
    })
  })

  it('names hosts, wildcards, addresses and others', async () => {
    const altNames = [
      'DNS:xn--mnchen-3ya.test',
      'DNS:*.good.test',
      'IP:127.0.0.1',
      'IP:2001:db8::1',
      'email:a@b.test',
    ]
    const server = chained(certify({ altNames, subject: '/O=One/OU=Ops/OU=Web/CN=x' }))
    for (const host of ['xn--mnchen-3ya.test', 'www.good.test', '127.0.0.1']) {
      expect((await probe(server, { host })).hostnameMatches).toBe(true)
    }
    const { chain } = await probe(server)
    const subjectAltNames = [
      'xn--mnchen-3ya.test',
      '*.good.test',
      '127.0.0.1',
      '2001:db8::1',
      'email:a@b.test',
    ]
    expect(chain[0]).toMatchObject({
      subjectAltNames,
      subject: { O: 'One', OU: 'Ops, Web', CN: 'x' },
    })
  })

  it('is reported with its key, signature and serial number', async () => {
    const rsa = chained(certify({ key: 'rsa2048', serial: '00a1b2c3d4' }))
    expect((await probe(rsa)).chain[0]).toMatchObject({
      keyType: 'rsa',
      keyBits: 2048,
      serialNumber: 'A1:B2:C3:D4',
      fingerprint256: expect.stringMatching(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/),
    })
    const ed = chained(certify({ key: 'ed25519' }))
    expect((await probe(ed)).chain[0]).toMatchObject({ keyType: 'ed25519', keyBits: 256 })
    const old = chained(certify({ digest: 'sha1', key: 'rsa1024', serial: '0b' }))
    const { chain } = await probe({ ...old, ciphers: 'ALL:@SECLEVEL=0' })
    expect(chain[0]).toMatchObject({
      keyBits: 1024,
      serialNumber: '0B',
      signatureAlgorithm: expect.stringMatching(/SHA1/i),
    })
  })
})

describe('a server of long ago', () => {
  it('is retried with its own protocol', async () => {
    const server = await opened(
      startTlsServer({ ...OLD, minVersion: 'TLSv1', maxVersion: 'TLSv1' }),
    )
    const facts = await probePort(server.port)
    expect(facts).toMatchObject({ protocol: 'TLSv1', isOutdated: true, isTrusted: true })
    expect(server.connections()).toBe(2)
  })
  const OLD = { ...chained(certify({ key: 'rsa2048' })), ciphers: 'ALL:@SECLEVEL=0' }
})

describe('a port without TLS', () => {
  it.each([
    '220 mail.test ESMTP\r\n',
    'SSH-2.0-OpenSSH_9\r\n',
    'HTTP/1.1 400 Bad Request\r\n\r\n',
    '\0\0\0\x08\x04',
  ])('that says %j was reached and does not speak TLS', async (greeting) => {
    const { port } = await opened(startPlainServer(greeting))
    await expect(probePort(port, { deadline: 1500 })).rejects.toMatchObject({
      code: 'upstream_rejected',
      message: `Port ${port} of good.test does not speak TLS.`,
    })
  })

  it('that hangs up is unreachable', async () => {
    const { port } = await opened(startPlainServer('', { hangUp: true }))
    await expect(probePort(port)).rejects.toMatchObject({ code: 'upstream_unreachable' })
  })

  it('that stays silent is left at the deadline', async () => {
    const { port } = await opened(startPlainServer())
    await expect(probePort(port, { deadline: 200 })).rejects.toMatchObject({
      code: 'upstream_timeout',
    })
    const waiting = probePort(port, { deadline: 200, starttls: 'smtp' })
    await expect(waiting).rejects.toMatchObject({ code: 'upstream_timeout' })
  })
})

describe('STARTTLS', () => {
  it.each([
    ['smtp', `220-${'x'.repeat(3000)}\r\n220 hello\r\n\r\n`],
    ['imap', `* OK [CAPABILITY ${'X'.repeat(3000)}] hello\r\n`],
    ['pop3', `+OK ${'x'.repeat(3000)}\r\n`],
  ] as const)('with %s starts after a long greeting', async (starttls, greeting) => {
    const script = { ...SCRIPTS[starttls], greeting }
    expect(await probe({ ...good, script }, { starttls })).toMatchObject({ isTrusted: true })
  })

  it.each(STARTTLS)('with %s comes to the certificate', async (starttls) => {
    const facts = await probe({ ...good, script: SCRIPTS[starttls] }, { starttls })
    expect(facts).toMatchObject({ isTrusted: true, hostnameMatches: true, isOutdated: false })
  })

  it.each<[StartTls, string, Script]>([
    ['smtp', '554 no', { greeting: '554 no\r\n', replies: [] }],
    [
      'smtp',
      'does not offer STARTTLS',
      { greeting: '220 hi\r\n', replies: [{ to: /EHLO/, say: '250 SIZE 1\r\n' }] },
    ],
    [
      'smtp',
      '454 TLS not available',
      {
        greeting: '220 hi\r\n',
        replies: [
          { to: /EHLO/, say: '250-mail.example.test\r\n250 STARTTLS\r\n' },
          { to: /STARTTLS/, say: '454 TLS \u0007not\u001b available\r\n' },
        ],
      },
    ],
    [
      'imap',
      'BAD unknown command',
      { greeting: '* OK hi\r\n', replies: [{ to: /STARTTLS/, say: 'a1 BAD unknown command\r\n' }] },
    ],
    ['imap', '* BYE busy', { greeting: '* BYE busy\r\n', replies: [] }],
    ['imap', '* PREAUTH in', { greeting: '* PREAUTH in\r\n', replies: [] }],
    ['pop3', '-ERR no', { greeting: '+OK\r\n', replies: [{ to: /STLS/, say: '-ERR no\r\n' }] }],
    ['postgres', 'does not offer TLS', { replies: [{ to: /./s, say: 'N' }] }],
    [
      'ldap',
      'not today',
      {
        replies: [
          { to: /1466/, say: Buffer.from('301502010178100a0134040004096e6f7420746f646179', 'hex') },
        ],
      },
    ],
    ['ldap', 'does not speak LDAP', { greeting: Buffer.from('30ffffff', 'hex'), replies: [] }],
    ['ldap', 'does not speak LDAP', { greeting: Buffer.from('3080', 'hex'), replies: [] }],
    [
      'smtp',
      'sent more data than the protocol allows',
      { greeting: `220 ${'x'.repeat(70_000)}\r\n`, replies: [] },
    ],
    [
      'smtp',
      'sent more data than the protocol allows',
      { greeting: '220-x\r\n'.repeat(60), replies: [] },
    ],
  ])('with %s is declined: %s', async (starttls, words, script) => {
    const probing = probe({ ...good, script }, { starttls, deadline: 1500 })
    await expect(probing).rejects.toMatchObject({
      code: 'upstream_rejected',
      message: expect.stringContaining(words),
    })
  })

  it('does not trust plain text sent after the response to STARTTLS', async () => {
    const script: Script = {
      greeting: '* OK hi\r\n',
      replies: [{ to: /STARTTLS/, say: 'a1 OK begin\r\n* injected\r\n', upgrade: true }],
    }
    await expect(probe({ ...good, script }, { starttls: 'imap' })).rejects.toMatchObject({
      code: 'upstream_rejected',
      message: expect.stringContaining('plain text'),
    })
  })

  it('ends in a fault for any response of a server', async () => {
    const pieces = [
      '220 ',
      '250-',
      '* OK ',
      'a1 OK',
      '+OK',
      'S',
      '\r\n',
      '0',
      '\x80',
      '\x84\xff\xff\xff\xff',
      'x',
      '\0',
    ]
    const noise = fc
      .array(fc.constantFrom(...pieces), { maxLength: 8 })
      .map((parts) => parts.join(''))
    const property = fc.asyncProperty(
      fc.constantFrom(...STARTTLS),
      noise,
      async (starttls, greeting) => {
        const server = await startPlainServer(Buffer.from(greeting, 'latin1'), { hangUp: true })
        await expect(probePort(server.port, { starttls })).rejects.toBeInstanceOf(Fault)
        await server.close()
      },
    )
    await fc.assert(property, { numRuns: 150 })
  })

  it('reports that the server closed the connection', async () => {
    const { port } = await opened(startPlainServer('220 hi\r\n', { hangUp: true }))
    await expect(probePort(port, { starttls: 'smtp' })).rejects.toMatchObject({
      code: 'upstream_unreachable',
    })
  })
})
