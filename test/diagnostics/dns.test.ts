import { Check as matches } from 'typebox/value'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { CheckDeps } from '../../src/diagnostics/check-services.ts'
import { dnsCheck } from '../../src/diagnostics/dns/dns-check.ts'
import type { DnsResult } from '../../src/diagnostics/shapes.ts'
import { createResolver, type Resolver } from '../../src/net/dns.ts'
import { startDns } from '../servers/dns.ts'
import { startZoneServer, type ZoneServer } from '../servers/zone-server.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

function check(domain: string, resolver: Resolver): Promise<DnsResult> {
  return dnsCheck.run({ domain }, { resolver } as CheckDeps, AbortSignal.timeout(30_000))
}

async function checkAgainst(
  domain: string,
  options: Parameters<typeof startDns>[0],
): Promise<DnsResult> {
  const dns = await startDns(options)
  open.push(dns)
  return check(domain, createResolver({ servers: [dns], timeoutMs: 1_000 }))
}

const warningsOf = async (domain: string, records: Record<string, string[]>) =>
  (await checkAgainst(domain, { records })).warnings

describe('a real zone', () => {
  let nsd: ZoneServer
  beforeAll(async () => {
    nsd = await startZoneServer({ 'example.test': ZONE, 'xn--mnchen-3ya.test': ZONE })
  })
  afterAll(() => nsd.close())

  it('is answered with all its records, sorted and joined', async () => {
    const result = await check('Example.TEST.', createResolver({ servers: [nsd] }))
    expect(result).toEqual({
      domain: 'example.test',
      unicodeDomain: 'example.test',
      status: 'NOERROR',
      a: ['8.8.4.4', '8.8.8.8'],
      aaaa: ['2a00:1450::1'],
      mx: [
        { exchange: 'mx1.example.test', priority: 5 },
        { exchange: 'mx2.example.test', priority: 20 },
      ],
      txt: ['v=spf1 mx -all', 'ümlaut'],
      cname: [],
      ns: ['ns1.example.test', 'ns2.example.test'],
      soa: { mname: 'ns1.example.test', rname: 'host\\.master.example.test', serial: 7, refresh: 7200, retry: 900, expire: 1209600, minimum: 60 }, // prettier-ignore
      caa: [{ flags: 128, tag: 'issue', value: 'ca.test' }],
      ttl: 60,
      errors: {},
      warnings: [],
      durationMs: expect.any(Number),
    })
    expect(matches(dnsCheck.data, result)).toBe(true)
  })

  it('is found under its name in people’s letters', async () => {
    const result = await check('münchen.test', createResolver({ servers: [nsd] }))
    expect(result).toMatchObject({
      domain: 'xn--mnchen-3ya.test',
      unicodeDomain: 'münchen.test',
      status: 'NOERROR',
    })
  })

  it('distinguishes names that exist from names that do not', async () => {
    const resolver = createResolver({ servers: [nsd] })
    const empty = {
      a: [],
      aaaa: [],
      mx: [],
      txt: [],
      cname: [],
      ns: [],
      soa: null,
      caa: [],
      errors: {},
    }
    expect(await check('gone.example.test', resolver)).toMatchObject({
      status: 'NXDOMAIN',
      ...empty,
    })
    expect(await check('empty.example.test', resolver)).toMatchObject({
      status: 'NOERROR',
      ...empty,
    })
    const aliased = { status: 'NOERROR', cname: ['example.test'], a: ['8.8.4.4', '8.8.8.8'] }
    expect(await check('www.example.test', resolver)).toMatchObject(aliased)
    const dangling = await check('dangling.example.test', resolver)
    expect(dangling).toMatchObject({ status: 'NOERROR', cname: ['gone.example.test'], a: [] })
    expect(dangling.warnings).toEqual([
      expect.stringContaining('alias for gone.example.test, which has no address'),
    ])
  })
})

const ZONE = `
$TTL 300
@ SOA ns1.example.test. host\\.master.example.test. 7 7200 900 1209600 60
@ 60 NS ns2.example.test.
@ 60 NS ns1.example.test.
@ A 8.8.8.8
@ A 8.8.4.4
@ AAAA 2a00:1450:0:0::1
@ MX 20 mx2.example.test.
@ MX 5 mx1.example.test.
@ TXT "v=spf1 mx" " -all"
@ TXT "\\195\\188mlaut"
@ CAA 128 issue "ca.test"
www CNAME example.test.
dangling CNAME gone.example.test.
deep.empty TXT "x"
mx1 A 8.8.8.8
mx2 AAAA 2a00:1450::2
`

