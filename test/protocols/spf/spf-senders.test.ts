import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DnsFailure } from '../../../src/net/dns.ts'
import { createDnsQueries } from '../../../src/protocols/dns-queries.ts'
import { evaluateSpf } from '../../../src/protocols/spf/evaluate-spf.ts'
import { permittedSenders } from '../../../src/protocols/spf/spf-senders.ts'
import { walkSpf } from '../../../src/protocols/spf/spf-tree.ts'
import { mapResolver } from '../../resolver.ts'
import type { Records } from '../../servers/dns-records.ts'

const BESIDE: Records = {
  'example.com A': ['192.0.2.80'],
  'example.com AAAA': ['2001:db8::80'],
  'example.com MX': ['10 mail.example'],
  'mail.example A': ['192.0.2.25', '198.51.100.25'],
  'mail.example AAAA': ['2001:db8::25'],
  'none.example TXT': ['v=spf1 -all'],
  'all.example TXT': ['v=spf1 +all'],
  'some.example TXT': ['v=spf1 -ip4:192.0.2.3 ip4:192.0.2.0/28 ip6:2001:db8::/64 ~all'],
  'some.example A': ['198.51.100.7'],
  'to-all.example TXT': ['v=spf1 -a redirect=all.example'],
  'to-some.example TXT': ['v=spf1 redirect=some.example'],
  'not-all.example TXT': ['v=spf1 -include:some.example ?mx include:all.example'],
}

function zoneOf(record: string, more: Records = {}): Records {
  return { ...BESIDE, ...more, 'example.com TXT': [record] }
}

async function sendersOf(
  record: string,
  more: Records = {},
  failures: Record<string, DnsFailure> = {},
) {
  const resolver = mapResolver(zoneOf(record, more), failures)
  return permittedSenders(
    await walkSpf('example.com', createDnsQueries(resolver, new AbortController().signal)),
  )
}

describe('the servers that may send', () => {
  it.each([
    ['ip4:192.0.2.0/24 ip4:192.0.2.0/25 ip4:192.0.2.7', 256, 0],
    ['ip4:192.0.2.7 ip4:192.0.2.0/25 ip4:192.0.2.0/24', 256, 0],
    ['ip4:192.0.2.0/25 ip4:192.0.2.77/24', 256, 0],
    ['-ip4:192.0.2.1 ip4:192.0.2.0/30', 3, 0],
    ['~ip4:192.0.2.1 ?ip4:192.0.2.2 ip4:192.0.2.0/30', 2, 0],
    ['ip4:192.0.2.0/30 -ip4:192.0.2.1', 4, 0],
    ['-ip4:192.0.2.0/24 ip4:192.0.2.1', 0, 0],
    ['-include:some.example ip4:192.0.2.0/30', 1, 0],
    ['-include:none.example ip4:192.0.2.0/30', 4, 0],
    ['include:to-some.example mx', 17, 1],
    ['mx/31 a/30//64', 8, 1],
    ['ip6:2001:db8::1 ip6:2001:db8::/64 ip6:2001:db8:0:1::1', 0, 2],
    ['ip4:10.0.0.0/8 ip4:127.0.0.1 ip4:100.64.0.1 ip4:224.0.0.1 ip6:fe80::1 ip6:::1', 0, 0],
    ['ip4:9.255.255.254/30 ip4:10.0.0.0/8', 4, 0],
    ['ip6:::ffff:192.0.2.1', 0, 0],
    ['mx a include:all.example -all', 3_702_390_784, 2],
  ])('of %j are %i IPv4 addresses and %i IPv6 networks', async (terms, ipv4Count, ipv6Networks) => {
    expect(await sendersOf(`v=spf1 ${terms} -all`)).toMatchObject({ ipv4Count, ipv6Networks })
  })

  it('are listed as published, without those that an earlier term excludes', async () => {
    const { networks } = await sendersOf(
      'v=spf1 -ip4:192.0.2.1 ip4:192.0.2.1 ip4:192.0.2.0/30 mx -all',
    )
    expect(networks.map(({ address, prefix, via }) => `${address}/${prefix} ${via}`)).toEqual([
      '192.0.2.0/30 example.com ip4:192.0.2.0/30',
      '192.0.2.25/32 example.com mx',
      '198.51.100.25/32 example.com mx',
      '2001:db8::25/128 example.com mx',
    ])
  })

  it('are unknown where a lookup failed, and where they depend on the mail', async () => {
    const record =
      'v=spf1 a:lame.example mx include:lame.example -a:lame.example ptr exists:%{i}.x.example ?ptr:example.net -all'
    expect(await sendersOf(record, {}, { 'lame.example *': 'SERVFAIL' })).toMatchObject({
      ipv4Count: 2,
      failedTerms: ['a:lame.example', 'include:lame.example'],
      dependentTerms: ['ptr', 'exists:%{i}.x.example'],
    })
  })
})

