import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { Check } from 'typebox/value'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DomainReport, LINE_NAMES } from '../../src/domains/shapes.ts'
import { certificateFacts } from '../../src/net/tls/certificate.ts'
import { recommendedTlsa, formatTlsa } from '../../src/protocols/mail/tlsa.ts'
import { X509Certificate } from 'node:crypto'
import { rsaKey } from '../diagnostics/mail-domain.ts'
import { makeAuthority, makeCertificate } from '../servers/certificates.ts'
import type { Records } from '../servers/dns-records.ts'
import type { Rbldnsd } from '../servers/rbldnsd.ts'
import { createResolver } from '../../src/net/dns.ts'
import { startDns } from '../servers/dns.ts'
import { SCRIPTS, startTlsServer, type TcpServer } from '../servers/tls.ts'
import { mapResolver } from '../resolver.ts'
import {
  checkWith,
  domainZones,
  lineOf,
  registeredUntil,
  startAllLists,
  statesOf,
} from './check-with.ts'

const IP = '8.8.4.4'
const { root, intermediate } = makeAuthority()
const leaf = makeCertificate({
  subject: '/O=Example/CN=mail.example.com',
  altNames: ['DNS:mail.example.com', 'DNS:example.com'],
  issuer: intermediate,
})
const pem = { key: leaf.key, cert: leaf.cert + intermediate.cert }
const stranger = makeCertificate({ subject: '/CN=elsewhere.test' })

const before = getCACertificates('default')
let lists: Rbldnsd
let smtp: TcpServer
let tls: TcpServer
beforeAll(async () => {
  setDefaultCACertificates([...before, root.cert])
  lists = await startAllLists({ 'zen.spamhaus.org': { listed: { '8.8.8.8': '127.0.0.2 spam' } } })
  smtp = await startTlsServer({ ...pem, script: SCRIPTS.smtp })
  tls = await startTlsServer(pem)
})
afterAll(async () => {
  setDefaultCACertificates(before)
  await Promise.all([lists.stop(), smtp.close(), tls.close()])
})

const facts = certificateFacts(new X509Certificate(leaf.cert).raw)
const TLSA = formatTlsa(
  recommendedTlsa(facts) ?? {
    usage: 0,
    selector: 0,
    matchingType: 0,
    certificate: Buffer.alloc(0),
  },
)

/** A domain whose mail is in good order. Its servers listen on this machine. */
const GOOD: Records = {
  'example.com A': ['127.0.0.1'],
  'example.com NS': ['ns1.example.com'],
  'example.com SOA': ['ns1.example.com hostmaster.example.com 1 2 3 4 5'],
  'example.com MX': ['10 mail.example.com'],
  'mail.example.com A': ['127.0.0.1'],
  'example.com TXT': [`v=spf1 ip4:${IP} mx -all`],
  '4.4.8.8.in-addr.arpa PTR': ['mail.example.com'],
  '_dmarc.example.com TXT': ['v=DMARC1; p=reject; rua=mailto:dmarc@example.com'],
  'mail._domainkey.example.com TXT': [rsaKey(2048)],
  '_smtp._tls.example.com TXT': ['v=TLSRPTv1; rua=mailto:tls@example.com'],
}
// The address that SPF permits must lead back to a name of its own.
const OUT: Records = { 'out.example.com A': [IP], '4.4.8.8.in-addr.arpa PTR': ['out.example.com'] }

const ports = () => ({ smtp: smtp.port, submission: smtp.port, imaps: tls.port, https: tls.port })
const check = (records: Records = {}, wish: Partial<Parameters<typeof checkWith>[0]> = {}) => {
  const all = Object.fromEntries(
    Object.entries({ ...GOOD, ...OUT, ...records }).filter(([, texts]) => texts.length > 0),
  )
  return checkWith({ lists, records: all, ports: ports(), ...wish })
}

