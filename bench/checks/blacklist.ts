// Blacklist sweeps beside a bare UDP burst of the same queries, against a local rbldnsd with 90
// zones.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { cpus } from 'node:os'
import packet from 'dns-packet'
import type { HostPort } from '../../src/setting-values.ts'
import { createResolver } from '../../src/net/dns.ts'
import { readCatalogue, type Catalogue } from '../../src/protocols/dnsbl/blocklist-catalogue.ts'
import { createBlocklists, type Blocklists } from '../../src/protocols/dnsbl/blocklists.ts'
import { sweepAddress } from '../../src/protocols/dnsbl/sweep-address.ts'
import { startRbldnsd, startSlowServer, type Rbldnsd } from '../../test/servers/rbldnsd.ts'

const ZONES = 90
const ROUNDS = 300
const WARM_UP = 60
const DISTANT_ROUNDS = 5
const BULK_ADDRESSES = 1_000
/** Sweeps at once in the bulk run. */
const BULK_ABREAST = 8

/** Runs the whole comparison; takes some ten seconds. Returns the printed table. */
export async function run(): Promise<string> {
  const catalogue = openCatalogue()
  const server = await startRbldnsd(
    Object.fromEntries(catalogue.lists.map(({ zone }) => [zone, {}])),
    { log: false },
  )
  try {
    const first = await measureFirst(catalogue, server)
    const { sweeps, bursts } = await measureRounds(catalogue, server)
    const distant = await measureDistant(catalogue, server)
    const bulk = await measureBulk(catalogue, server)
    return table({ first, sweeps, bursts, distant, bulk })
  } finally {
    await server.stop()
  }
}

/** The first 90 lists, all of them enabled and without keys. */
function openCatalogue(): Catalogue {
  const lists = readCatalogue().lists.filter((list) => list.access !== 'key')
  return { lists: lists.slice(0, ZONES).map((list) => ({ ...list, enabled: true })), warnings: [] }
}

function open(catalogue: Catalogue, server: HostPort): Blocklists {
  return createBlocklists({
    catalogue,
    keys: new Map(),
    resolver: createResolver({ servers: [server] }),
  })
}

/**
 * With a new health cache each time, after a warm-up: 90 address queries and 180 for the health of
 * the lists.
 */
async function measureFirst(catalogue: Catalogue, server: Rbldnsd): Promise<number[]> {
  const times: number[] = []
  for (let round = 0; round < WARM_UP; round++)
    times.push(await timeSweep(open(catalogue, server), round))
  return times.slice(WARM_UP / 2)
}

async function measureRounds(
  catalogue: Catalogue,
  server: Rbldnsd,
): Promise<{ sweeps: number[]; bursts: number[] }> {
  const blocklists = open(catalogue, server)
  const zones = catalogue.lists.map(({ zone }) => zone)
  const sweeps: number[] = []
  const bursts: number[] = []
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    sweeps.push(await timeSweep(blocklists, round))
    bursts.push(await timeBurst(zones, round, server.port))
  }
  return { sweeps: sweeps.slice(WARM_UP), bursts: bursts.slice(WARM_UP) }
}

const addressOf = (round: number) => `8.8.${round >> 8}.${round & 255}`

async function timeSweep(blocklists: Blocklists, round: number): Promise<number> {
  const started = performance.now()
  const listings = await sweepAddress(addressOf(round), blocklists, AbortSignal.timeout(9_000))
  const clean = listings.filter((listing) => listing.status === 'clean').length
  if (clean !== ZONES) throw new Error(`${clean} of ${ZONES} lists answered`)
  return performance.now() - started
}

/** The minimum: one socket, 90 packets encoded and sent, 90 responses decoded. */
async function timeBurst(zones: string[], round: number, port: number): Promise<number> {
  const started = performance.now()
  const reversed = addressOf(round).split('.').toReversed().join('.')
  const socket = createSocket('udp4')
  socket.connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const waiting = new Set<number>()
  const { promise, resolve } = Promise.withResolvers<void>()
  socket.on('message', (bytes) => {
    waiting.delete(packet.decode(bytes).id as number)
    if (waiting.size === 0) resolve()
  })
  zones.forEach((zone, id) => {
    waiting.add(id)
    const questions = [{ name: `${reversed}.${zone}`, type: 'A' as const }]
    socket.send(packet.encode({ type: 'query', id, flags: packet.RECURSION_DESIRED, questions }))
  })
  await promise
  socket.close()
  return performance.now() - started
}

type Distant = { first: number[]; later: number[] }

/** Like the Internet: most lists respond within 20 to 80 ms, five take half a second. */
async function measureDistant(catalogue: Catalogue, server: Rbldnsd): Promise<Distant> {
  const zones = catalogue.lists.map(({ zone }) => zone)
  const delayOf = (name: string) => {
    const index = zones.findIndex((zone) => name.endsWith(zone))
    return index % 18 === 0 ? 500 : 20 + ((index * 7) % 60)
  }
  const distant = await startSlowServer(server, delayOf)
  const times: Distant = { first: [], later: [] }
  for (let round = 0; round < DISTANT_ROUNDS; round++) {
    const blocklists = open(catalogue, distant)
    times.first.push(await timeSweep(blocklists, 2 * round))
    times.later.push(await timeSweep(blocklists, 2 * round + 1))
  }
  await distant.stop()
  return times
}

type Bulk = { seconds: number; queries: number; lost: number }

async function measureBulk(catalogue: Catalogue, server: Rbldnsd): Promise<Bulk> {
  const blocklists = open(catalogue, server)
  await timeSweep(blocklists, 60_000)
  let next = 0
  let lost = 0
  const started = performance.now()
  async function work(): Promise<void> {
    while (next < BULK_ADDRESSES) {
      const listings = await sweepAddress(addressOf(next++), blocklists, AbortSignal.timeout(9_000))
      lost += listings.filter((listing) => listing.status !== 'clean').length
    }
  }
  await Promise.all(Array.from({ length: BULK_ABREAST }, work))
  return { seconds: (performance.now() - started) / 1000, queries: BULK_ADDRESSES * ZONES, lost }
}

type Figures = { first: number[]; sweeps: number[]; bursts: number[]; distant: Distant; bulk: Bulk }

function table({ first, sweeps, bursts, distant, bulk }: Figures): string {
  const times = percentile(sweeps, 50) / percentile(bursts, 50)
  return [
    `| ${ZONES} lists, ${ROUNDS} rounds in turn | p50 ms | p95 ms |`,
    '|---|---|---|',
    row('bare `node:dgram` burst with dns-packet', bursts),
    row('sweep, health known', sweeps),
    row('first sweep, health asked beside it', first),
    row('sweep, lists 20–80 ms away, five 500 ms', distant.later),
    row('first sweep, the same distance', distant.first),
    '',
    `A sweep costs ${times.toFixed(2)} times the burst at the median (target: at most 2).`,
    `Bulk: ${BULK_ADDRESSES} addresses × ${ZONES} lists in ${bulk.seconds.toFixed(1)} s, ${Math.round(bulk.queries / bulk.seconds)} queries a second, ${bulk.lost} lost.`,
    `${cpus().length} cores, Node ${process.versions.node}, ${new Date().toISOString().slice(0, 10)}.`,
  ].join('\n')
}

function row(name: string, times: number[]): string {
  return `| ${name} | ${percentile(times, 50).toFixed(2)} | ${percentile(times, 95).toFixed(2)} |`
}

function percentile(values: number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.ceil((sorted.length * percent) / 100) - 1] as number
}

if (import.meta.main) console.log(await run())