describe('terms through which anyone may send', () => {
  const term = (text: string, domain = 'example.com', via: string | null = null) => ({
    term: text,
    domain,
    via,
  })

  it.each([
    ['mx -all', []],
    ['mx +all', [term('+all')]],
    ['mx all -all', [term('all')]],
    ['-all +all', []],
    ['?all', []],
    ['include:all.example -all', [term('+all', 'all.example', 'include:all.example')]],
    ['redirect=to-all.example', [term('+all', 'all.example', 'redirect=to-all.example')]],
    ['include:not-all.example', [term('+all', 'all.example', 'include:not-all.example')]],
    ['-include:all.example ~all', []],
    ['~include:to-all.example +mx', []],
    ['redirect=all.example -all', []],
    ['-all include:all.example', []],
    ['ip4:192.0.2.0/8 -all', []],
    ['ip4:192.0.2.0/7 -all', [term('ip4:192.0.2.0/7')]],
    ['-ip4:192.0.2.0/7 ip4:192.0.2.0/7 -all', []],
    ['mx ip4:44.0.0.0/8 ip4:45.0.0.0/8 -all', [term('ip4:44.0.0.0/8'), term('ip4:45.0.0.0/8')]],
    ['ip6:2001:db8::/16 -all', []],
    ['ip6:2001:db8::/15 -all', [term('ip6:2001:db8::/15')]],
    ['mx/0 -all', [term('mx/0')]],
    ['mx//0 -all', [term('mx//0')]],
    ['a/24//64 -all', []],
    ['?a/0 -all', []],
    ['a:none.example/0 -all', []],
    ['exists:mail.example -all', [term('exists:mail.example')]],
    ['exists:%{d} -all', [term('exists:%{d}')]],
    ['exists:%{o}.%{d} -all', []],
    ['exists:none.example -all', []],
    ['exists:%{ir}.x.example -all', []],
    ['-exists:mail.example +all', []],
    ['a:%{h} -all', [term('a:%{h}')]],
    ['mx:%{p} -all', [term('mx:%{p}')]],
    ['redirect=%{l1r-}', [term('redirect=%{l1r-}')]],
    ['include:%{h}._spf.example.net -all', []],
    ['-ip4:0.0.0.0/0 +all', [term('+all')]],
    ['-ip4:0.0.0.0/0 -ip6:::/0 +all', []],
  ] as [string, object[]][])('of %j are %j', async (terms, open) => {
    expect((await sendersOf(`v=spf1 ${terms}`)).open).toMatchObject(open)
    expect((await sendersOf(`v=spf1 ${terms}`)).open).toHaveLength(open.length)
  })

  it('are not in an included record that has an error', async () => {
    const more = { 'broken.example TXT': ['v=spf1 +all nonsense'] }
    expect((await sendersOf('v=spf1 include:broken.example -all', more)).open).toEqual([])
  })
})

describe('the evaluation of a whole tree', () => {
  const qualifier = fc.constantFrom('', '', '-', '~', '?')
  const HOSTS = ['none', 'all', 'some', 'to-all', 'to-some', 'not-all', 'mail', 'gone']
  const host = fc.constantFrom(...HOSTS.map((label) => `${label}.example`), '%{d}')
  const size = fc.constantFrom('', '', '/24', '/30', '/0', '//64', '/1//0')
  const term = fc.oneof(
    fc
      .tuple(fc.constantFrom('a', 'mx'), fc.option(host, { nil: '' }), size)
      .map(([name, target, length]) => `${name}${target && `:${target}`}${length}`),
    fc
      .tuple(fc.constantFrom('include', 'include', 'exists'), host)
      .map(([name, target]) => `${name}:${target}`),
    fc
      .constantFrom('ip4:192.0.2.0', 'ip4:198.51.100.0', 'ip6:2001:db8::1')
      .chain((network) =>
        fc.constantFrom('', '/0', '/1', '/24', '/29', '/31').map((length) => `${network}${length}`),
      ),
  )
  const end = fc.constantFrom(
    '-all',
    '+all',
    '~all',
    '',
    ...HOSTS.map((label) => `redirect=${label}.example`),
  )
  const record = fc
    .tuple(
      fc.array(
        fc.tuple(qualifier, term).map((parts) => parts.join('')),
        { maxLength: 5 },
      ),
      end,
    )
    .map(([terms, last]) => ['v=spf1', ...terms, last].join(' ').trim())
  const SENDERS = [
    '192.0.2.1',
    '192.0.2.3',
    '192.0.2.80',
    '198.51.100.25',
    '203.0.113.9',
    '8.8.8.8',
  ]

  it('permits an address exactly when its mail passes', async () => {
    const address = fc.constantFrom(...SENDERS, '2001:db8::1', '2001:db8::25', '2a00:1450::9')
    let compared = 0
    await fc.assert(
      fc.asyncProperty(record, record, address, async (text, other, ip) => {
        const more = { 'mail.example TXT': [other] }
        const queries = createDnsQueries(
          mapResolver(zoneOf(text, more)),
          new AbortController().signal,
        )
        const client = { ip, sender: 'postmaster@example.com', helo: 'example.com' }
        const { result, reason } = await evaluateSpf(client, queries)
        // Limits and broken includes end an evaluation; here they are left out.
        if (result === 'permerror') return
        compared += 1
        const { permits } = permittedSenders(await walkSpf('example.com', queries))
        expect(permits(ip), `${ip} of ${text}, ${other}: ${result}, ${reason}`).toBe(
          result === 'pass',
        )
      }),
      { numRuns: 500 },
    )
    expect(compared).toBeGreaterThan(150)
  })
})
