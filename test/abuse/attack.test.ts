import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readSystems, NO_SYSTEMS, type Systems } from '../../src/abuse/reputation/systems.ts'
import { openDatabase } from '../../src/store/database.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { addAdministrator } from '../accounts/sessions.ts'
import { sharedService } from '../service.ts'
import { DAY, HOUR, START } from './evidence.ts'
import { startAbuse, type Person, type AbuseTest } from './module.ts'

let now = START
const undo: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const step of undo.toReversed()) await step()
})

type Place = { portreeve: AbuseTest; database: FreshDatabase; alice: Person; charlie: Person }

async function open(systems?: Systems): Promise<Place> {
  const database = await freshDatabase()
  undo.push(() => database.drop())
  const portreeve = await startAbuse(database.url, () => now, systems)
  undo.push(() => portreeve.stop())
  const [alice, charlie] = [
    await portreeve.addPerson('Alice', true),
    await portreeve.addPerson('Charlie'),
  ]
  return { portreeve, database, alice, charlie }
}

/** Each of these reports an address, and again an hour later. */
async function accuse(
  portreeve: AbuseTest,
  ip: string,
  sources: string[],
  body: object = { count: 50 },
): Promise<void> {
  for (const source of sources) await portreeve.report(source, ip, body)
  now += HOUR
  for (const source of sources) await portreeve.report(source, ip, body)
}

/** The candidates that an administrator sees. */
async function waitingAt({ portreeve, alice }: Place) {
  type Answer = { data: { candidates: Record<string, unknown>[]; networkTable: object } }
  const { data } = await portreeve.answerTo<Answer>('candidates', { token: alice.token })
  return data
}

const ask = (portreeve: AbuseTest, from: string, ip: string) =>
  portreeve.request('appeals', { from, body: { ip, reason: 'Never did it.' } })
const statusOf = async (answer: Response) =>
  ((await answer.json()) as { data: { status: string } }).data.status

const SIX_NETWORKS = ['11.1.1.1', '12.1.1.1', '13.1.1.1', '14.1.1.1', '15.1.1.1', '16.1.1.1']

describe('six cheap addresses in six /16s, without a table of autonomous systems', () => {
  let place: Place
  beforeAll(async () => {
    place = await open(NO_SYSTEMS)
    await accuse(place.portreeve, '9.1.1.1', SIX_NETWORKS)
  })

  it('list nothing: the address waits for an administrator', async () => {
    expect(await place.portreeve.check('9.1.1.1')).toMatchObject({
      listed: false,
      listingState: 'watchlist',
      score: 59,
    })
    expect(await waitingAt(place)).toMatchObject({
      candidates: [
        {
          address: '9.1.1.1',
          reason: 'unknown_operators',
          networks: 6,
          operators: 0,
          services: ['ssh'],
        },
      ],
      networkTable: { source: 'none', date: null },
    })
  })

  it('are visible to administrators only, who decide about them', async () => {
    const body = { ip: '9.1.1.1', list: true }
    for (const [token, status] of [
      [undefined, 401],
      [place.charlie.token, 403],
    ] as const) {
      const by = token === undefined ? {} : { token }
      expect((await place.portreeve.request('candidates', by)).status).toBe(status)
      expect((await place.portreeve.request('candidates/decisions', { ...by, body })).status).toBe(
        status,
      )
    }
    expect(await place.portreeve.check('9.1.1.1')).toMatchObject({ listed: false })
  })

  it('list it once an administrator has confirmed, for as long as any listing', async () => {
    const decide = () =>
      place.portreeve.request('candidates/decisions', {
        token: place.alice.token,
        body: { ip: '9.1.1.1', list: true },
      })
    expect((await decide()).status).toBe(200)
    expect(await place.portreeve.check('9.1.1.1')).toMatchObject({ listed: true })
    expect((await waitingAt(place)).candidates).toEqual([])
    expect((await decide()).status).toBe(409)
    now += 2 * DAY
    expect(await place.portreeve.check('9.1.1.1')).toMatchObject({ listed: true })
    now += 5 * DAY
    await place.portreeve.keep()
    expect(await place.portreeve.check('9.1.1.1')).toMatchObject({ listed: false })
    // A new listing needs a new confirmation.
    await accuse(place.portreeve, '9.1.1.1', SIX_NETWORKS)
    expect(await place.portreeve.check('9.1.1.1')).toMatchObject({ listed: false })
    expect((await waitingAt(place)).candidates).toMatchObject([{ address: '9.1.1.1' }])
  })

  it('lose reputation when an administrator discards their reports', async () => {
    await accuse(place.portreeve, '9.1.1.2', SIX_NETWORKS)
    const body = { ip: '9.1.1.2', list: false }
    const { status } = await place.portreeve.request('candidates/decisions', {
      token: place.alice.token,
      body,
    })
    expect(status).toBe(200)
    expect(await place.portreeve.check('9.1.1.2')).toMatchObject({
      listed: false,
      score: 0,
      evidence: [],
    })
    const { rows } = await place.database.pool.query(
      "select count(*)::int as n from abuse_refutation where address = '9.1.1.2'",
    )
    expect(rows).toEqual([{ n: 6 }])
  })

  it('wait a week at most', async () => {
    await accuse(place.portreeve, '9.1.1.3', SIX_NETWORKS)
    const addresses = async () => (await waitingAt(place)).candidates.map(({ address }) => address)
    expect(await addresses()).toContain('9.1.1.3')
    now += 7 * DAY
    expect(await addresses()).not.toContain('9.1.1.3')
    const body = { ip: '9.1.1.3', list: true }
    const { status } = await place.portreeve.request('candidates/decisions', {
      token: place.alice.token,
      body,
    })
    expect(status).toBe(409)
  })
})

