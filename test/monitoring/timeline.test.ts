import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildTimeline, type TimelineSource } from '../../src/monitoring/history/timeline.ts'
import { MAX_TIMELINE_EVENTS } from '../../src/monitoring/limits.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { IP, startLists } from '../servers/blacklists.ts'
import type { Rbldnsd } from '../servers/rbldnsd.ts'
import { NEVER, startMonitoring, type MonitoringTest } from './module.ts'

const SPAMCOP = 'bl.spamcop.net'
const at = (day: string) => new Date(`2026-11-${day}T00:00:00.000Z`)
const [SINCE, NOW] = [at('01'), at('20')]

type Event = TimelineSource['events'][number]

const change = (day: string, from: string, to: string, ip = '192.0.2.1'): Event => ({
  at: at(day),
  kind: 'blacklist',
  name: 'SpamCop',
  dnsbl: SPAMCOP,
  ip,
  fromState: from,
  toState: to,
  codes: [],
  reason: null,
  baseline: false,
})
const fact = (since: string, ip = '192.0.2.1') => ({
  hostId: '',
  kind: 'blacklist' as const,
  subject: `${ip} ${SPAMCOP}`,
  state: 'listed',
  detail: {},
  since: at(since),
  suspect: null,
  suspectAt: null,
})
const build = (source: Partial<TimelineSource>) =>
  buildTimeline({ events: [], periods: [], facts: [], since: SINCE, now: NOW, ...source })
const span = (state: string, from: string, to: string) => ({ state, from: at(from), to: at(to) })

describe('the timeline of a host', () => {
  it('has a row for each blocklist with its listings, over all addresses of the host', () => {
    const events = [
      change('03', 'clean', 'listed'),
      change('04', 'clean', 'listed', '192.0.2.2'),
      change('05', 'listed', 'clean'),
      change('07', 'listed', 'clean', '192.0.2.2'),
      change('09', 'clean', 'listed'),
    ]
    const { lists } = build({ events, facts: [fact('09')] })
    expect(lists).toEqual([
      {
        name: SPAMCOP,
        dnsbl: SPAMCOP,
        spans: [span('listed', '03', '07'), span('listed', '09', '20')],
      },
    ])
  })
  it('shows listings that began before it, with and without an end', () => {
    expect(build({ events: [change('05', 'listed', 'clean')] }).lists[0]?.spans).toEqual([
      span('listed', '01', '05'),
    ])
    const before = { ...fact('09'), since: new Date('2026-05-01T00:00:00Z') }
    expect(build({ facts: [before] }).lists[0]?.spans).toEqual([span('listed', '01', '20')])
  })
  it('never shows unknown time as clean', () => {
    const periods = [span('clean', '01', '06'), span('unknown', '06', '12')] as never
    const { lists } = build({
      periods,
      events: [change('03', 'clean', 'listed'), change('08', 'listed', 'clean')],
    })
    expect(lists[0]?.spans).toEqual([span('listed', '03', '08'), span('unknown', '08', '12')])
    // The address has left the host: the end of its listing was not recorded.
    expect(build({ events: [change('03', 'clean', 'listed')] }).lists[0]?.spans).toEqual([
      span('listed', '03', '03'),
      span('unknown', '03', '20'),
    ])
  })
  it('calls the time before the oldest change unknown if there are too many', () => {
    const flapping = Array.from({ length: MAX_TIMELINE_EVENTS }, (_, n) =>
      n % 2 === 0 ? change('10', 'clean', 'listed') : change('11', 'listed', 'clean'),
    )
    expect(build({ events: flapping }).lists[0]?.spans[0]).toEqual(span('unknown', '01', '10'))
  })
  it('marks changes of certificates and records, without those of the first check', () => {
    const renewal = { ...change('05', 'expiring', 'valid'), kind: 'certificate' as const }
    const events = [renewal, { ...renewal, baseline: true }]
    expect(build({ events }).marks).toMatchObject([{ at: at('05'), to: 'valid' }])
  })
})

describe('the timelines of a workspace', () => {
  let lists: Rbldnsd
  let database: FreshDatabase
  let portreeve: MonitoringTest
  beforeAll(async () => {
    ;[lists, database] = await Promise.all([
      startLists({ [SPAMCOP]: { listed: { [IP]: '127.0.0.2' } } }),
      freshDatabase(),
    ])
    portreeve = await startMonitoring(database.url, { lists, intervals: NEVER })
  })
  afterAll(async () => {
    await portreeve.stop()
    await Promise.all([lists.stop(), database.drop()])
  })

  type Spans = { state: string }[]
  type Timelines = {
    from: string
    to: string
    total: number
    hosts: { host: string; periods: Spans }[]
  }
  type Timeline = { periods: Spans; lists: { name: string; dnsbl: string; spans: Spans }[] }

  it('show listed hosts first, and are hidden from other accounts', async () => {
    const alice = portreeve.owner().token
    const host = await portreeve.add(IP)
    await portreeve.add('192.0.2.77').catch(() => undefined)
    await portreeve.seen(host, ({ status }) => status === 'listed')
    const all = await portreeve.callAs<Timelines>(alice, 'GET', 'monitoring/timeline')
    const [first] = all.json.data.hosts
    expect(first?.host).toBe(IP)
    expect(first?.periods.at(-1)).toMatchObject({ state: 'listed' })
    expect(Date.parse(all.json.data.to) - Date.parse(all.json.data.from)).toBe(90 * 86_400_000)
    const path = `monitoring/hosts/${host.id}/timeline`
    const one = await portreeve.callAs<Timeline>(alice, 'GET', path)
    expect(one.json.data).toMatchObject({
      periods: [{ state: 'listed' }],
      lists: [{ name: 'SpamCop SCBL', dnsbl: SPAMCOP, spans: [{ state: 'listed' }] }],
    })
    await portreeve.become('Charlie')
    const charlie = portreeve.owner().token
    expect((await portreeve.callAs(charlie, 'GET', path)).status).toBe(404)
    const others = await portreeve.callAs<Timelines>(charlie, 'GET', 'monitoring/timeline')
    expect(others.json.data).toMatchObject({ hosts: [], total: 0 })
  })

  it('filter the history by time', async () => {
    await portreeve.become('Bob')
    const bob = portreeve.owner().token
    const host = await portreeve.add(IP)
    await portreeve.seen(host, ({ status }) => status === 'listed')
    const path = `monitoring/hosts/${host.id}/history`
    const total = async (query: string) =>
      (await portreeve.callAs<{ pagination: { total: number } }>(bob, 'GET', `${path}?${query}`))
        .json.data.pagination.total
    expect(await total('')).toBe(1)
    expect(await total('from=2026-01-01&to=2999-01-01T00:00:00Z')).toBe(1)
    expect(await total('to=2020-01-01')).toBe(0)
    expect(await total('from=2999-01-01')).toBe(0)
  })
})