describe('the check of a domain', () => {
  it('finds a domain in good order, with every line of the picture', async () => {
    const report = await check()
    expect(Check(DomainReport, report)).toBe(true)
    expect(report.lines.map(({ name }) => name)).toEqual(LINE_NAMES)
    const open = report.lines.filter(({ state }) => state !== 'good')
    expect(open.map(({ name, state, summary }) => [name, state, summary])).toEqual([])
    expect(report.verdict).toEqual({
      state: 'good',
      sentence: 'example.com is in good order.',
      exitCode: 0,
    })
    expect(report.stages.map(({ name, state }) => [name, state])).toEqual(
      ['sender', 'authentication', 'mx', 'tls', 'reputation'].map((name) => [name, 'good']),
    )
    expect(report.fixes).toEqual([])
    expect(lineOf(report, 'bimi').isUsed).toBe(false)
  })

  it('reports each line as soon as it is known', async () => {
    const names: string[] = []
    const report = await check({}, { onLine: ({ name }) => names.push(name) })
    expect(names.toSorted()).toEqual(report.lines.map(({ name }) => name).toSorted())
  })

  it('asks each name and type once, however many lines need it', async () => {
    const resolver = mapResolver({ ...GOOD, ...OUT })
    await check({}, { resolver })
    const counts = Map.groupBy(resolver.asked, (one) => one.toLowerCase())
    expect([...counts].filter(([, times]) => times.length > 1).map(([name]) => name)).toEqual([])
  })

  it('calls a policy that only monitors a warning, and proposes a stricter one only where reports show it to be safe', async () => {
    const text = 'v=DMARC1; p=none; pct=100; rua=mailto:dmarc@example.com; x_mine=1'
    const records = { '_dmarc.example.com TXT': [text] }
    const unsure = await check(records)
    expect(lineOf(unsure, 'dmarc').state).toBe('warning')
    expect(unsure.verdict).toMatchObject({ state: 'warning', exitCode: 1 })
    expect(unsure.fixes).toEqual([])
    const report = await check(records, { safePolicy: 'quarantine' })
    expect(report.fixes).toMatchObject([
      {
        name: '_dmarc.example.com',
        published: [text],
        value: 'v=DMARC1; p=quarantine; pct=100; rua=mailto:dmarc@example.com; x_mine=1',
        changes: [
          {
            removed: 'p=none',
            added: 'p=quarantine',
            reason: expect.stringMatching(/reports show/),
          },
        ],
      },
    ])
  })

  it('says what is wrong with a broken domain, the worst first', async () => {
    const report = await check(
      {
        'example.com TXT': ['v=spf1 ip4:8.8.8.8 +all', 'v=spf1 mx ~all'],
        '_dmarc.example.com TXT': [],
        'example.com MX': ['10 mail.example.com', '20 gone.example.com'],
        '8.8.8.8.in-addr.arpa PTR': [],
      },
      { registrations: registeredUntil(new Date(Date.now() - 86_400_000)) },
    )
    expect(report.verdict).toMatchObject({ state: 'bad', exitCode: 1 })
    expect(statesOf(report)).toMatchObject({
      spf: 'bad',
      dmarc: 'bad',
      mx: 'bad',
      registration: 'bad',
      blocklists: 'bad',
      'reverse-dns': 'bad',
    })
    const blocklists = lineOf(report, 'blocklists')
    expect(blocklists.summary).toMatch(/^8\.8\.8\.8 is on 1 of \d+ blocklists\.$/)
    expect(JSON.stringify(blocklists.details)).toContain('Spamhaus ZEN')
    const keys = report.fixes.map(({ name, type }) => `${name} ${type}`)
    expect(new Set(keys).size).toBe(keys.length)
    const spf = report.fixes.find(({ line }) => line === 'spf')
    expect(spf?.value).toBe('v=spf1 ip4:8.8.8.8 mx ~all')
    expect(spf?.published).toHaveLength(2)
  })

  it('shows the report address of the account in the first record', async () => {
    const report = await check(
      { '_dmarc.example.com TXT': [] },
      { reportEmail: 'r1@reports.example.net' },
    )
    expect(report.fixes.find(({ line }) => line === 'dmarc')?.value).toBe(
      'v=DMARC1; p=none; rua=mailto:r1@reports.example.net',
    )
  })

  it('compares TLSA records with the certificate that the server presents', async () => {
    const name = '_25._tcp.mail.example.com TLSA'
    const matching = lineOf(await check({ [name]: [TLSA] }), 'dane')
    // The resolver of the tests does not validate, so the match alone is not proof.
    expect(matching).toMatchObject({ state: 'unknown', isUsed: true })
    const wrong = await check({ [name]: [`3 1 1 ${'0'.repeat(64)}`] })
    expect(lineOf(wrong, 'dane')).toMatchObject({
      state: 'warning',
      summary: expect.stringMatching(/No TLSA record matches/),
    })
    expect(wrong.fixes).toMatchObject([
      { name: '_25._tcp.mail.example.com', type: 'TLSA', value: TLSA, severity: 'warning' },
    ])
  })

  it('is not impressed by a certificate for another host', async () => {
    const server = await startTlsServer({ key: stranger.key, cert: stranger.cert })
    const report = await check({}, { ports: { ...ports(), https: server.port } })
    await server.close()
    expect(lineOf(report, 'web-tls')).toMatchObject({
      state: 'bad',
      details: expect.arrayContaining([expect.stringMatching(/self-signed/)]),
    })
  })

  it('finds a listed domain', async () => {
    const own = await startAllLists(domainZones({ 'example.com': '127.0.1.2' }))
    const report = await check({}, { lists: own })
    await own.stop()
    expect(lineOf(report, 'domain-blocklists')).toMatchObject({
      state: 'bad',
      summary: 'The domain is on Spamhaus DBL.',
    })
  })

  it('leaves out what a domain without mail does not need', async () => {
    const report = await checkWith({
      lists,
      records: {
        'example.com A': ['127.0.0.1'],
        'example.com MX': ['0 .'],
        'example.com TXT': ['v=spf1 -all'],
        '_dmarc.example.com TXT': ['v=DMARC1; p=reject'],
      },
      ports: ports(),
    })
    expect(lineOf(report, 'mx')).toMatchObject({ state: 'good', isUsed: false })
    expect(lineOf(report, 'smtp-tls').isUsed).toBe(false)
    expect(statesOf(report)).toMatchObject({ spf: 'good', dkim: 'good', blocklists: 'good' })
  })
})

