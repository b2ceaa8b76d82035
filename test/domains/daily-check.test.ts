import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkDueDomains } from '../../src/domains/watch/daily-check.ts'
import type { DomainDeps } from '../../src/domains/domain-context.ts'
import type { RegistrationLookup } from '../../src/domains/registration-lookup.ts'
import type { DomainHistory, DomainReport, DomainSummary } from '../../src/domains/shapes.ts'
import { dueThreshold, storedReport } from '../../src/domains/watch/record-domain-check.ts'
import { nextCheckAt } from '../../src/domains/watch/check-schedule.ts'
import { compareStates } from '../../src/domains/watch/states.ts'
import { claimDueChecks, saveWatched } from '../../src/domains/watch/watched-domains.sql.ts'
import { EXAMPLE_REPORT } from '../../src/domains/example.ts'
import { createLog } from '../../src/log.ts'
import { createResolver } from '../../src/net/dns.ts'
import { createDomainLists } from '../../src/protocols/dnsbl/domain-lists.ts'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { startTestService, type Person, type TestService } from '../service.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import { open } from '../servers/blacklists.ts'
import type { Rbldnsd } from '../servers/rbldnsd.ts'
import { registeredUntil, startAllLists } from './check-with.ts'
import { inLiveWorkspaces } from '../jobs/context.ts'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

let dns: DnsServer
let lists: Rbldnsd
let portreeve: TestService
let database: Database
let alice: Person
let bob: Person
let registrations: RegistrationLookup = registeredUntil(new Date(Date.now() + 300 * DAY_MS))
beforeAll(async () => {
  lists = await startAllLists()
  dns = await startDns({
    records: {
      'example.com NS': ['ns1.example.com'],
      'example.com MX': ['0 .'],
      'example.com TXT': ['v=spf1 -all'],
      '_dmarc.example.com TXT': ['v=DMARC1; p=reject'],
    },
  })
  portreeve = await startTestService({
    DNS_SERVERS: `127.0.0.1:${dns.port}`,
    DNSBL_SERVERS: `127.0.0.1:${lists.port}`,
  })
  database = openDatabase(portreeve.databaseUrl)
  // The service must not check the domains at the next full minute.
  await sql`delete from pgboss.schedule where name = 'domains.check'`.execute(database.db)
  alice = await portreeve.addPerson('Alice')
  bob = await portreeve.addPerson('Bob')
})
afterAll(async () => {
  await database.close()
  await portreeve.stop()
  await dns.close()
  await lists.stop()
})

function depsOf(): DomainDeps {
  const blocklists = open(lists)
  return {
    resolver: createResolver({ servers: [dns] }),
    blocklists,
    domainLists: createDomainLists(blocklists),
    registrations,
    allowPrivate: true,
    log: createLog('silent'),
    ports: { smtp: 1, submission: 1, imaps: 1, https: 1 },
  }
}

const run = () => {
  const { signal, ...live } = inLiveWorkspaces(AbortSignal.timeout(60_000))
  return checkDueDomains({ db: database.db, depsOf, log: createLog('silent'), ...live }, signal)
}

/** As if the last check had been some minutes ago, and the next one were due. */
async function letTimePass(minutes: number): Promise<void> {
  const rows = await database.db.selectFrom('watchedDomain').select(['id', 'states']).execute()
  for (const { id, states } of rows) {
    const past = (_: string, at: string) =>
      `"at":"${new Date(Date.parse(at) - minutes * MINUTE_MS).toISOString()}"`
    await database.db
      .updateTable('watchedDomain')
      .set({
        states: JSON.stringify(states).replace(/"at":"([^"]+)"/g, past),
        checkDueAt: new Date(0),
      })
      .where('id', '=', id)
      .execute()
  }
}

type Answer<T> = { status: number; data: T }
async function get<T>(path: string, token?: string): Promise<Answer<T>> {
  const answer = await portreeve.request(`/api/v1/${path}`, token === undefined ? {} : { token })
  const { data } = (await answer.json()) as { data: T }
  return { status: answer.status, data } satisfies Answer<T>
}
type Alerts = { alerts: { kind: string; title: string; text: string; nextStep: string }[] }
const alertsOf = async (kind: string) =>
  (await get<Alerts>(`alerts?kind=${kind}`, alice.token)).data.alerts
