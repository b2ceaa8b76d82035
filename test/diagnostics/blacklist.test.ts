import { Check as matches } from 'typebox/value'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blacklistCheck, checkResolverHealth } from '../../src/diagnostics/blacklist.ts'
import type { BlacklistResult } from '../../src/diagnostics/shapes.ts'
import { adviceOnServers } from '../../src/protocols/dnsbl/dnsbl-advice.ts'
import type { Blocklists } from '../../src/protocols/dnsbl/blocklists.ts'
import {
  check,
  enabled,
  IP,
  itemOf,
  open,
  startersForEach,
  startLists,
} from '../servers/blacklists.ts'
import type { Rbldnsd, Zone } from '../servers/rbldnsd.ts'

const start = startersForEach()

const SPECIAL: Record<string, Zone> = {
  'zen.spamhaus.org': {
    listed: { [IP]: ['127.0.0.2 Seen at a trap: $', '127.0.0.10 Dynamic range'] },
  },
  'rbl.efnetrbl.org': { listed: { [IP]: '127.0.0.1 Proxy' } },
  'bl.spamcop.net': { behaviour: 'silent' },
  'psbl.surriel.com': { behaviour: 'refused' },
  'dnsbl.dronebl.org': { behaviour: 'expired' },
  'bl.mailspike.net': { behaviour: 'refusing' },
  'rbl.interserver.net': { behaviour: 'wildcard' },
  'bl.nordspam.com': { behaviour: 'parked' },
  'bl.0spam.org': { behaviour: 'no-test-entry' },
  'all.spamrats.com': { behaviour: 'no-test-entry' },
  'all.s5h.net': { nodata: [IP] },
  'hostkarma.junkemailfilter.com': { listed: { [IP]: '127.0.0.3 Mixed' } },
  'rep.mailspike.net': { listed: { [IP]: '127.0.0.77 Undocumented' } },
  'bl.blocklist.de': { testCode: '127.0.0.15' },
  'rbl.your-server.de': { listed: { '127.0.0.1': '127.0.0.1 Junk' } },
}