describe('a domain that cannot be checked', () => {
  it('does not exist: not_found', async () => {
    await expect(checkWith({ lists, domain: 'nowhere.test', records: {} })).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringMatching(/NXDOMAIN/),
    })
  })

  it.each(['192.0.2.1', 'com', 'co.uk', 'a@example.com', 'https://example.com/', ''])(
    'is not one: %j',
    async (domain) => {
      await expect(checkWith({ lists, domain })).rejects.toMatchObject({ code: 'invalid_request' })
    },
  )

  it('has no name server that answers', async () => {
    await expect(checkWith({ lists, failures: { '*': 'SERVFAIL' } })).rejects.toMatchObject({
      code: 'upstream_unreachable',
    })
    await expect(checkWith({ lists, failures: { '*': 'TIMEOUT' } })).rejects.toMatchObject({
      code: 'upstream_timeout',
    })
  })
})

describe('an unknown result', () => {
  it('is never good: each query that fails makes its line unknown or worse', async () => {
    const failing: [string, string][] = [
      ['mx', 'example.com MX'],
      ['spf', 'example.com TXT'],
      ['dmarc', '_dmarc.example.com TXT'],
      ['tls-rpt', '_smtp._tls.example.com TXT'],
      ['mta-sts', '_mta-sts.example.com TXT'],
      ['bimi', 'default._bimi.example.com TXT'],
      ['caa', 'example.com CAA'],
      ['dnssec', 'example.com DS'],
      ['dane', '_25._tcp.mail.example.com TLSA'],
      ['reverse-dns', '4.4.8.8.in-addr.arpa PTR'],
      ['senders', 'mail.example.com A'],
    ]
    for (const [line, key] of failing) {
      const report = await checkWith({
        lists,
        records: { ...GOOD, ...OUT },
        failures: { [key]: 'SERVFAIL' },
        ports: ports(),
      })
      expect([line, statesOf(report)[line]]).toEqual([line, 'unknown'])
      expect(report.fixes.filter((fix) => fix.line === line)).toEqual([])
    }
  })

  it('makes the verdict unknown where it is essential', async () => {
    const report = await checkWith({
      lists,
      records: { ...GOOD, ...OUT },
      failures: { '_dmarc.example.com TXT': 'SERVFAIL' },
      ports: ports(),
    })
    expect(report.verdict).toMatchObject({ state: 'unknown', exitCode: 2 })
    expect(report.verdict.sentence).toMatch(/could not be checked: DMARC/)
  })

  it('is what a line has that is not finished at the deadline', async () => {
    const slow = mapResolver({ ...GOOD, ...OUT })
    const resolver = {
      ...slow,
      query: async (...query: Parameters<typeof slow.query>) => {
        if (query[0].includes('_domainkey')) await new Promise(() => {})
        return slow.query(...query)
      },
    }
    const started = performance.now()
    const report = await check({}, { resolver, deadlineMs: 1_200 })
    expect(performance.now() - started).toBeLessThan(9_000)
    expect(lineOf(report, 'dkim')).toMatchObject({
      state: 'unknown',
      summary: 'Not finished in time.',
    })
    expect(lineOf(report, 'spf').state).toBe('good')
  })

  it('ends when the client has disconnected', async () => {
    const silent = await startDns({ behaviours: { '*': 'silent' } })
    const resolver = createResolver({ servers: [silent] })
    const started = performance.now()
    await expect(
      checkWith({ lists, resolver, stop: AbortSignal.timeout(100) }),
    ).rejects.toMatchObject({ code: 'upstream_timeout' })
    expect(performance.now() - started).toBeLessThan(9_000)
    resolver.close()
    await silent.close()
  })
})

