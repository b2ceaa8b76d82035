import { once } from 'node:events'
import { connect as open, createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { approvePeer } from '../../src/exchange/federation/peers/peers.ts'
import { startInstance, type Instance } from '../deploy/instance.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { freePort } from '../free-port.ts'

const ITEMS = 6_000
const WITHDRAWN = 1_500

type Site = {
  database: FreshDatabase
  instance: Instance
  network: Awaited<ReturnType<typeof startNetwork>>
  restart(): Promise<void>
}
let reader: Site
let origin: Site
beforeAll(async () => {
  ;[reader, origin] = await Promise.all([startSite('reader'), startSite('origin')])
}, 120_000)
afterAll(async () => {
  for (const site of [reader, origin]) {
    await site?.instance.kill()
    site?.network.off()
    await site?.database.drop()
  }
})

/** A service with its own database, which is reached through a network that can be cut. */
async function startSite(name: string): Promise<Site> {
  const database = await freshDatabase()
  const port = await freePort()
  const network = await startNetwork(port)
  const settings = {
    DATABASE_URL: database.url,
    SECRET_KEY: `the secret key of the installation named ${name}`,
    REPORTS_URL: network.url,
    ALLOW_PRIVATE_TARGETS: '127.0.0.0/8,::1',
    HOST: '127.0.0.1',
    PORT: String(port),
  }
  const site: Site = {
    database,
    network,
    instance: await startInstance(settings),
    async restart() {
      await site.instance.kill('SIGKILL')
      site.instance = await startInstance(settings)
    },
  }
  return site
}

/** A TCP proxy; while it is off, connections are cut and refused. */
async function startNetwork(target: number) {
  const port = await freePort()
  const sockets = new Set<Socket>()
  let server: Server | undefined
  const network = {
    url: `http://localhost:${port}`,
    async on(): Promise<void> {
      server = createServer((socket) => {
        const onward = open(target, '127.0.0.1')
        for (const one of [socket, onward]) {
          sockets.add(one)
          one.on('error', () => {}).on('close', () => sockets.delete(one))
        }
        socket.pipe(onward).pipe(socket)
      }).listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
    off(): void {
      server?.close()
      for (const socket of sockets) socket.destroy()
    },
  }
  await network.on()
  return network
}

const first = async <T>({ database }: Site, text: string): Promise<T> =>
  (await database.pool.query(text)).rows[0] as T
const hurry = (site: Site) =>
  site.database.pool.query(
    "update federation_peer set next_contact_at = now() where next_contact_at < now() + interval '1 minute'",
  )

/** Writes both sides as approved, by the code behind the page. */
async function follow(site: Site, other: Site): Promise<void> {
  const answer = await fetch(`${other.network.url}/api/v1/abuse/federation`)
  const { data } = (await answer.json()) as { data: { publicKey: string; fingerprint: string } }
  const { db } = site.database
  const peer = { url: other.network.url, publicKey: data.publicKey }
  const insert = db.insertInto('federationPeer').values(peer).returning('id')
  const { id } = await insert.executeTakeFirstOrThrow()
  await approvePeer({ db, clock: Date.now }, id, data.fingerprint)
}

/** Evidence against many addresses, as the collection writes it. */
const writeJournal = () =>
  origin.database.pool.query(
    `insert into federation_journal (number, address, service, network, day, seen_at)
      select nextval('federation_number'), ('9.9.' || (n / 3 / 250) || '.' || (1 + n / 3 % 250))::inet, 'ssh',
        'network' || n % 3, current_date, date_trunc('hour', now()) from generate_series(0, $1 - 1) as n`,
    [ITEMS],
  )
const withdrawSome = () =>
  origin.database.pool.query(
    `update federation_journal set withdrawn_number = nextval('federation_number')
      where number in (select number from federation_journal order by number limit $1)`,
    [WITHDRAWN],
  )

type Progress = { received: number; withdrawn: number; cursor: number; problem: string | null }
const progress = () =>
  first<Progress>(reader, 'select received, withdrawn, cursor, problem from federation_peer')

it(
  'takes each evidence and withdrawal once, whatever is killed or cut',
  { timeout: 180_000 },
  async () => {
    await writeJournal()
    await follow(reader, origin)
    await follow(origin, reader)
    const received = async (least: number) =>
      expect
        .poll(async () => (await hurry(reader), (await progress()).received), {
          timeout: 60_000,
          interval: 20,
        })
        .toBeGreaterThanOrEqual(least)
    await received(1)
    await reader.restart()
    await received(1_000)
    await origin.restart()
    await received(2_000)
    origin.network.off()
    await expect
      .poll(async () => (await hurry(reader), progress()), { timeout: 30_000, interval: 50 })
      .toMatchObject({ problem: expect.stringMatching(/refused|failed|closed|reached/) })
    await withdrawSome()
    await origin.network.on()
    await received(3_000)
    await reader.restart()
    await expect
      .poll(async () => (await hurry(reader), progress()), { timeout: 60_000, interval: 50 })
      .toMatchObject({ cursor: ITEMS + WITHDRAWN })
    const { received: all, withdrawn } = await progress()
    expect([all, withdrawn]).toEqual([ITEMS, WITHDRAWN])
    const counts = await first(
      reader,
      `select count(*)::int as items, (count(*) filter (where withdrawn_at is not null))::int as withdrawn,
      count(distinct id)::int as ids from federation_evidence`,
    )
    expect(counts).toEqual({ items: ITEMS, withdrawn: WITHDRAWN, ids: ITEMS })
    // The scores are those of what stands: three networks of the peer, or none.
    const { rows } = await reader.database.pool.query(
      `select coalesce((evidence -> 0 ->> 5)::int, 0) as networks, count(*)::int as addresses
      from abuse_address group by 1 order by 1`,
    )
    expect(rows).toEqual([
      { networks: 0, addresses: WITHDRAWN / 3 },
      { networks: 3, addresses: (ITEMS - WITHDRAWN) / 3 },
    ])
  },
)
