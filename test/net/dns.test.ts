import { freePort } from '../free-port.ts'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import * as fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import {
  createResolver,
  dataOf,
  systemServers,
  type OwnResolver,
  type ResolverOptions,
} from '../../src/net/dns.ts'
import { answers, drawId, encodeQuery, readAnswer } from '../../src/net/dns-wire.ts'
import { startDns, type Behaviour, type DnsServer } from '../servers/dns.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

async function dnsWith(options: Parameters<typeof startDns>[0]): Promise<DnsServer> {
  const dns = await startDns(options)
  open.push(dns)
  return dns
}

function resolverOf(options: ResolverOptions): OwnResolver {
  const resolver = createResolver({ timeoutMs: 5_000, ...options })
  open.push(resolver)
  return resolver
}

/** A closed port. */
const deadServer = async () => ({ address: '127.0.0.1', port: await freePort() })

const records = {
  'example.test A': ['192.0.2.1', '192.0.2.2'],
  'example.test MX': ['10 mx.example.test'],
  'deep.empty.example.test TXT': [['v=spf1 ', '-all']],
  'www.example.test CNAME': ['example.test'],
  'wild.test A': ['192.0.2.8'],
  '*.wild.test A': ['192.0.2.9'],
}

describe('an answer', () => {
  it('has the records of the type, the TTL and the server', async () => {
    const dns = await dnsWith({ records, ttl: 120 })
    const answer = await resolverOf({ servers: [dns] }).query('Example.TEST.', 'A')
    expect(answer).toMatchObject({
      status: 'NOERROR',
      cnames: [],
      ttl: 120,
      server: `127.0.0.1:${dns.port}`,
    })
    expect(dataOf(answer, 'A')).toEqual(['192.0.2.1', '192.0.2.2'])
  })

  it('distinguishes NODATA from NXDOMAIN', async () => {
    const resolver = resolverOf({ servers: [await dnsWith({ records, negativeTtl: 45 })] })
    expect(await resolver.query('empty.example.test', 'A')).toMatchObject({
      status: 'NOERROR',
      records: [],
      ttl: 45,
    })
    expect(await resolver.query('gone.example.test', 'A')).toMatchObject({
      status: 'NXDOMAIN',
      records: [],
      ttl: 45,
    })
    expect(dataOf(await resolver.query('any.wild.test', 'A'), 'A')).toEqual(['192.0.2.9'])
  })

  it('follows aliases and names them', async () => {
    const resolver = resolverOf({ servers: [await dnsWith({ records })] })
    const answer = await resolver.query('www.example.test', 'A')
    expect(answer).toMatchObject({ status: 'NOERROR', cnames: ['example.test'] })
    expect(dataOf(answer, 'A')).toHaveLength(2)
    expect(dataOf(await resolver.query('www.example.test', 'CNAME'), 'CNAME')).toEqual([
      'example.test',
    ])
  })

  it('follows aliases as far as the resolver did, and has no records behind a circle', async () => {
    const chain = Object.fromEntries(
      Array.from({ length: 17 }, (_, n) => [`n${n}.test CNAME`, [`n${n + 1}.test`]]),
    )
    const circle = { 'a.test CNAME': ['b.test'], 'b.test CNAME': ['a.test'] }
    const resolver = resolverOf({
      servers: [await dnsWith({ records: { ...chain, ...circle, 'n17.test A': ['192.0.2.1'] } })],
    })
    expect(await resolver.query('a.test', 'A')).toMatchObject({
      status: 'NOERROR',
      records: [],
      cnames: ['b.test', 'a.test'],
    })
    const answer = await resolver.query('n0.test', 'A')
    expect(answer).toMatchObject({ cnames: { length: 17 } })
    expect(dataOf(answer, 'A')).toEqual(['192.0.2.1'])
  })

  it('has names with a zero octet as zone files write them, since no text can be stored with one', async () => {
    const zero = {
      'ptr.test PTR': ['a\0b.example.test'],
      'mx.test MX': ['10 a\0b.example.test'],
      'alias.test CNAME': ['a\0b.example.test'],
    }
    const resolver = resolverOf({ servers: [await dnsWith({ records: zero })] })
    const name = String.raw`a\000b.example.test`
    expect(dataOf(await resolver.query('ptr.test', 'PTR'), 'PTR')).toEqual([name])
    expect(dataOf(await resolver.query('mx.test', 'MX'), 'MX')).toEqual([
      { preference: 10, exchange: name },
    ])
    expect(await resolver.query('alias.test', 'A')).toMatchObject({ cnames: [name] })
  })

  it('is not sent for an impossible name', async () => {
    const dns = await dnsWith({ records })
    const resolver = resolverOf({ servers: [dns] })
    const long = Array.from({ length: 5 }, () => 'x'.repeat(60)).join('.')
    for (const name of [
      '',
      'a..test',
      '.test',
      `${'x'.repeat(64)}.test`,
      long,
      'ü.test',
      'a\0b.test',
    ]) {
      expect(await resolver.query(name, 'A')).toMatchObject({
        status: 'FAILED',
        failure: 'BADNAME',
      })
    }
    expect(dns.queries).toEqual([])
    expect(await resolver.query(`_x.${'y'.repeat(63)}.test`, 'A')).toMatchObject({
      status: 'NXDOMAIN',
    })
  })
})