describe('two sensors of the operator, without a table of autonomous systems', () => {
  it('list an address at once, in two /16s and not in one', async () => {
    const { portreeve, alice } = await open(NO_SYSTEMS)
    for (const cidr of ['88.198.7.0/24', '88.198.8.0/24', '51.68.7.0/24'])
      await portreeve.request('sensors', { token: alice.token, body: { cidr } })
    await expect.poll(() => portreeve.abuse.ranges.is('sensor', '51.68.7.1')).toBe(true)
    for (const sensor of ['88.198.7.1', '88.198.8.1'])
      await portreeve.report(sensor, '9.1.1.1', { count: 50 })
    expect(await portreeve.check('9.1.1.1')).toMatchObject({ listed: false, distinctReporters: 2 })
    await portreeve.report('51.68.7.1', '9.1.1.1', { count: 50 })
    expect(await portreeve.check('9.1.1.1')).toMatchObject({ listed: true })
  })
})

describe('with the shipped table of autonomous systems', () => {
  let place: Place
  beforeAll(async () => {
    place = await open(readSystems(null))
  })

  it('six machines of one provider, in six /16s and three of its systems, are one witness', async () => {
    const hetzner = ['88.198.1.1', '5.9.1.1', '78.46.1.1', '136.243.1.1', '5.161.1.1', '5.223.1.1']
    await accuse(place.portreeve, '9.1.1.1', hetzner)
    expect(await place.portreeve.check('9.1.1.1')).toMatchObject({
      listed: false,
      confidenceLevel: 'low',
    })
    expect((await waitingAt(place)).candidates).toEqual([])
  })

  it('does not count networks that no table contains', async () => {
    const five = ['88.198.1.1', '51.68.1.1', '90.11.1.1', '81.2.69.160', '104.131.1.1']
    await accuse(place.portreeve, '9.1.1.2', [...five, '240.0.0.1', '241.1.1.1', '242.1.1.1'])
    expect(await place.portreeve.check('9.1.1.2')).toMatchObject({ listed: false })
    expect(await waitingAt(place)).toMatchObject({
      candidates: [{ address: '9.1.1.2', reason: 'unknown_operators', operators: 5 }],
      networkTable: { source: 'shipped', date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) },
    })
  })

  const SIX_OPERATORS = [
    '88.198.1.1',
    '51.68.1.1',
    '90.11.1.1',
    '81.2.69.160',
    '104.131.1.1',
    '193.0.6.1',
  ]

  it('six operators list an address, for a day', async () => {
    await accuse(place.portreeve, '9.1.1.3', SIX_OPERATORS)
    expect(await place.portreeve.check('9.1.1.3')).toMatchObject({
      listed: true,
      confidenceLevel: 'medium',
    })
    now += DAY
    expect(await place.portreeve.check('9.1.1.3')).toMatchObject({ listed: false })
  })

  it('six operators list nothing that many depend on', async () => {
    for (const ip of ['8.8.8.8', '2606:4700:4700::1111']) {
      await accuse(place.portreeve, ip, SIX_OPERATORS)
      expect(await place.portreeve.check(ip)).toMatchObject({ listed: false })
    }
    const { candidates } = await waitingAt(place)
    expect(
      candidates.filter(({ reason }) => reason === 'well_known').map(({ address }) => address),
    ).toEqual(['8.8.8.8', '2606:4700:4700::/64'])
  })

  it('two sensors of the operator list even that', async () => {
    for (const cidr of ['88.198.7.0/24', '51.68.7.0/24'])
      await place.portreeve.request('sensors', { token: place.alice.token, body: { cidr } })
    await expect.poll(() => place.portreeve.abuse.ranges.is('sensor', '51.68.7.1')).toBe(true)
    for (const sensor of ['88.198.7.1', '51.68.7.1'])
      await place.portreeve.report(sensor, '8.8.4.4', { count: 50 })
    expect(await place.portreeve.check('8.8.4.4')).toMatchObject({ listed: true })
  })
})