describe('every list of the catalogue, some of them misbehaving', () => {
  let server: Rbldnsd
  let blocklists: Blocklists
  let result: BlacklistResult
  beforeAll(async () => {
    server = await startLists(SPECIAL)
    blocklists = open(server)
    result = await check(blocklists)
  })
  afterAll(() => server.stop())

  it.each([
    ['zen.spamhaus.org', 'listed', 'healthy', null],
    ['rbl.efnetrbl.org', 'listed', 'healthy', null],
    ['bl.spamcop.net', 'unknown', 'failing', 'Did not answer in time.'],
    ['psbl.surriel.com', 'unknown', 'refusing', 'The query was refused (REFUSED).'],
    [
      'dnsbl.dronebl.org',
      'unknown',
      'failing',
      'The resolver got no answer from the list (SERVFAIL).',
    ],
    ['bl.mailspike.net', 'unknown', 'refusing', 'Refuses to answer this resolver: query came through a public or open resolver (127.255.255.254).'], // prettier-ignore
    ['rbl.interserver.net', 'unknown', 'wildcard', 'Lists every address.'],
    ['bl.nordspam.com', 'unknown', 'wildcard', 'Answered 203.0.113.80, outside 127.0.0.0/8: the zone is parked, or the resolver rewrites answers.'], // prettier-ignore
    [
      'bl.0spam.org',
      'unknown',
      'no-test-entry',
      expect.stringContaining('without returning its test entry'),
    ],
    [
      'all.spamrats.com',
      'unknown',
      'no-test-entry',
      expect.stringContaining('without returning its test entry'),
    ],
    ['all.s5h.net', 'clean', 'healthy', null],
    ['hostkarma.junkemailfilter.com', 'clean', 'healthy', null],
    ['rep.mailspike.net', 'unknown', 'healthy', expect.stringContaining('127.0.0.77')],
    ['bl.blocklist.de', 'clean', 'healthy', null],
    [
      'rbl.your-server.de',
      'clean',
      'healthy',
      'Lists 127.0.0.1, which must not be listed (RFC 5782).',
    ],
    ['psbl.surriel.com', 'unknown', 'refusing', expect.any(String)],
  ])('%s is %s and %s', (zone, status, health, detail) => {
    expect(itemOf(result, zone)).toMatchObject({
      status,
      health,
      detail,
      listed: status === 'listed',
    })
  })

  it('calls all others clean, and counts every list once', () => {
    const others = result.blacklists.filter((item) => !Object.hasOwn(SPECIAL, item.dnsbl))
    expect(others.filter((item) => item.status !== 'clean' || item.health !== 'healthy')).toEqual(
      [],
    )
    expect(result.blacklists.map((item) => item.dnsbl).toSorted()).toEqual(
      enabled.map((list) => list.zone).toSorted(),
    )
    const { totalChecked, listedCount, cleanCount, unknownCount } = result
    expect({ totalChecked, listedCount, cleanCount, unknownCount }).toEqual({
      totalChecked: enabled.length,
      listedCount: 2,
      cleanCount: enabled.length - 11,
      unknownCount: 9,
    })
    expect(totalChecked).toBeGreaterThan(80)
  })

  it('explains a listing, its reason, and where to request removal', () => {
    expect(itemOf(result, 'zen.spamhaus.org')).toEqual({
      name: 'Spamhaus ZEN',
      dnsbl: 'zen.spamhaus.org',
      listed: true,
      category: 'critical',
      status: 'listed',
      codes: ['127.0.0.2', '127.0.0.10'],
      meanings: ['SBL: direct spam source or spam operation', 'PBL: policy entry set by the ISP'],
      reason: 'Seen at a trap: 8.8.4.4 | Dynamic range',
      detail: null,
      delistUrl: 'https://check.spamhaus.org/',
      health: 'healthy',
      ttl: expect.any(Number),
    })
    expect(itemOf(result, 'hostkarma.junkemailfilter.com')?.codes).toEqual(['127.0.0.3'])
  })

  it('sorts listed lists first, then by category, unknown before clean', () => {
    const gravity = ['critical', 'major', 'minor', 'informational']
    const ranks = result.blacklists.map(
      (item) =>
        Number(!item.listed) * 100 +
        gravity.indexOf(item.category) * 10 +
        Number(item.status === 'clean'),
    )
    expect(ranks).toEqual(ranks.toSorted((a, b) => a - b))
    expect(result.blacklists[0]?.dnsbl).toBe('zen.spamhaus.org')
  })

  it('warns that critical and major lists are missing', () => {
    expect(result.warnings).toEqual([
      expect.stringMatching(/ refused this resolver: .* Set DNSBL_SERVERS/),
      expect.stringMatching(
        /^6 of 26 critical and major lists could not be checked: SpamCop SCBL, .* and 2 more/,
      ),
    ])
  })

  it('has the shape it promises', () => {
    expect(matches(blacklistCheck.data, result)).toBe(true)
    expect(matches(blacklistCheck.data, blacklistCheck.example.data)).toBe(true)
  })

  it('does not query blocklists that are known to be unusable', async () => {
    const before = server.queryLog().length
    const { durationMs } = await check(blocklists, '8.8.4.5')
    const asked = server.queryLog().slice(before)
    expect(durationMs).toBeLessThan(5_000)
    for (const zone of ['bl.spamcop.net', 'bl.mailspike.net', 'bl.nordspam.com']) {
      expect(asked.filter((line) => line.includes(zone))).toEqual([])
    }
    expect(asked.filter((line) => line.startsWith('5.4.8.8.'))).toHaveLength(enabled.length - 6)
  })
})

