// Plays a hostile peer, and several, against the federation as the service runs it: pages are applied
// to a database, and the product’s own code scores them. Run with: node bench/abuse/federation.ts
import { randomUUID } from 'node:crypto'
import { describeAddress } from '../../src/abuse/lookup/check-address.ts'
import { openAttackList, type AttackList } from '../../src/abuse/attack-list.ts'
import { applyPage } from '../../src/exchange/federation/evidence/apply-page.ts'
import type { EvidencePage } from '../../src/exchange/federation/protocol/shapes.ts'
import { sweepDue } from '../../src/abuse/scoring/score-sweep.ts'
import { SERVICES } from '../../src/abuse/services.ts'
import { readSubject } from '../../src/abuse/subject.ts'
import { createLog } from '../../src/log.ts'
import { openDatabase } from '../../src/store/database.ts'
import { openNotifications } from '../../src/store/notifications.ts'
import { HOUR_MS } from '../../src/time.ts'
import { openBenchDatabase } from './place.ts'

export type Played = { what: string; score: number; state: string }
type Item = EvidencePage['items'][number]

const PEERS = 10
/** Systems that no table has: one for each IPv4 /16. */
const systems = {
  source: 'configured' as const,
  date: null,
  find: (address: string) => {
    const [first = 0, second = 0] = address.split('.').map(Number)
    return first * 256 + second + 1
  },
}

/** The address of a reporter at its own provider. */
const reporterAt = (provider: number) => `90.${provider}.1.1`
const ESTABLISHED = 10
const establishedAt = (n: number) => `91.${n}.1.1`
/** Services whose sender cannot be forged. */
const SOLID = SERVICES.filter(({ spoofable }) => !spoofable).map(({ id }) => id)

/** Ten peers and local reporters at one time, which the scenarios move. */
async function openWorld(databaseUrl: string, isGrown: boolean, undo: AsyncDisposableStack) {
  // A full hour, as evidence has, so that the results are the same at any time.
  let now = Math.floor(Date.now() / HOUR_MS) * HOUR_MS
  const log = createLog('silent')
  const { db, pool, close } = openDatabase(databaseUrl)
  undo.defer(close)
  const notifications = await openNotifications(databaseUrl, log)
  undo.defer(() => notifications.close())
  const url = 'http://simulation.test'
  const options = { db, pool, notifications, log, reportsUrl: url, baseUrl: url, systems }
  const secretKey = 'the key of the simulation, long enough'
  const open = () => openAttackList({ ...options, secretKey, clock: () => now })
  let services: AttackList = await open()
  if (isGrown) {
    const names = Array.from({ length: ESTABLISHED }, (_, n) =>
      services.reporterOf(establishedAt(n)),
    )
    for (const { network, origin } of names)
      await pool.query(
        "insert into abuse_network values ($1, $2, 'established', now(), now(), now()) on conflict do nothing",
        [network, origin],
      )
    await services.close()
    services = await open()
  }
  undo.defer(() => services.close())
  await pool.query('delete from federation_peer')
  const peers: { id: string; position: number }[] = []
  for (let n = 0; n < PEERS; n++) {
    const peer = { url: `https://peer${n}.test`, publicKey: `key ${n}` }
    const times = { approvedAt: new Date(), followedAt: new Date() }
    const insert = db.insertInto('federationPeer').values({ ...peer, ...times })
    peers.push({ id: (await insert.returning('id').executeTakeFirstOrThrow()).id, position: 0 })
  }

  /** Sends items as a peer does; a flood that is refused changes nothing. */
  async function send(peer: number, items: object[]): Promise<void> {
    const known = peers[peer] as (typeof peers)[number]
    const after = known.position
    const given = items.map((item, n) => ({ ...item, position: after + n + 1 })) as Item[]
    const deps = { ...services, db }
    const applied = await applyPage(deps, known.id, { items: given }, after, now)
    if (applied.result === 'applied') known.position = applied.cursor
  }

  async function report(ip: string, from: string, service = 'ssh'): Promise<void> {
    const reports = [{ subject: readSubject(ip), service, port: null, count: 255 }]
    await services.submit({ reporter: services.reporterOf(from), tokenHash: null, reports })
  }

  return {
    send,
    report,
    wait: (milliseconds: number) => void (now += milliseconds),
    sweep: () => sweepDue(services, now),
    evidence: (ip: string, changes: object = {}) => ({
      kind: 'evidence' as const,
      id: randomUUID(),
      ip,
      service: 'ssh',
      at: new Date(Math.floor(now / HOUR_MS) * HOUR_MS).toISOString(),
      reporter: randomUUID().slice(0, 8),
      ...changes,
    }),
    async look(ip: string): Promise<Omit<Played, 'what'>> {
      const subject = readSubject(ip)
      const row = await services.lookup(subject.key)
      const { score, listingState: state } = describeAddress(subject, row, services, now)
      return { score, state }
    },
  }
}