describe('the holder of much IPv6', () => {
  it('of a /48 is one network, and of a /32 one witness', async () => {
    const place = await open(readSystems(null))
    const sites = Array.from({ length: 60 }, (_, n) => `2a01:4f8:77:${(n * 1_091).toString(16)}::1`)
    await accuse(place.portreeve, '9.1.1.1', sites)
    expect(await place.portreeve.check('9.1.1.1')).toMatchObject({
      listed: false,
      distinctReporters: 1,
      confidenceLevel: 'low',
    })
    const networks = Array.from({ length: 60 }, (_, n) => `2a01:4f8:${(n * 1_091).toString(16)}::1`)
    await accuse(place.portreeve, '9.1.1.2', networks)
    expect(await place.portreeve.check('9.1.1.2')).toMatchObject({
      listed: false,
      distinctReporters: 60,
      confidenceLevel: 'low',
    })
    expect((await waitingAt(place)).candidates).toEqual([])
  })

  it('has ten times the rate of one source, not 65,536 times', async () => {
    const { portreeve } = await open()
    // Twelve sources use up the rate of the /48; each is below its own.
    for (let source = 0; source < 12; source++) {
      const asked = Array.from({ length: 100 }, () =>
        portreeve.report(`2a01:1:1:${source.toString(16)}::1`, '9.1.1.1'),
      )
      expect((await Promise.all(asked)).every(({ success }) => success)).toBe(true)
    }
    const send = (from: string) =>
      portreeve.request('report', { from, body: { ip: '9.1.1.1', service: 'ssh' } })
    const refused = await send('2a01:1:1:ffff::1')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '300'])
    expect(await refused.json()).toMatchObject({
      error: expect.stringContaining('1200 from one IPv6 /48'),
    })
    expect((await send('2a01:1:2::1')).status).toBe(200)
  })

  it('is not listed with its neighbour', async () => {
    const { portreeve } = await open()
    await accuse(portreeve, '2a01:4f8:1:1::1', SIX_NETWORKS)
    expect(await portreeve.check('2a01:4f8:1:1:ffff::2')).toMatchObject({ listed: true })
    for (const neighbour of ['2a01:4f8:1:2::1', '2a01:4f8:1::1', '2a01:4f8:2:1::1'])
      expect(await portreeve.check(neighbour)).toMatchObject({ listed: false, totalReports: 0 })
  })
})

describe('an IPv4 address inside an IPv6 address', () => {
  it('reports as the network of that address, whichever way it is written', async () => {
    const { portreeve } = await open()
    // 6to4, Teredo (with the bits inverted), NAT64, mapped: all are 11.1.1.1.
    for (const from of [
      '11.1.1.1',
      '2002:0b01:0101::1',
      '2001:0:5:6::f4fe:fefe',
      '64:ff9b::11.1.1.1',
      '::ffff:11.1.1.1',
    ])
      expect(await portreeve.report(from, '9.1.1.1')).toMatchObject({ success: true })
    expect(await portreeve.check('9.1.1.1')).toMatchObject({
      distinctReporters: 1,
      confidenceLevel: 'low',
    })
  })

  it('does not appeal for that address', async () => {
    const { portreeve } = await open()
    await accuse(portreeve, '9.1.1.1', SIX_NETWORKS)
    expect(await statusOf(await ask(portreeve, '2002:0901:0101::1', '9.1.1.1'))).toBe('open')
    expect(await statusOf(await ask(portreeve, '::ffff:9.1.1.1', '9.1.1.1'))).toBe('granted')
  })
})