describe('a failure', () => {
  it('is the server’s response, immediately', async () => {
    const behaviours = {
      'a.test *': 'SERVFAIL',
      'b.test *': 'REFUSED',
      'c.test *': 'NOTIMP',
    } as const
    const dns = await dnsWith({ behaviours })
    const resolver = resolverOf({ servers: [dns] })
    expect(await resolver.query('a.test', 'A')).toMatchObject({
      status: 'FAILED',
      failure: 'SERVFAIL',
    })
    expect(await resolver.query('b.test', 'A')).toMatchObject({
      status: 'FAILED',
      failure: 'REFUSED',
    })
    expect(await resolver.query('c.test', 'A')).toMatchObject({
      status: 'FAILED',
      failure: 'NOTIMP',
    })
    expect(dns.queries).toHaveLength(3)
  })

  it('is retried with the next server', async () => {
    const lame = await dnsWith({ behaviours: { '*': 'SERVFAIL' } })
    const resolver = resolverOf({ servers: [lame, await dnsWith({ records })] })
    expect(await resolver.query('example.test', 'A')).toMatchObject({ status: 'NOERROR' })
  })

  it('of all servers reports an answer of one rather than the timeout of another', async () => {
    const silent = await dnsWith({ behaviours: { '*': 'silent' } })
    const lame = await dnsWith({ behaviours: { '*': 'REFUSED' } })
    const resolver = resolverOf({ servers: [silent, lame], timeoutMs: 500 })
    const server = `127.0.0.1:${lame.port}`
    expect(await resolver.query('example.test', 'A')).toMatchObject({
      status: 'FAILED',
      failure: 'REFUSED',
      server,
    })
  })

  it('comes at once for a closed port, and the next server is queried', async () => {
    const dead = await deadServer()
    expect(await resolverOf({ servers: [dead] }).query('example.test', 'A')).toMatchObject({
      failure: 'NETWORK',
    })
    const answer = await resolverOf({ servers: [dead, dead, await dnsWith({ records })] }).query(
      'example.test',
      'A',
    )
    expect(answer).toMatchObject({ status: 'NOERROR' })
    // Before the time of one attempt.
    expect(answer.ms).toBeLessThan(4_000)
    const impossible = resolverOf({ servers: [{ address: '127.0.0.1', port: 0 }] })
    expect(await impossible.query('example.test', 'A')).toMatchObject({ failure: 'NETWORK' })
  })
})

describe('time', () => {
  it('is exact: the configured number of attempts, each with its duration', async () => {
    const dns = await dnsWith({ behaviours: { '*': 'silent' } })
    const answer = await resolverOf({ servers: [dns], timeoutMs: 150, tries: 2 }).query(
      'example.test',
      'A',
    )
    expect(answer).toMatchObject({ status: 'FAILED', failure: 'TIMEOUT' })
    expect(answer.ms).toBeGreaterThan(295)
    expect(dns.queries).toHaveLength(2)
  })

  it('is enough for a slow server after many fast answers', async () => {
    const dns = await dnsWith({ records, behaviours: { 'slow.test *': { delayMs: 700 } } })
    const resolver = resolverOf({ servers: [dns], timeoutMs: 5_000 })
    await Promise.all(Array.from({ length: 300 }, () => resolver.query('example.test', 'A')))
    expect(await resolver.query('slow.test', 'A')).toMatchObject({ status: 'NXDOMAIN' })
  })

  it('ends when the caller aborts, also while waiting for a turn', async () => {
    const dns = await dnsWith({ behaviours: { '*': 'silent' } })
    const resolver = resolverOf({ servers: [dns], timeoutMs: 5000, maxInFlight: 1 })
    const stop = new AbortController()
    const both = Promise.all([
      resolver.query('a.test', 'A', stop.signal),
      resolver.query('b.test', 'A', stop.signal),
    ])
    await expect.poll(() => dns.queries.length).toBe(1)
    stop.abort()
    expect(await both).toMatchObject([{ failure: 'ABORTED' }, { failure: 'ABORTED' }])
    expect(await resolver.query('c.test', 'A', stop.signal)).toMatchObject({ failure: 'ABORTED' })
    expect(dns.queries.map(({ name }) => name)).toEqual(['a.test'])
  })

  it('ends when the resolver is closed', async () => {
    const dns = await dnsWith({ behaviours: { '*': 'silent' } })
    const resolver = resolverOf({ servers: [dns], timeoutMs: 5000 })
    const pending = resolver.query('a.test', 'A')
    await expect.poll(() => dns.queries.length).toBe(1)
    resolver.close()
    expect(await pending).toMatchObject({ failure: 'ABORTED' })
    expect(await resolver.query('b.test', 'A')).toMatchObject({ failure: 'ABORTED' })
  })
})

