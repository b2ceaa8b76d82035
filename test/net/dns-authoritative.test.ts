import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { queryAuthoritative } from '../../src/net/dns-authoritative.ts'
import { createResolver, dataOf, type Resolver } from '../../src/net/dns.ts'
import type { PrivateTargets } from '../../src/setting-values.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import { startZoneServer, type ZoneServer } from '../servers/zone-server.ts'
import { mapResolver } from '../resolver.ts'
import type { Records } from '../servers/dns-records.ts'

const ZONE = `$TTL 300
@ SOA ns1.example.test. hostmaster.example.test. 1 3600 600 86400 60
@ NS ns1.example.test.
ns1 A 127.0.0.1
_dmarc TXT "v=DMARC1; p=reject"
_mta-sts CNAME sts.provider.test.
sub NS ns1.other.test.
`
const PROVIDER = `$TTL 300
@ SOA ns1.example.test. hostmaster.example.test. 1 3600 600 86400 60
@ NS ns1.example.test.
sts TXT "v=STSv1; id=7"
`

let nsd: ZoneServer
beforeAll(async () => {
  nsd = await startZoneServer({ 'example.test': ZONE, 'provider.test': PROVIDER })
})
afterAll(() => nsd.close())

const open: DnsServer[] = []
afterEach(async () => {
  for (const dns of open.splice(0)) await dns.close()
})

type Wish = { resolver?: Resolver; port?: number; allowPrivate?: PrivateTargets }

function ask(name: string, { resolver, port = nsd.port, allowPrivate = true }: Wish = {}) {
  const through = resolver ?? createResolver({ servers: [nsd] })
  return queryAuthoritative(
    name,
    'TXT',
    { resolver: through, allowPrivate, port },
    AbortSignal.timeout(8_000),
  )
}

const DELEGATION: Records = {
  'example.test NS': ['ns1.example.test', 'ns2.example.test'],
  'ns1.example.test A': ['127.0.0.1'],
}

describe('an authoritative query', () => {
  it('asks the name servers of the zone that contains the name', async () => {
    const { zone, name, answers } = await ask('_dmarc.example.test')
    expect({ zone, name }).toEqual({ zone: 'example.test', name: '_dmarc.example.test' })
    expect(answers).toMatchObject([{ server: 'ns1.example.test', problem: null }])
    const [first] = answers
    expect(first?.answer && dataOf(first.answer, 'TXT').map(String)).toEqual(['v=DMARC1; p=reject'])
  })

  it('sees a name that does not exist as such, not as a failure', async () => {
    const { answers } = await ask('_smtp._tls.example.test')
    expect(answers).toMatchObject([{ answer: { status: 'NXDOMAIN' }, problem: null }])
  })

  it('follows an alias into another zone', async () => {
    const { zone, name, answers } = await ask('_mta-sts.example.test')
    expect({ zone, name }).toEqual({ zone: 'provider.test', name: 'sts.provider.test' })
    expect(answers[0]?.answer && dataOf(answers[0].answer, 'TXT').map(String)).toEqual([
      'v=STSv1; id=7',
    ])
  })

  it('does not wait for the cache of the resolver', async () => {
    const stale = mapResolver({ ...DELEGATION, '_dmarc.example.test TXT': ['v=DMARC1; p=none'] })
    const { answers } = await ask('_dmarc.example.test', { resolver: stale })
    const fresh = answers.find(({ server }) => server === 'ns1.example.test')
    expect(fresh?.answer && dataOf(fresh.answer, 'TXT').map(String)).toEqual(['v=DMARC1; p=reject'])
  })

  it('names the servers that could not be asked', async () => {
    const { answers } = await ask('_dmarc.example.test', { resolver: mapResolver(DELEGATION) })
    expect(answers).toMatchObject([
      { server: 'ns1.example.test', problem: null },
      {
        server: 'ns2.example.test',
        answer: null,
        problem: 'Host not found: ns2.example.test.',
      },
    ])
  })

  it('sends nothing to a name server with a private address', async () => {
    const dns = await startDns()
    open.push(dns)
    const { answers } = await ask('_dmarc.example.test', {
      resolver: mapResolver(DELEGATION),
      port: dns.port,
      allowPrivate: false,
    })
    expect(answers[0]?.problem).toMatch(/127\.0\.0\.1, a loopback address/)
    expect(dns.queries).toEqual([])
  })

  it('does not believe a server that is not responsible for the zone', async () => {
    const resolver = mapResolver({
      'lame.test NS': ['ns1.example.test'],
      'ns1.example.test A': ['127.0.0.1'],
    })
    const { answers } = await ask('_dmarc.lame.test', { resolver })
    expect(answers[0]?.problem).toMatch(/REFUSED|Not responsible/)
  })

  it('finds no zone for a name below a top-level domain that has no name servers', async () => {
    expect(await ask('nowhere.invalid', { resolver: mapResolver() })).toEqual({
      name: 'nowhere.invalid',
      zone: null,
      answers: [],
    })
  })

  /** The server answers with 20 aliases at a time; each answer leads to the next query. */
  async function askBehind(answers: number) {
    const count = answers * 20
    const aliases = Array.from({ length: count }, (_, index) => [
      `n${index}.example.test CNAME`,
      [`n${index + 1}.example.test`],
    ])
    const records = { ...Object.fromEntries(aliases), [`n${count}.example.test TXT`]: ['"end"'] }
    const dns = await startDns({ records })
    open.push(dns)
    return ask('n0.example.test', { resolver: mapResolver(DELEGATION), port: dns.port })
  }

  it('follows aliases from zone to zone as far as resolvers do, and says so when it stops', async () => {
    const { answers } = await askBehind(10)
    expect(answers[0]?.answer).toMatchObject({ records: [{ name: 'n200.example.test' }] })
    await expect(askBehind(18)).rejects.toMatchObject({
      code: 'upstream_unreachable',
      message: 'n0.example.test leads through more than 17 aliases, more than resolvers follow.',
    })
  })

  it('ends an alias that leads in a circle', async () => {
    const dns = await startDns({
      records: {
        'a.example.test CNAME': ['b.example.test'],
        'b.example.test CNAME': ['a.example.test'],
      },
    })
    open.push(dns)
    const found = await ask('a.example.test', {
      resolver: mapResolver(DELEGATION),
      port: dns.port,
    })
    expect(found.answers[0]?.answer).toMatchObject({ records: [] })
  })

  it('throws when the zone could not be looked up', async () => {
    const resolver = mapResolver({}, { 'example.test NS': 'SERVFAIL' })
    await expect(ask('example.test', { resolver })).rejects.toMatchObject({
      code: 'upstream_unreachable',
    })
  })
})
