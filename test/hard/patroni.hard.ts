import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { execute } from '../servers/postgres.ts'
import { NODES, startCluster, type Cluster, type NodeName } from '../servers/patroni.ts'
import { figure } from './figures.ts'
import { countsOf, NOTHING, startLoad, type Acknowledged, type Load } from './load.ts'
import { startMoving } from './moving.ts'
import { makeEndpoints, startPlace, type Place } from './place.ts'

const KINDS = ['captures', 'reports', 'uploads', 'hosts'] as const

/** For another server to take over, on a busy machine. */
const PATIENCE_MS = 90_000
const TIMEOUT_MS = 600_000

let cluster: Cluster
let moving: Awaited<ReturnType<typeof startMoving>>
/** One connects through HAProxy, the other finds the leader itself. */
let places: Place[]
/** Of an endpoint of each place, to see whether writes are accepted. */
let probes: string[]

beforeAll(async () => {
  ;[cluster, moving] = await Promise.all([startCluster(), startMoving(1_500, 300)])
  const settings = { SECRET_KEY: 'the key of a service with three databases' }
  places = []
  for (const DATABASE_URL of [cluster.proxiedUrl, cluster.hostsUrl])
    places.push(await startPlace({ ...settings, DATABASE_URL }))
  probes = await Promise.all(
    places.map(async (place) => `${place.url}/webhooks/${(await makeEndpoints(place, 1))[0]}`),
  )
}, 240_000)
afterAll(async () => {
  await Promise.all([...places.map((place) => place.stop()), moving.stop()])
  await cluster.stop()
})

describe('three PostgreSQL servers under Patroni, through HAProxy and as hosts of DATABASE_URL', () => {
  it(
    'lose nothing that was acknowledged while replication is synchronous',
    async () => {
      const loads = await startLoads('synchronous', 100)
      const migrationId = await moving.begin(places[0] as Place)
      await sleep(5_000)
      const killed = [await killLeader(loads), await killLeader(loads)]
      const cut = await cutLeader(loads)
      const restarts = await restartAll()
      const acknowledged = await stopAll(loads)
      const missing = await Promise.all(loads.map((load) => load.missing()))
      expect(missing).toEqual([NOTHING, NOTHING])
      expect(cut.lost).toBe(0)
      await moving.isWhole(places[0] as Place, migrationId)
      figure(
        'Patroni, synchronous: the leader’s machine killed twice, cut off once, all servers restarted in turn, under mixed load',
        `nothing acknowledged is lost: ${acknowledged}, one migration of 1,500 mails; answers again after ` +
          `${killed.map(({ seconds }) => seconds.toFixed(0)).join(' and ')} s (killed) and ${cut.seconds.toFixed(0)} s (cut off); ` +
          `the longest pause during the restarts ${restarts.toFixed(1)} s; none of ${cut.written} writes that the ` +
          `leader acknowledged to a client of its own around the cut is lost`,
      )
    },
    TIMEOUT_MS,
  )

  it(
    'lose only what was acknowledged before the new leader while replication is asynchronous',
    async () => {
      await cluster.setSynchronous(false)
      const faults = [
        ['killed', killLeader],
        ['cut off while clients still reach it', cutLeader],
      ] as const
      for (const [n, [name, fault]] of faults.entries()) {
        const loads = await startLoads(`asynchronous-${n}`, 110 + 10 * n)
        await sleep(3_000)
        const { seconds, acknowledgedBefore } = await fault(loads)
        const acknowledged = await stopAll(loads)
        const missing = (await Promise.all(loads.map(missingOf))).flat()
        expect(missing.filter((key) => !acknowledgedBefore.has(key))).toEqual([])
        figure(
          `Patroni, asynchronous: the leader’s machine ${name}, under mixed load`,
          `answers again after ${seconds.toFixed(0)} s; of ${acknowledged}, ${missing.length} are lost, ` +
            `none that was acknowledged after the new leader took over`,
        )
      }
    },
    TIMEOUT_MS,
  )
})

type Recovery = {
  /** From the fault until both places accept writes at the new leader. */
  seconds: number
  /** Keys of all items that were acknowledged until then. */
  acknowledgedBefore: Set<string>
}

function startLoads(series: string, network: number): Promise<Load[]> {
  return Promise.all(
    places.map((place, n) =>
      startLoad(place, {
        // Of both loads of three runs: an account has up to 100.
        endpoints: 10,
        pause: 60,
        connections: { captures: 2, reports: 1 },
        series: `${series}-${n}`,
        network: network + n,
      }),
    ),
  )
}

/** Stops the load of both places. @returns how many were acknowledged */
async function stopAll(loads: Load[]): Promise<string> {
  const sums = await Promise.all(loads.map((load) => load.stop()))
  const both = KINDS.map((kind) => [kind, new Set(sums.flatMap((sum) => [...sum[kind]]))])
  return countsOf(Object.fromEntries(both) as Acknowledged)
}