describe('the wire', () => {
  it('ignores the answer to another query', async () => {
    const lies: Behaviour = ['wrong-id', 'wrong-question', 'wrong-type', 'garbage', 'answer']
    const dns = await dnsWith({ records, behaviours: { 'example.test A': lies } })
    expect(dataOf(await resolverOf({ servers: [dns] }).query('example.test', 'A'), 'A')).toEqual([
      '192.0.2.1',
      '192.0.2.2',
    ])
  })

  it('fetches a large answer over TCP', async () => {
    const long = 'x'.repeat(3000)
    const behaviours = { 'flag.test *': 'truncated', 'cut.test *': 'cut' } as const
    const dns = await dnsWith({
      records: { 'flag.test TXT': [long], 'cut.test TXT': [long] },
      behaviours,
    })
    const resolver = resolverOf({ servers: [dns] })
    for (const name of ['flag.test', 'cut.test']) {
      const [pieces] = dataOf(await resolver.query(name, 'TXT'), 'TXT')
      expect(Buffer.concat(pieces as Buffer[]).toString()).toBe(long)
    }
    expect(dns.queries.map(({ transport }) => transport)).toEqual(['udp', 'tcp', 'udp', 'tcp'])
  })

  it('does not accept a truncated answer where TCP is closed', async () => {
    const dns = await dnsWith({ records, behaviours: { '*': 'truncated' }, tcp: false })
    const answer = await resolverOf({ servers: [dns], tries: 1 }).query('example.test', 'A')
    expect(answer).toMatchObject({ status: 'FAILED', failure: 'NETWORK' })
  })

  it('gives UDP and TCP together the time of one try', async () => {
    const dns = await dnsWith({
      behaviours: { '*': (asked) => (asked === 0 ? [{ delayMs: 2_700 }, 'truncated'] : 'silent') },
    })
    const resolver = resolverOf({ servers: [dns], tries: 1, timeoutMs: 3_000 })
    const answer = await resolver.query('example.test', 'A')
    expect(answer).toMatchObject({ status: 'FAILED', failure: 'TIMEOUT' })
    // A time of its own for TCP would make it 5,700.
    expect(answer.ms).toBeLessThan(5_500)
  })

  it('retries without EDNS where the server does not support it', async () => {
    const dns = await dnsWith({ records, behaviours: { '*': 'no-edns' } })
    expect(await resolverOf({ servers: [dns] }).query('example.test', 'A')).toMatchObject({
      status: 'NOERROR',
    })
    expect(dns.queries.map(({ edns }) => edns)).toEqual([true, false])
  })

  it('uses another port for each burst, and one for all queries in flight together', async () => {
    const dns = await dnsWith({ records })
    const resolver = resolverOf({ servers: [dns] })
    const burst = async () => {
      const from = dns.queries.length
      await Promise.all(Array.from({ length: 20 }, () => resolver.query('example.test', 'A')))
      return new Set(dns.queries.slice(from).map(({ port }) => port))
    }
    const bursts = [await burst(), await burst(), await burst()]
    expect(bursts.map((ports) => ports.size)).toEqual([1, 1, 1])
    expect(new Set(bursts.flatMap((ports) => [...ports])).size).toBeGreaterThan(1)
  })

  it('never exceeds the concurrent queries, and loses none', async () => {
    let most = 0
    let inFlight = 0
    const steps = () => {
      most = Math.max(most, ++inFlight)
      setTimeout(() => inFlight--, 4)
      return { delayMs: 5 }
    }
    const dns = await dnsWith({ records, behaviours: { '*': steps } })
    const resolver = resolverOf({ servers: [dns], maxInFlight: 16 })
    const all = await Promise.all(
      Array.from({ length: 400 }, (_, n) => resolver.query(`n${n}.test`, 'A')),
    )
    expect(all.every(({ status }) => status === 'NXDOMAIN')).toBe(true)
    expect(most).toBeLessThanOrEqual(16)
    expect(most).toBeGreaterThan(8)
  })

  it('lets the process exit when no query is in flight', async () => {
    const dns = await dnsWith({ records })
    const script = `
      import { createResolver } from '${new URL('../../src/net/dns.ts', import.meta.url).href}'
      const answer = await createResolver({ servers: [{ address: '127.0.0.1', port: ${dns.port} }] }).query('example.test', 'A')
      console.log(answer.status)`
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '-e', script],
      {
        timeout: 5000,
      },
    )
    expect(stdout).toBe('NOERROR\n')
  })
})