type World = Awaited<ReturnType<typeof openWorld>>

/** As cleverly as it can: many invented networks at the services that count most, again and again. */
async function lie(world: World, peer: number, ip: string): Promise<void> {
  const worst = SOLID.slice(0, 40)
  await world.send(
    peer,
    worst.flatMap((service) => Array.from({ length: 10 }, () => world.evidence(ip, { service }))),
  )
}

/** Reports an innocent address twice, two hours apart: a young list needs an hour. */
async function accuse(
  world: World,
  ip: string,
  { peers = 0, newcomers = 0, established = 0 },
): Promise<void> {
  for (let round = 0; round < 2; round++) {
    for (let peer = 0; peer < peers; peer++) await lie(world, peer, ip)
    const reporters = [
      ...Array.from({ length: newcomers }, (_, n) => reporterAt(n)),
      ...Array.from({ length: established }, (_, n) => establishedAt(n)),
    ]
    await Promise.all(reporters.map((from) => world.report(ip, from)))
    world.wait(2 * HOUR_MS)
  }
}

const ACCUSATIONS = {
  young: [
    ['a hostile peer alone', { peers: 1 }],
    ['a hostile peer and four newcomers at four providers', { peers: 1, newcomers: 4 }],
    ['a hostile peer and five newcomers at five providers', { peers: 1, newcomers: 5 }],
    ['five hostile peers', { peers: 5 }],
    ['six hostile peers', { peers: 6 }],
  ],
  grown: [
    ['a hostile peer and fifty newcomers at fifty providers', { peers: 1, newcomers: 50 }],
    ['ten hostile peers', { peers: 10 }],
    [
      'a hostile peer, one established network and one newcomer',
      { peers: 1, established: 1, newcomers: 1 },
    ],
    [
      'a hostile peer, one established network and two newcomers',
      { peers: 1, established: 1, newcomers: 2 },
    ],
    ['two hostile peers and one established network', { peers: 2, established: 1 }],
    ['three hostile peers and one established network', { peers: 3, established: 1 }],
  ],
} as const

async function playAccusations(world: World, kind: 'young' | 'grown'): Promise<Played[]> {
  const played: Played[] = []
  for (const [n, [what, by]] of ACCUSATIONS[kind].entries()) {
    const ip = `9.${kind === 'young' ? 1 : 2}.1.${n + 1}`
    await accuse(world, ip, by)
    played.push({ what: `${kind} network: ${what}`, ...(await world.look(ip)) })
  }
  return played
}