describe('a hostile domain', () => {
  it('has hundreds of mail servers: ten are checked, and the rest is named', async () => {
    const hosts = Array.from({ length: 300 }, (_, index) => `mx${index}.example.com`)
    const resolver = mapResolver({
      ...GOOD,
      ...OUT,
      'example.com TXT': [`v=spf1 ip4:${IP} -all`],
      'example.com MX': hosts.map((host, index) => `${index} ${host}`),
      ...Object.fromEntries(hosts.map((host) => [`${host} A`, ['127.0.0.1']])),
    })
    const report = await check({}, { resolver, ports: { ...ports(), smtp: 1 } })
    expect(lineOf(report, 'mx').details).toContain('290 more mail servers not checked.')
    expect(resolver.asked.filter((one) => /^mx\d+\.example\.com A$/.test(one))).toHaveLength(10)
  })

  it('permits millions of addresses: few are checked, and the rest is counted', async () => {
    const many = Array.from({ length: 400 }, (_, index) => `ip4:9.${index >> 8}.${index & 255}.1`)
    const report = await check({
      'example.com TXT': ['v=spf1 ip4:11.0.0.0/8 include:many.example.com -all'],
      'many.example.com TXT': [
        [
          `v=spf1 ${many.join(' ')} -all`.slice(0, 255),
          ...chunks(`v=spf1 ${many.join(' ')} -all`.slice(255)),
        ],
      ],
    })
    expect(lineOf(report, 'senders')).toMatchObject({
      state: 'warning',
      summary: 'SPF permits 16,777,616 IPv4 addresses to send.',
      details: expect.arrayContaining([expect.stringMatching(/more networks not shown/)]),
    })
    expect(lineOf(report, 'senders').evidence).toHaveLength(100)
    expect(lineOf(report, 'blocklists').evidence).toHaveLength(64)
    expect(lineOf(report, 'blocklists').details).toContain('16,777,552 more addresses not checked.')
  })

  it('names private addresses as mail servers: nothing connects to them', async () => {
    const connections = smtp.connections()
    const report = await check(
      { 'mail.example.com A': ['127.0.0.1', '10.0.0.7'] },
      { allowPrivate: false },
    )
    expect(lineOf(report, 'mx')).toMatchObject({
      state: 'bad',
      summary: expect.stringMatching(/mail\.example\.com has the address .*others cannot reach/),
    })
    expect(['unknown', 'bad']).toContain(lineOf(report, 'smtp-tls').state)
    expect(smtp.connections()).toBe(connections)
  })

  it('has a resolver that invents answers: blocklists stay unknown', async () => {
    const liar = await startDns({
      records: Object.fromEntries(
        ['org', 'com', 'net', 'de', 'info'].map((top) => [`*.${top} A`, ['203.0.113.80']]),
      ),
    })
    const report = await check({}, { lists: liar })
    await liar.close()
    expect(lineOf(report, 'blocklists').state).toBe('unknown')
    expect(lineOf(report, 'domain-blocklists').state).toBe('unknown')
  })

  it('publishes control characters and half surrogates: the report can be stored', async () => {
    const report = await check({
      '_dmarc.example.com TXT': ['v=DMARC1; p=none; rua=mailto:a\u0000b@example.com; x=\u202e'],
    })
    expect(JSON.stringify(report)).not.toContain(String.raw`\u0000`)
  })
})

const chunks = (text: string) => text.match(/.{1,255}/gs) ?? []