describe('bytes of strangers', () => {
  const query = encodeQuery('example.test', 'A', { edns: true }) as Buffer
  drawId(query, new Set())

  it('never throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        const packet = Buffer.from(bytes)
        expect(typeof answers(packet, query)).toBe('boolean')
        readAnswer(packet, 'example.test', 'A')
      }),
      { numRuns: 2000 },
    )
  })

  it('never throw when a true answer is damaged or cut', async () => {
    const dns = await dnsWith({
      records: { 'example.test TXT': ['one', 'two'], 'example.test CAA': ['0 issue "ca.test"'] },
    })
    const whole = await rawAnswer(dns)
    const damage = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), {
      minLength: 1,
      maxLength: 8,
    })
    fc.assert(
      fc.property(damage, fc.nat(whole.length), (changes, length) => {
        const packet = Buffer.from(whole)
        for (const [at, byte] of changes) packet[at] = byte
        const reading = readAnswer(packet.subarray(0, length), 'example.test', 'TXT')
        expect(reading === null || 'status' in reading || 'failure' in reading).toBe(true)
      }),
      { numRuns: 3000 },
    )
  })

  it('fail one query and do not affect the next', async () => {
    const dns = await dnsWith({
      records,
      behaviours: { 'example.test A': (asked) => (asked === 0 ? { bytes: broken } : 'answer') },
    })
    const resolver = resolverOf({ servers: [dns], tries: 1 })
    expect(await resolver.query('example.test', 'A')).toMatchObject({
      status: 'FAILED',
      failure: 'OTHER',
    })
    expect(await resolver.query('example.test', 'A')).toMatchObject({ status: 'NOERROR' })
  })
})

/** A response to the query that promises nine answers and has none. */
function broken(id: number): Buffer {
  const bytes = encodeQuery('example.test', 'A', { edns: true }) as Buffer
  bytes.writeUInt16BE(id, 0)
  bytes.writeUInt16BE(0x8000, 2)
  bytes.writeUInt16BE(9, 6)
  return bytes
}

/** The bytes a server sends for `example.test TXT`. */
async function rawAnswer(dns: DnsServer): Promise<Buffer> {
  const { createUdp } = await import('../../src/net/dns-exchange.ts')
  const query = encodeQuery('example.test', 'TXT', { edns: false }) as Buffer
  return new Promise((resolve) => createUdp(dns)(query, (reply) => resolve(reply as Buffer)))
}

describe('a server with a name', () => {
  it.each(['answer', 'truncated'] as const)('is found by the system (%s)', async (way) => {
    const { port } = await dnsWith({ records, behaviours: { '*': way } })
    const servers = [{ address: 'localhost', port }]
    const answer = await resolverOf({ servers }).query('example.test', 'A')
    expect(answer).toMatchObject({ status: 'NOERROR', server: `localhost:${port}` })
  })
  it('is a failure of the network where there is none', async () => {
    const servers = [{ address: 'nothing.invalid', port: 53 }]
    const answer = await resolverOf({ servers, timeoutMs: 5_000 }).query('example.test', 'A')
    expect(answer).toMatchObject({ failure: 'NETWORK', server: 'nothing.invalid:53' })
  })
})

describe('the servers of this machine', () => {
  it('are addresses with ports', () => {
    for (const { address, port } of systemServers()) {
      expect(address).toMatch(/^[\da-f.:%\w]+$/)
      expect(port).toBeGreaterThan(0)
    }
  })
})
