import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { promisify } from 'node:util'
import { Check as matches } from 'typebox/value'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { CheckDeps } from '../../src/diagnostics/check-services.ts'
import type { TlsResult } from '../../src/diagnostics/shapes.ts'
import { tlsCheck } from '../../src/diagnostics/tls/tls.ts'
import { createResolver, type Resolver } from '../../src/net/dns.ts'
import type { StartTls } from '../../src/net/tls/starttls.ts'
import { makeAuthority, makeCertificate } from '../servers/certificates.ts'
import { startDns } from '../servers/dns.ts'
import { SCRIPTS, startPlainServer, startTlsServer, type TcpServer } from '../servers/tls.ts'

const before = getCACertificates('default')
const { root, intermediate } = makeAuthority()
beforeAll(() => setDefaultCACertificates([...before, root.cert]))
afterAll(() => setDefaultCACertificates(before))

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

const RECORDS = {
  'good.test A': ['127.0.0.1'],
  'xn--mnchen-3ya.test A': ['127.0.0.1'],
  'inside.test A': ['10.0.0.1'],
}

async function deps(allowPrivate = true) {
  const dns = await startDns({ records: RECORDS })
  open.push(dns)
  const resolver: Resolver = createResolver({ servers: [dns] })
  return { resolver, allowPrivate } as CheckDeps
}

type Wish = Partial<Parameters<typeof makeCertificate>[0]>

/** Starts a server with a certificate for good.test, with these differences. */
async function serve(
  wish: Wish = {},
  options: Partial<Parameters<typeof startTlsServer>[0]> = {},
): Promise<TcpServer> {
  const issuer = intermediate
  const leaf = makeCertificate({
    subject: '/O=Good/CN=good.test',
    altNames: ['DNS:good.test'],
    issuer,
    ...wish,
  })
  const server = await startTlsServer({
    key: leaf.key,
    cert: leaf.cert + intermediate.cert,
    ...options,
  })
  open.push(server)
  return server
}

async function check(
  { port }: { port: number },
  domain = 'good.test',
  starttls?: StartTls,
): Promise<TlsResult> {
  return tlsCheck.run({ domain, port, starttls }, await deps(), AbortSignal.timeout(3000))
}

const DAY = 86_400_000

describe('a certificate in order', () => {
  it('is answered as specified, without a warning', async () => {
    const server = await serve({ to: 90 })
    const result = await check(server)
    expect(result).toMatchObject({
      domain: 'good.test',
      subject: { O: 'Good', CN: 'good.test' },
      issuer: { O: 'Portreeve tests', CN: 'Test intermediate' },
      isExpired: false,
      subjectAltNames: ['good.test'],
      protocol: 'TLSv1.3',
      authorized: true,
      authorizationError: null,
      hostnameMatches: true,
      keyType: 'ec',
      keyBits: 256,
      address: '127.0.0.1',
      port: server.port,
      starttls: null,
      warnings: [],
    })
    expect(result.daysRemaining).toBe(Math.floor((Date.parse(result.validTo) - Date.now()) / DAY))
    expect(result.validTo).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/)
    expect(result.serialNumber).toMatch(/^([0-9A-F]{2}:)+[0-9A-F]{2}$/)
    expect(result.chain.map(({ subject }) => subject.CN)).toEqual([
      'good.test',
      'Test intermediate',
      'Test root',
    ])
    expect(matches(tlsCheck.data, result)).toBe(true)
  })

  it('is found under a name in people’s letters, and by address', async () => {
    const server = await serve({ altNames: ['DNS:xn--mnchen-3ya.test', 'IP:127.0.0.1'] })
    expect(await check(server, 'MÜNCHEN.test.')).toMatchObject({
      domain: 'xn--mnchen-3ya.test',
      authorized: true,
    })
    expect(await check(server, '127.0.0.1')).toMatchObject({
      domain: '127.0.0.1',
      authorized: true,
    })
  })

  it('is found behind STARTTLS', async () => {
    const server = await serve({}, { script: SCRIPTS.smtp })
    expect(await check(server, 'good.test', 'smtp')).toMatchObject({
      authorized: true,
      starttls: 'smtp',
    })
  })

  it('is trusted by a private root that NODE_EXTRA_CA_CERTS names', async () => {
    const { port } = await serve({ altNames: ['IP:127.0.0.1'] })
    expect(await authorizedInChild(port, {})).toBe('false')
    const folder = mkdtempSync(join(tmpdir(), 'portreeve-root-'))
    writeFileSync(join(folder, 'root.pem'), root.cert)
    expect(await authorizedInChild(port, { NODE_EXTRA_CA_CERTS: join(folder, 'root.pem') })).toBe(
      'true',
    )
    rmSync(folder, { recursive: true })
  })
})

async function authorizedInChild(port: number, env: Record<string, string>): Promise<string> {
  const script = `
    import { tlsCheck } from '${new URL('../../src/diagnostics/tls/tls.ts', import.meta.url).href}'
    const deps = { allowPrivate: true, resolver: {} }
    const result = await tlsCheck.run({ domain: '127.0.0.1', port: ${port} }, deps, AbortSignal.timeout(5000))
    console.log(result.authorized)`
  const options = { env: { ...process.env, ...env }, timeout: 10_000 }
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', script],
    options,
  )
  return stdout.trim()
}