/** Real attackers, and a hostile peer that tries to free them. */
async function playAttackers(world: World, kind: 'young' | 'grown'): Promise<Played[]> {
  const ip = `9.${kind === 'young' ? 1 : 2}.2.1`
  const own = world.evidence(ip)
  const honest: string[] = []
  for (let round = 0; round < 2; round++) {
    for (let peer = 1; peer <= 3; peer++) {
      const item = world.evidence(ip)
      honest.push(item.id)
      await world.send(peer, [item])
    }
    for (let n = 0; n < 3; n++) await world.report(ip, reporterAt(n))
    if (kind === 'grown') await world.report(ip, establishedAt(0))
    world.wait(2 * HOUR_MS)
  }
  const seen = kind === 'young' ? 'three networks here' : 'four networks here'
  const played = [
    {
      what: `${kind} network: an attacker seen by ${seen} and three peers`,
      ...(await world.look(ip)),
    },
  ]
  const note = async (what: string) =>
    void played.push({ what: `${kind} network: ${what}`, ...(await world.look(ip)) })
  await world.send(0, [own])
  const withdrawals = [own.id, ...honest].map((id) => ({ kind: 'withdrawal' as const, id }))
  await world.send(0, withdrawals)
  await note('the same, after the hostile peer withdrew all evidence of all peers')
  await world.send(
    0,
    SOLID.slice(0, 200).map((service) => world.evidence(ip, { service })),
  )
  await note('the same, after the hostile peer named 200 services')
  return played
}

/** Counts of a week with one hostile peer among ten. */
export type Week = { innocents: number; listedInnocents: number; attackers: number; freed: number }

/**
 * A week in a young network: nine peers and eight local networks see attackers; a hostile peer and
 * four local newcomers accuse innocents, and the peer withdraws what it said about attackers.
 */
async function playWeek(world: World): Promise<Week> {
  const innocents = Array.from({ length: 30 }, (_, n) => `9.3.1.${n + 1}`)
  const attackers = Array.from({ length: 20 }, (_, n) => `9.3.2.${n + 1}`)
  const [listed, freed] = [new Set<string>(), new Set<string>()]
  for (let step = 0; step < 12; step++) {
    const four = [0, 1, 2, 3]
    const seenHere = attackers.flatMap((ip, n) =>
      four.map((k) => world.report(ip, reporterAt(20 + ((n + k + step) % 8)))),
    )
    await Promise.all(seenHere)
    for (let peer = 1; peer < PEERS; peer++)
      await world.send(
        peer,
        attackers.filter((_, n) => (n + peer + step) % 3 > 0).map((ip) => world.evidence(ip)),
      )
    const helpful = attackers.map((ip) => world.evidence(ip))
    await world.send(0, helpful)
    await world.send(
      0,
      helpful.map(({ id }) => ({ kind: 'withdrawal', id })),
    )
    const lies = innocents.flatMap((ip) =>
      SOLID.slice(step, step + 12).map((service) => world.evidence(ip, { service })),
    )
    await world.send(0, lies)
    await Promise.all(innocents.flatMap((ip) => four.map((n) => world.report(ip, reporterAt(n)))))
    world.wait(14 * HOUR_MS)
    await world.sweep()
    for (const ip of innocents) if ((await world.look(ip)).state === 'listed') listed.add(ip)
    if (step > 0)
      for (const ip of attackers) if ((await world.look(ip)).state !== 'listed') freed.add(ip)
  }
  return {
    innocents: innocents.length,
    listedInnocents: listed.size,
    attackers: attackers.length,
    freed: freed.size,
  }
}

/** Plays all scenarios on a migrated database. */
export async function playFederation(
  databaseUrl: string,
): Promise<{ played: Played[]; week: Week }> {
  const played: Played[] = []
  let week: Week | undefined
  for (const kind of ['young', 'grown'] as const) {
    await using undo = new AsyncDisposableStack()
    const world = await openWorld(databaseUrl, kind === 'grown', undo)
    played.push(...(await playAccusations(world, kind)), ...(await playAttackers(world, kind)))
    if (kind === 'young') week = await playWeek(world)
  }
  return { played, week: week as Week }
}

if (import.meta.main) {
  await using undo = new AsyncDisposableStack()
  const { databaseUrl } = await openBenchDatabase(undo)
  const { played, week } = await playFederation(databaseUrl)
  for (const { what, score, state } of played)
    console.log(`${what.padEnd(95)} ${score.toFixed(1).padStart(5)}  ${state}`)
  console.log(week)
}