const eventsOf = async () =>
  (await get<DomainHistory>('domains/example.com/history', alice.token)).data.events

describe('the daily check of a watched domain', () => {
  it('stores the whole picture, which its workspace alone can read', async () => {
    await saveWatched(database.db, { workspaceId: alice.id, domain: 'example.com', hosts: [] })
    expect((await get('domains/example.com/stored', alice.token)).data).toBeNull()
    expect(await run()).toBe(1)
    const { data } = await get<DomainReport>('domains/example.com/stored', alice.token)
    expect(data.lines).toHaveLength(19)
    const { domains } = (await get<{ domains: DomainSummary[] }>('domains', alice.token)).data
    expect(domains[0]).toMatchObject({
      state: data.verdict.state,
      sentence: data.verdict.sentence,
      checkedAt: data.checkedAt,
    })
    expect((await get('domains/example.com/stored', bob.token)).data).toBeNull()
    expect((await get('domains/example.com/stored')).status).toBe(401)
  })

  it('is not due again before half a day has passed', async () => {
    expect(await run()).toBe(0)
    const row = await database.db
      .selectFrom('watchedDomain')
      .select(['checkDueAt', 'checkedAt'])
      .executeTakeFirstOrThrow()
    const hours = (row.checkDueAt.getTime() - (row.checkedAt?.getTime() ?? 0)) / (DAY_MS / 24)
    expect(hours).toBeGreaterThanOrEqual(12)
    expect(hours).toBeLessThanOrEqual(36)
  })

  it('alerts about what got worse once it was seen twice, with the sentence of the line', async () => {
    dns.records['example.com TXT'] = ['v=spf1 +all']
    await letTimePass(0)
    await run()
    expect(await alertsOf('domain')).toEqual([])
    expect(await eventsOf()).toEqual([])
    const row = await database.db
      .selectFrom('watchedDomain')
      .select(['checkDueAt'])
      .executeTakeFirstOrThrow()
    expect(row.checkDueAt.getTime() - Date.now()).toBeLessThan(16 * MINUTE_MS)

    await letTimePass(15)
    await run()
    const alerts = await alertsOf('domain')
    expect(alerts).toMatchObject([
      { kind: 'domain.worse', title: expect.stringMatching(/^example\.com got worse: .*SPF/) },
    ])
    expect(alerts[0]?.text).toMatch(/SPF: Good → Problem\. \S/)
    expect(alerts[0]?.nextStep).toMatch(/^Open the domain/)
    expect(await eventsOf()).toContainEqual(
      expect.objectContaining({ kind: 'line', name: 'SPF', before: 'Good', after: 'Problem' }),
    )
    expect((await eventsOf()).map(({ kind }) => kind)).toContain('verdict')
  })

  it('records an improvement, and resolves the incident', async () => {
    dns.records['example.com TXT'] = ['v=spf1 -all']
    await letTimePass(0)
    await run()
    await letTimePass(15)
    await run()
    expect(await alertsOf('domain')).toMatchObject([
      { kind: 'domain.recovered', title: 'Resolved: example.com has recovered' },
      { kind: 'domain.worse' },
    ])
    expect(await eventsOf()).toContainEqual(
      expect.objectContaining({ kind: 'line', name: 'SPF', before: 'Problem', after: 'Good' }),
    )
  })

  it('alerts about the end of the registration once for each step', async () => {
    const endsIn = (days: number) => registeredUntil(new Date(Date.now() + (days + 0.5) * DAY_MS))
    for (const days of [31, 29, 28, 13, 6, 6, 0]) {
      registrations = endsIn(days)
      await letTimePass(0)
      await run()
    }
    const titles = (await alertsOf('domain.expires')).map(({ title }) => title)
    // Each of these registrations ends on another day, so that each has its own alert.
    expect(new Set(titles)).toEqual(
      new Set(
        ['in 29 days', 'in 28 days', 'in 13 days', 'in 6 days', 'within a day'].map(
          (time) => `The registration of example.com ends ${time}`,
        ),
      ),
    )
    expect(titles.filter((title) => title.includes(' 6 '))).toHaveLength(1)

    registrations = endsIn(395)
    await letTimePass(0)
    await run()
    expect(await alertsOf('domain.renewed')).toMatchObject([
      { title: 'Resolved: the registration of example.com was renewed' },
    ])
  })

  it('takes the domains of each workspace in turn, and none that another run has claimed', async () => {
    const { db } = database
    for (let count = 0; count < 12; count++)
      await saveWatched(db, { workspaceId: alice.id, domain: `a${count}.com`, hosts: [] })
    await saveWatched(db, { workspaceId: bob.id, domain: 'b.com', hosts: [] })
    const first = await claimDueChecks(db, 8, 120)
    expect(first.map(({ domain }) => domain)).toContain('b.com')
    const second = await claimDueChecks(db, 8, 120)
    expect(new Set([...first, ...second].map(({ id }) => id)).size).toBe(13)
    expect(await claimDueChecks(db, 8, 120)).toEqual([])
  })

  it('goes on with the others when a domain cannot be checked, and tries it again in an hour', async () => {
    const { db } = database
    await db.updateTable('watchedDomain').set({ checkClaimedUntil: null }).execute()
    expect(await run()).toBe(13)
    const rows = await db
      .selectFrom('watchedDomain')
      .select(['checkDueAt'])
      .where('domain', '!=', 'example.com')
      .execute()
    for (const { checkDueAt } of rows)
      expect(Math.abs(checkDueAt.getTime() - Date.now() - 60 * MINUTE_MS)).toBeLessThan(
        5 * MINUTE_MS,
      )
  })
})