describe('problems', () => {
  it.each<[string, Wish, Partial<TlsResult>, string]>([
    ['expired', { from: -9, to: -0.5 }, { isExpired: true, daysRemaining: -1, authorizationError: 'CERT_HAS_EXPIRED' }, 'expired on'], // prettier-ignore
    [
      'not valid yet',
      { from: 2 },
      { isExpired: false, authorizationError: 'CERT_NOT_YET_VALID' },
      'not valid before',
    ],
    ['for another host', { altNames: ['DNS:other.test', 'DNS:www.other.test'] }, { hostnameMatches: false, authorizationError: 'ERR_TLS_CERT_ALTNAME_INVALID' }, 'not for good.test. It is for other.test, www.other.test.'], // prettier-ignore
  ])(
    'with a certificate that is %s is reported, not refused',
    async (_what, wish, fields, words) => {
      const result = await check(await serve(wish))
      expect(result).toMatchObject({ authorized: false, ...fields })
      expect(result.warnings).toEqual([expect.stringContaining(words)])
    },
  )

  it('with the chain are reported with a fix', async () => {
    const leaf = makeCertificate({
      subject: '/CN=good.test',
      altNames: ['DNS:good.test'],
      issuer: intermediate,
    })
    const incomplete = await check(await serve({}, leaf))
    expect(incomplete).toMatchObject({
      authorized: false,
      authorizationError: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    })
    expect(incomplete.warnings).toEqual([
      expect.stringMatching(/only its own certificate.*“Test intermediate”.*fullchain/),
    ])

    const own = makeCertificate({ subject: '/CN=good.test', altNames: ['DNS:good.test'] })
    expect((await check(await serve({}, own))).warnings).toEqual([
      expect.stringContaining('self-signed'),
    ])

    const other = makeAuthority()
    const stranger = makeCertificate({
      subject: '/CN=good.test',
      altNames: ['DNS:good.test'],
      issuer: other.intermediate,
    })
    const whole = {
      key: stranger.key,
      cert: stranger.cert + other.intermediate.cert + other.root.cert,
    }
    expect((await check(await serve({}, whole))).warnings).toEqual([
      expect.stringContaining('The chain ends at “Test root”'),
    ])
    const rootless = { key: stranger.key, cert: stranger.cert + other.intermediate.cert }
    expect((await check(await serve({}, rootless))).warnings).toEqual([
      expect.stringContaining('a chain that ends at'),
    ])
  })

  it('reports all problems at once', async () => {
    const { warnings } = await check(
      await serve({ from: -9, to: -1, altNames: ['DNS:other.test'] }),
    )
    expect(warnings).toEqual([
      expect.stringContaining('expired'),
      expect.stringContaining('not for good.test'),
    ])
  })

  it.each<[number, RegExp | null]>([
    [30.5, null],
    [29.5, /expires in 29 days.*should have replaced it by now/],
    [13.5, /expires in 13 days.*Renew it now/],
    [1.5, /expires in 1 day, on .*Renew it now/],
    [0.5, /expires in 0 days/],
  ])('%d days before the end', async (to, words) => {
    const { warnings } = await check(await serve({ to }))
    expect(warnings).toEqual(words ? [expect.stringMatching(words)] : [])
  })

  it('with keys, signatures and protocols', async () => {
    const ciphers = 'ALL:@SECLEVEL=0'
    const weak = await check(await serve({ key: 'rsa1024', digest: 'sha1' }, { ciphers }))
    expect(weak.warnings).toEqual([
      expect.stringContaining('has only 1024 bits'),
      expect.stringMatching(/signed with .*SHA1/i),
    ])
    const old = await check(
      await serve({ key: 'rsa2048' }, { ciphers, minVersion: 'TLSv1', maxVersion: 'TLSv1' }),
    )
    expect(old).toMatchObject({ protocol: 'TLSv1', authorized: true })
    expect(old.warnings).toEqual([expect.stringContaining('only TLSv1')])
    const nameless = await check(await serve({ altNames: [] }))
    expect(nameless.warnings).toEqual([expect.stringContaining('only in its common name')])
  })
})

describe('no certificate', () => {
  it('is there where TLS is not spoken', async () => {
    const plain = await startPlainServer('220 hello\r\n')
    open.push(plain)
    await expect(check(plain)).rejects.toMatchObject({ code: 'upstream_rejected' })
  })

  it('is fetched from a target that is not allowed', async () => {
    const server = await serve()
    for (const domain of [
      '127.0.0.1',
      'localhost',
      'good.test',
      'inside.test',
      '::ffff:127.0.0.1',
    ]) {
      const checking = tlsCheck.run(
        { domain, port: server.port },
        await deps(false),
        AbortSignal.timeout(3000),
      )
      await expect(checking).rejects.toMatchObject({ code: 'target_not_allowed' })
    }
    expect(server.connections()).toBe(0)
  })

  it('is there for a host that does not exist', async () => {
    await expect(check({ port: 443 }, 'gone.test')).rejects.toMatchObject({
      code: 'upstream_unreachable',
    })
    await expect(check({ port: 443 }, 'a b')).rejects.toMatchObject({ code: 'invalid_request' })
  })
})

it('knocks again for each question: a certificate renewed a second ago is the one that is shown', async () => {
  const server = await serve()
  const same = await deps()
  for (const connections of [1, 2]) {
    await tlsCheck.run({ domain: 'good.test', port: server.port }, same, AbortSignal.timeout(3000))
    expect(server.connections()).toBe(connections)
  }
})

it('shows an example that is true to its shape', () => {
  expect(matches(tlsCheck.data, tlsCheck.example.data)).toBe(true)
  expect(matches(tlsCheck.query, tlsCheck.example.query)).toBe(true)
})