describe('appeals of an attacker', () => {
  it('do not delay the instant one of the owner, and end with it', async () => {
    const place = await open()
    await accuse(place.portreeve, '9.1.1.1', SIX_NETWORKS)
    for (const from of SIX_NETWORKS)
      expect(await statusOf(await ask(place.portreeve, from, '9.1.1.1'))).toBe('open')
    expect(await statusOf(await ask(place.portreeve, '9.1.1.1', '9.1.1.1'))).toBe('granted')
    expect(await place.portreeve.check('9.1.1.1')).toMatchObject({ listed: false })
    const { rows } = await place.database.pool.query(
      "select count(*)::int as n from abuse_appeal where status = 'open'",
    )
    expect(rows).toEqual([{ n: 0 }])
  })

  it('count as the owner’s from the same IPv6 /64, but not from the next one', async () => {
    const { portreeve } = await open()
    await accuse(portreeve, '2a01:4f8:1:1::1', SIX_NETWORKS)
    expect(await statusOf(await ask(portreeve, '2a01:4f8:1:2::1', '2a01:4f8:1:1::1'))).toBe('open')
    expect(await statusOf(await ask(portreeve, '2a01:4f8:1:1::abcd', '2a01:4f8:1:1::1'))).toBe(
      'granted',
    )
  })

  it('do not block an appeal of the owner from another address', async () => {
    const place = await open()
    await accuse(place.portreeve, '9.1.1.1', SIX_NETWORKS)
    expect((await ask(place.portreeve, '11.1.1.1', '9.1.1.1')).status).toBe(201)
    expect((await ask(place.portreeve, '77.1.1.1', '9.1.1.1')).status).toBe(201)
    expect((await ask(place.portreeve, '77.1.1.1', '9.1.1.1')).status).toBe(409)
  })

  it('do not use up the owner’s appeals, even from the same /24 or through a whole /48', async () => {
    const { portreeve } = await open()
    await accuse(portreeve, '9.1.1.1', SIX_NETWORKS)
    const statuses: number[] = []
    for (let host = 2; host < 35; host++)
      statuses.push((await ask(portreeve, `9.1.1.${host}`, '9.1.1.1')).status)
    expect([statuses.filter((status) => status === 201).length, statuses.at(-1)]).toEqual([30, 429])
    expect(await statusOf(await ask(portreeve, '9.1.1.1', '9.1.1.1'))).toBe('granted')
    const site: number[] = []
    for (let n = 0; n < 33; n++)
      site.push((await ask(portreeve, `2a01:1:1:${n.toString(16)}::1`, '9.1.1.1')).status)
    expect(site.at(-1)).toBe(429)
  })

  it('when granted, make the next listing by six unknown networks wait for an administrator', async () => {
    const place = await open()
    await accuse(place.portreeve, '9.1.1.1', SIX_NETWORKS)
    expect(await statusOf(await ask(place.portreeve, '9.1.1.1', '9.1.1.1'))).toBe('granted')
    const ten = [...SIX_NETWORKS, '17.1.1.1', '18.1.1.1', '19.1.1.1', '20.1.1.1']
    await accuse(place.portreeve, '9.1.1.1', ten)
    expect(await place.portreeve.check('9.1.1.1')).toMatchObject({ listed: false })
    expect((await waitingAt(place)).candidates).toMatchObject([
      { address: '9.1.1.1', reason: 'appealed', operators: 10 },
    ])
  })
})

describe('a reputation', () => {
  it('is not earned by repeating the reports of three others', async () => {
    const { portreeve, database } = await open()
    for (const from of ['11.1.1.1', '12.1.1.1', '13.1.1.1', '14.1.1.1'])
      await portreeve.report(from, '9.1.1.1')
    const { rows } = await database.pool.query(
      'select early from abuse_report order by at, early desc',
    )
    expect(rows.map(({ early }) => early)).toEqual([true, true, true, false])
  })
})

describe('a decision of an administrator', () => {
  it('is written down', { timeout: 60_000 }, async () => {
    const portreeve = await sharedService()
    const { token } = await addAdministrator(portreeve, 'Alice')
    const { db, close } = openDatabase(portreeve.databaseUrl)
    undo.push(close)
    await db.insertInto('abuseAddress').values(awaitingRow('9.1.1.1')).execute()
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ ip: '9.1.1.1', list: false })
    const path = '/api/v1/abuse/candidates/decisions'
    const decided = await portreeve.request(path, { method: 'POST', token, headers, body })
    expect(decided.status).toBe(200)
    const { data } = (await (await portreeve.request('/api/v1/audit', { token })).json()) as {
      data: { entries: object[] }
    }
    expect(data.entries[0]).toMatchObject({
      route: `POST ${path}`,
      details: { ip: '9.1.1.1', list: false },
    })
  })
})

function awaitingRow(address: string) {
  const at = new Date()
  return {
    address,
    state: 'watchlist',
    score: 59,
    confidence: 'medium',
    evidence: '[]',
    services: ['ssh'],
    networks: 6,
    totalReports: 6,
    firstReportedAt: at,
    lastReportedAt: at,
    confirmation: 'awaiting',
    revision: 1,
  }
}
