import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { saveFact } from '../../src/monitoring/facts/host-facts.sql.ts'
import { DAY_MS } from '../../src/time.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startLists } from '../servers/blacklists.ts'
import type { Rbldnsd } from '../servers/rbldnsd.ts'
import { NEVER, startMonitoring, type Host, type MonitoringTest } from './module.ts'

let lists: Rbldnsd
let database: FreshDatabase
let portreeve: MonitoringTest

beforeAll(async () => {
  ;[lists, database] = await Promise.all([startLists(), freshDatabase()])
  portreeve = await startMonitoring(database.url, { lists, intervals: NEVER })
  await insertHosts()
})
afterAll(async () => {
  await portreeve.stop()
  await Promise.all([lists.stop(), database.drop()])
})

type State = 'clean' | 'listed' | 'unknown'
type Given = {
  name: string
  status: State | 'pending'
  listedCount?: number
  label?: string
  labels?: string[]
  /** Days ago from which it had a state. */
  periods?: [daysAgo: number, state: State][]
  certificate?: string
}

/** In the order of their creation. */
const HOSTS: Given[] = [
  { name: 'mx10.example.com', status: 'clean', periods: [[20, 'clean']], certificate: 'valid' },
  { name: 'mx2.example.com', status: 'listed', listedCount: 1, periods: [[90, 'listed']] },
  { name: 'mx1.example.com', status: 'pending', label: 'Billing (EU)' },
  {
    name: 'b.example.com',
    status: 'clean',
    periods: [
      [90, 'clean'],
      [2, 'listed'],
      [1, 'clean'],
    ],
    certificate: 'expiring',
  },
  { name: '9.9.9.10', status: 'unknown', periods: [[5, 'unknown']], labels: ['edge', 'prod'] },
  { name: '9.9.9.9', status: 'listed', listedCount: 3, periods: [[1, 'listed']] },
]

/** Inserted as they are, because checks would change them. */
async function insertHosts(): Promise<void> {
  const { id: workspaceId } = portreeve.owner()
  const later = new Date(Date.now() + DAY_MS)
  for (const [index, { name, periods = [], certificate, ...given }] of HOSTS.entries()) {
    const lastCheckAt = periods.length > 0 ? new Date(Date.now() - index * 1000) : null
    const due = { graveDueAt: later, fullDueAt: later, sideDueAt: later }
    const { id } = await portreeve.db
      .insertInto('monitoredHost')
      .values({ workspaceId, host: name, ...given, ...due, lastCheckAt })
      .returning('id')
      .executeTakeFirstOrThrow()
    for (const [daysAgo, state] of periods)
      await portreeve.db
        .insertInto('monitoredPeriod')
        .values({ hostId: id, state, beganAt: new Date(Date.now() - daysAgo * DAY_MS) })
        .execute()
    if (certificate !== undefined)
      await saveFact(portreeve.db, {
        hostId: id,
        kind: 'certificate',
        subject: '443',
        state: certificate,
        detail: { validTo: new Date(Date.now() + 9.5 * DAY_MS).toISOString() },
        since: new Date(),
        suspect: null,
        suspectAt: null,
      })
  }
}

type Page = { data: Host[]; pagination?: object; counts?: object }
const list = async (query: string) =>
  (await portreeve.call('GET', `hosts?${query}`)).json as unknown as Page
const names = async (query: string) => (await list(query)).data.map(({ host }) => host)

describe('the list of monitored hosts', () => {
  it('is whole without a page, and a page has the same rows', async () => {
    const whole = await list('')
    expect(Object.keys(whole)).toEqual(['success', 'data'])
    expect(whole.data.map(({ host }) => host)).toEqual(HOSTS.map(({ name }) => name))
    const [first, second] = [await list('limit=4'), await list('page=2&limit=4')]
    // Its seconds go on.
    const stable = (host: Host) => ({ ...host, availability: null })
    expect([...first.data, ...second.data].map(stable)).toEqual(whole.data.map(stable))
    expect(second.pagination).toEqual({ page: 2, total: 6, totalPages: 2 })
    expect((await list('page=3&limit=4')).data).toEqual([])
    expect((await list('page=1')).pagination).toEqual({ page: 1, total: 6, totalPages: 1 })
  })

  it('has the counts of all hosts on each page', async () => {
    const counts = { pending: 1, clean: 2, listed: 2, unknown: 1, certificateProblems: 1 }
    expect((await list('limit=1')).counts).toEqual(counts)
    expect((await list('limit=1&q=nowhere')).counts).toEqual(counts)
  })

  const byName = [
    '9.9.9.9',
    '9.9.9.10',
    'b.example.com',
    'mx1.example.com',
    'mx2.example.com',
    'mx10.example.com',
  ]
  const byStatus = [
    '9.9.9.9',
    'mx2.example.com',
    'b.example.com',
    '9.9.9.10',
    'mx1.example.com',
    'mx10.example.com',
  ]
  it.each([
    ['host', byName],
    ['-host', byName.toReversed()],
    ['status', byStatus],
    ['-status', byStatus.toReversed()],
    [
      'lastCheckAt',
      ['9.9.9.9', '9.9.9.10', 'b.example.com', 'mx2.example.com', 'mx10.example.com'],
    ],
    [
      '-lastCheckAt',
      ['mx10.example.com', 'mx2.example.com', 'b.example.com', '9.9.9.10', '9.9.9.9'],
    ],
    ['-createdAt', HOSTS.map(({ name }) => name).toReversed()],
  ])('is ordered by %s, hosts without a value last', async (order, expected) => {
    const found = await names(`sort=${order}`)
    expect(found.slice(0, expected.length)).toEqual(expected)
    expect(await names(`sort=${order}&page=2&limit=2`)).toEqual(found.slice(2, 4))
  })

  it('is ordered by the availability that it shows, hosts without one last', async () => {
    for (const order of ['availability', '-availability']) {
      const { data } = await list(`sort=${order}`)
      const shown = data.map(({ availability: { percent } }) => percent)
      const known = shown.filter((percent) => percent !== null)
      const sorted = known.toSorted((a, b) => (order.startsWith('-') ? b - a : a - b))
      expect(shown).toEqual([...sorted, null, null])
      expect(known.length).toBe(4)
    }
  })

  it.each([
    ['q=example+MX', ['mx10.example.com', 'mx2.example.com', 'mx1.example.com']],
    ['q=billing+(eu)', ['mx1.example.com']],
    ['q=EDGE', ['9.9.9.10']],
    ['q=%25', []],
    ['status=listed', ['mx2.example.com', '9.9.9.9']],
    ['status=listed&q=mx', ['mx2.example.com']],
    ['host=MX2.Example.com.', ['mx2.example.com']],
    ['host=example.com', []],
    ['host=10.0.0.1', []],
  ])('is filtered by %s, on a page and as a whole', async (filter, expected) => {
    expect(await names(filter)).toEqual(expected)
    const page = await list(`${filter}&limit=100`)
    expect(page.data.map(({ host }) => host)).toEqual(expected)
    expect(page.pagination).toMatchObject({ total: expected.length })
  })

  it('is refused with a page, an order or a status that does not exist', async () => {
    for (const query of ['page=0', 'limit=101', 'sort=label', 'status=bad', 'host=a+b'])
      expect((await portreeve.call('GET', `hosts?${query}`)).status, query).toBe(400)
  })

  it('is empty for another workspace', async () => {
    await portreeve.become('Bob')
    expect(await list('limit=5')).toMatchObject({ data: [], counts: { listed: 0, clean: 0 } })
    expect((await list('')).data).toEqual([])
  })
})