describe('a failure', () => {
  it('of some types is named and leaves the others as they are', async () => {
    const behaviours = {
      'a.test MX': 'SERVFAIL',
      'a.test CAA': 'REFUSED',
      'a.test NS': 'silent',
    } as const
    const result = await checkAgainst('a.test', {
      records: { 'a.test A': ['8.8.8.8'] },
      behaviours,
    })
    expect(result.errors).toEqual({ mx: 'SERVFAIL', caa: 'REFUSED', ns: 'TIMEOUT' })
    expect(result).toMatchObject({ status: 'NOERROR', a: ['8.8.8.8'], mx: [], ttl: 0 })
  })

  it('of all types is no answer', async () => {
    const failing = checkAgainst('a.test', { behaviours: { '*': 'SERVFAIL' } })
    await expect(failing).rejects.toMatchObject({
      code: 'upstream_unreachable',
      message: 'No name server answered for a.test: SERVFAIL.',
    })
  })

  it('to give a domain name is the asker’s', async () => {
    for (const domain of ['192.0.2.1', '::1', 'a..b', 'https://a.test', '']) {
      await expect(checkAgainst(domain, {})).rejects.toMatchObject({
        code: 'invalid_request',
        details: [{ path: 'domain', message: expect.any(String) }],
      })
    }
  })
})

it('sends all queries at once', async () => {
  const dns = await startDns({ behaviours: { '*': { delayMs: 500 } } })
  open.push(dns)
  const { durationMs } = await check('a.test', createResolver({ servers: [dns] }))
  expect(durationMs).toBeGreaterThanOrEqual(499)
  expect(durationMs).toBeLessThan(3_000)
  const types = dns.queries.map(({ type }) => type).toSorted()
  expect(types).toEqual(['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'SOA', 'TXT'])
})

it('writes bytes that are no text as zone files do', async () => {
  const { txt } = await checkAgainst('a.test', {
    records: { 'a.test TXT': [[Buffer.from([0xff, 0x41, 0x00])]] },
  })
  expect(txt).toEqual([String.raw`\255A\000`])
})

describe('a warning', () => {
  const fine = { 'a.test A': ['8.8.8.8'], 'a.test NS': ['ns1.test', 'ns2.test'] }

  it('is not given when all is well', async () => {
    const records = {
      ...fine,
      'a.test MX': ['1 mx.test'],
      'mx.test A': ['8.8.8.8'],
      'a.test TXT': ['v=spf1 -all'],
    }
    expect(await warningsOf('a.test', records)).toEqual([])
  })

  it.each<[string, Record<string, string[]>, string]>([
    ['a single name server', { 'a.test NS': ['ns1.test'] }, 'only one name server, ns1.test'],
    [
      'two SPF records',
      { 'a.test TXT': ['v=spf1 -all', 'v=spf1 mx -all', 'v=spf10'] },
      '2 SPF records',
    ],
    [
      'an address others cannot reach',
      { 'a.test A': ['10.0.0.1'] },
      '10.0.0.1 is a private address',
    ],
    ['a null MX', { 'a.test MX': ['0 .'] }, 'does not receive mail'],
    [
      'a null MX beside others',
      { 'a.test MX': ['0 .', '5 mx.test'] },
      'must be the only MX record (RFC 7505)',
    ],
    ['an MX that is an address', { 'a.test MX': ['5 8.8.8.8'] }, 'The MX 8.8.8.8 is an IP address'],
    [
      'an MX without an address',
      { 'a.test MX': ['5 gone.test'] },
      'The MX gone.test has no address',
    ],
    [
      'an MX that is an alias',
      { 'a.test MX': ['5 mx.test'], 'mx.test CNAME': ['b.test'], 'b.test A': ['8.8.8.8'] },
      'The MX mx.test is an alias for b.test',
    ],
    ['a CNAME beside other records', { 'a.test CNAME': ['b.test'] }, 'also has A and NS records'],
  ])('names %s', async (_what, records, words) => {
    expect(await warningsOf('a.test', { ...fine, ...records })).toEqual([
      expect.stringContaining(words),
    ])
  })

  it('names a circle of aliases', async () => {
    const warnings = await warningsOf('a.test', {
      'a.test CNAME': ['b.test'],
      'b.test CNAME': ['a.test'],
    })
    expect(warnings).toEqual([expect.stringContaining('a loop: a.test → b.test → a.test')])
  })

  it('is not made of a mail server that could not be looked up', async () => {
    const records = { ...fine, 'a.test MX': ['5 mx.test'] }
    const { warnings } = await checkAgainst('a.test', {
      records,
      behaviours: { 'mx.test *': 'SERVFAIL' },
    })
    expect(warnings).toEqual([])
  })
})

it('shows an example that is true to its shape', () => {
  expect(matches(dnsCheck.data, dnsCheck.example.data)).toBe(true)
  expect(matches(dnsCheck.query, dnsCheck.example.query)).toBe(true)
})