describe('a comparison of states', () => {
  const reportOf = (state: 'good' | 'warning' | 'bad' | 'unknown', minute: number) => ({
    ...EXAMPLE_REPORT,
    verdict: { ...EXAMPLE_REPORT.verdict, state },
    lines: EXAMPLE_REPORT.lines.map((line) => ({ ...line, state })),
    checkedAt: new Date(minute * MINUTE_MS).toISOString(),
  })

  it('does not confirm a state by two checks in a row, or by what could not be checked', () => {
    const first = compareStates({}, reportOf('good', 0))
    expect(first).toMatchObject({ changes: [], isOpen: false })
    const once = compareStates(first.states, reportOf('bad', 60))
    expect(once).toMatchObject({ changes: [], isOpen: true })
    expect(compareStates(once.states, reportOf('bad', 61)).changes).toEqual([])
    expect(compareStates(once.states, reportOf('unknown', 90))).toMatchObject({
      changes: [],
      states: once.states,
    })
    const back = compareStates(once.states, reportOf('good', 75))
    expect(back).toMatchObject({ changes: [], isOpen: false })
    const twice = compareStates(once.states, reportOf('bad', 75))
    expect(twice.changes).toMatchObject([
      { subject: 'verdict', before: 'good', after: 'bad' },
      { subject: 'dmarc', before: 'good', after: 'bad' },
    ])
  })
})

describe('the schedule', () => {
  it('spreads domains over the day, each at its own time', () => {
    const now = new Date('2026-11-24T12:00:00Z')
    const times = ['00000000', '40000000', '80000000', 'ffffffff'].map((end) =>
      nextCheckAt(`0193a7b0-0000-7000-8000-0000${end}`, now).toISOString().slice(0, 16),
    )
    expect(times).toEqual([
      '2026-11-25T00:00',
      '2026-11-25T06:00',
      '2026-11-25T12:00',
      '2026-11-25T23:59',
    ])
  })

  it('has a threshold for each number of days that are left', () => {
    const now = new Date()
    const left = (days: number) => dueThreshold(new Date(now.getTime() + days * DAY_MS), now)
    expect([31, 30, 15, 14, 7.5, 7, 1, 0.5, -3].map(left)).toEqual([
      undefined,
      30,
      30,
      14,
      14,
      7,
      1,
      1,
      0,
    ])
  })
})

describe('a picture that is too large', () => {
  it('is stored without its evidence', () => {
    const evidence = Array.from({ length: 120 }, () => ({
      label: 'x',
      value: 'y'.repeat(2_000),
      state: 'good' as const,
    }))
    const large = {
      ...EXAMPLE_REPORT,
      lines: EXAMPLE_REPORT.lines.map((line) => ({ ...line, evidence })),
    }
    expect(storedReport(large)?.lines[0]?.evidence).toEqual([])
    expect(storedReport(EXAMPLE_REPORT)).toBe(EXAMPLE_REPORT)
  })
})