const missingOf = async (load: Load) => Object.values(await load.missing()).flat()

const keysOf = (loads: Load[]) =>
  new Set(loads.flatMap((load) => KINDS.flatMap((kind) => [...load.acknowledged[kind]])))

/** Kills the leader’s machine, and starts it again when another one leads. */
async function killLeader(loads: Load[]): Promise<Recovery> {
  const old = await theLeader()
  const begun = performance.now()
  await cluster.kill(old)
  const recovery = await recovered(old, loads, begun)
  await cluster.revive(old)
  await cluster.isWhole()
  return recovery
}

/**
 * Cuts the leader from the other servers while a client of its own goes on writing to it. When
 * another one leads, and the cut is healed, looks for everything that the client wrote.
 */
async function cutLeader(loads: Load[]): Promise<Recovery & { written: number; lost: number }> {
  const old = await theLeader()
  await execute(cluster.proxiedUrl, 'create table if not exists direct (id bigint)')
  const writer = startWriter(cluster.urlOf(old))
  await sleep(1_000)
  const begun = performance.now()
  cluster.cut(old)
  const recovery = await recovered(old, loads, begun)
  await sleep(2_000)
  cluster.heal(old)
  await cluster.isWhole()
  const written = await writer.stop()
  // Two servers that accept writes at the same time would be two truths.
  expect(written.lastAt - begun).toBeLessThan(recovery.seconds * 1_000)
  const client = new Client({ connectionString: cluster.proxiedUrl })
  await client.connect()
  const { rows } = await client.query<{ id: string }>('select id from direct')
  await client.end()
  const stored = new Set(rows.map(({ id }) => Number(id)))
  const lost = written.ids.filter((id) => !stored.has(id)).length
  return { ...recovery, written: written.ids.length, lost }
}

async function theLeader(): Promise<NodeName> {
  const leader = await cluster.leader()
  if (leader === null) throw new Error('no server leads')
  return leader
}

async function recovered(old: NodeName, loads: Load[], begun: number): Promise<Recovery> {
  const others = NODES.filter((node) => node !== old)
  while ((await cluster.leader(...others)) === null) {
    if (performance.now() - begun > PATIENCE_MS) throw new Error('no other server takes over')
    await sleep(50)
  }
  await Promise.all(probes.map(acceptsAgain))
  const seconds = (performance.now() - begun) / 1_000
  return { seconds, acknowledgedBefore: keysOf(loads) }
}

async function acceptsAgain(url: string): Promise<void> {
  const until = performance.now() + PATIENCE_MS
  while (!(await isAccepted(url))) {
    if (performance.now() > until) throw new Error('writes are not accepted again')
    await sleep(50)
  }
}

const isAccepted = (url: string) =>
  fetch(url, { method: 'POST', body: 'x', signal: AbortSignal.timeout(2_000) }).then(
    ({ status }) => status === 200,
    () => false,
  )

/** Writes numbers to one server for as long as it accepts them, on one connection after another. */
function startWriter(url: string) {
  const stopping = new AbortController()
  const ids: number[] = []
  let lastAt = 0
  const done = (async () => {
    for (let id = Date.now(); !stopping.signal.aborted;) {
      const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
      client.on('error', () => {})
      try {
        await client.connect()
        for (; !stopping.signal.aborted; id++) {
          await client.query('insert into direct values ($1)', [id])
          ids.push(id)
          lastAt = performance.now()
          await sleep(20)
        }
      } catch {
        // Whether this one was stored is not known.
        id++
        await sleep(100)
      } finally {
        void client.end().catch(() => {})
      }
    }
  })()
  return {
    async stop() {
      stopping.abort()
      await done
      return { ids, lastAt }
    },
  }
}

/** Restarts all servers in turn, the leader after it handed over. @returns seconds of the longest pause */
async function restartAll(): Promise<number> {
  const stopping = new AbortController()
  const pauses = probes.map((url) => longestPause(url, stopping.signal))
  const old = await theLeader()
  for (const node of NODES.filter((name) => name !== old)) {
    await cluster.restart(node)
    await cluster.isWhole()
  }
  await cluster.switchOver(old)
  await cluster.isWhole()
  await cluster.restart(old)
  await cluster.isWhole()
  stopping.abort()
  return Math.max(...(await Promise.all(pauses)))
}

/** Seconds of the longest time without an accepted write. */
async function longestPause(url: string, stop: AbortSignal): Promise<number> {
  let longest = 0
  for (let last = performance.now(); !stop.aborted; await sleep(50)) {
    if (!(await isAccepted(url))) continue
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }
  return longest / 1_000
}