describe('a resolver at fault', () => {
  it('is named when nothing can be reached, and no list is called clean or dead', async () => {
    const server = await startLists()
    await server.stop()
    const blocklists = open(server)
    for (let round = 0; round < 4; round++) await blocklists.health.refresh(blocklists.lists)
    const result = await check(blocklists)
    expect(result).toMatchObject({ listedCount: 0, cleanCount: 0, unknownCount: enabled.length })
    expect(new Set(result.blacklists.map((item) => item.health))).toEqual(new Set(['failing']))
    expect(result.warnings).toEqual([
      expect.stringMatching(/^89 of 89 lists gave no usable answer.*DNSBL_SERVERS/),
    ])
  })

  it.each(['refusing', 'wildcard', 'parked', 'no-test-entry'] as const)(
    'is suspected when most lists are %s together',
    async (behaviour) => {
      const server = await start.lists(
        Object.fromEntries(enabled.slice(0, 60).map(({ zone }) => [zone, { behaviour }])),
      )
      const result = await check(open(server))
      expect(result).toMatchObject({ listedCount: 0, cleanCount: 29, unknownCount: 60 })
      expect(result.warnings).toEqual([expect.stringContaining('The resolver (127.0.0.1 port')])
    },
  )

  it('is recognised by its address when it is a public one', () => {
    expect(adviceOnServers([{ address: '8.8.8.8', port: 53 }])).toEqual([
      expect.stringContaining('8.8.8.8 (Google)'),
    ])
    expect(adviceOnServers([{ address: '2606:4700:4700::1111', port: 53 }])).toEqual([
      expect.stringContaining('(Cloudflare)'),
    ])
    expect(adviceOnServers([{ address: '127.0.0.1', port: 53 }])).toEqual([])
  })

  it('is reported with its problem for each blocklist', async () => {
    const server = await start.lists({
      'zen.spamhaus.org': { behaviour: 'refusing' },
      'b.barracudacentral.org': { behaviour: 'no-test-entry' },
    })
    const { lists, warnings } = await checkResolverHealth(open(server))
    expect(lists.map(({ list }) => list.category)).toEqual(
      Array.from({ length: 7 }, () => 'critical'),
    )
    expect(warnings).toEqual([
      expect.stringMatching(
        /^Barracuda BRBL .*Register the public address of your resolver with its operator\.$/,
      ),
      expect.stringMatching(
        /^Spamhaus ZEN \(zen\.spamhaus\.org\): Refuses .*Set DNSBL_SERVERS to your own\.$/,
      ),
    ])
  })
})

describe('a list with a key', () => {
  const KEY = 'SecretKey77'
  const keyed = `${KEY.toLowerCase()}.zen.dq.spamhaus.net`

  it('is queried with the key, which is never shown', async () => {
    const listed = { [IP]: `127.0.0.2 See https://example/?q=4.4.8.8.${keyed}` }
    const server = await start.lists({ [keyed]: { listed } })
    const result = await check(open(server, { keys: { 'zen.spamhaus.org': KEY } }))
    expect(itemOf(result, 'zen.spamhaus.org')).toMatchObject({
      status: 'listed',
      reason: 'See https://example/?q=4.4.8.8.***.zen.dq.spamhaus.net',
    })
    expect(JSON.stringify(result).toLowerCase()).not.toContain(KEY.toLowerCase())
    expect(server.queryLog().filter((line) => line.includes('zen.spamhaus.org'))).toEqual([])
  })

  it('is unknown when the key is not good', async () => {
    const server = await start.lists({ [keyed]: { behaviour: 'no-test-entry' } })
    const result = await check(open(server, { keys: { 'zen.spamhaus.org': KEY } }))
    expect(itemOf(result, 'zen.spamhaus.org')).toMatchObject({
      status: 'unknown',
      health: 'no-test-entry',
    })
  })
})

describe('an address', () => {
  it.each([
    ['10.1.2.3', 'a private address'],
    ['127.0.0.2', 'a loopback address'],
    ['100.64.0.1', 'an address behind carrier-grade NAT'],
    ['192.0.2.10', 'reserved for documentation'],
    ['224.0.0.1', 'a multicast address'],
    ['2001:4860:4860::8888', 'not an IPv4 address'],
    ['mail.example.com', 'not an IPv4 address'],
    ['8.8.8', 'not an IPv4 address'],
    ['', 'not an IPv4 address'],
  ])('“%s” is refused, for it is %s', async (ip, why) => {
    const nobody = open({ address: '127.0.0.1', port: 9 })
    await expect(check(nobody, ip)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(why),
      details: [{ path: 'ip' }],
    })
  })
})
