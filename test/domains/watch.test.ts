import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DomainHistory, DomainReport, DomainSummary } from '../../src/domains/shapes.ts'
import { compareRecords } from '../../src/domains/watch/records.ts'
import { sweepDomains } from '../../src/domains/watch/watch-jobs.ts'
import {
  insertDomainEvents,
  listDomainEvents,
  listDue,
} from '../../src/domains/watch/watched-domains.sql.ts'
import { createResolver } from '../../src/net/dns.ts'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { startTestService, type Person, type TestService } from '../service.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import type { Rbldnsd } from '../servers/rbldnsd.ts'
import { startAllLists } from './check-with.ts'
import { inLiveWorkspaces } from '../jobs/context.ts'

let dns: DnsServer
let lists: Rbldnsd
let portreeve: TestService
let database: Database
let alice: Person
let bob: Person
beforeAll(async () => {
  lists = await startAllLists()
  dns = await startDns({
    records: {
      'example.com NS': ['ns1.example.com'],
      'example.com A': ['127.0.0.1'],
      'example.com MX': ['10 mail.example.com', '20 mx.example.net'],
      'mail.example.com A': ['127.0.0.1'],
      'mx.example.net A': ['127.0.0.1'],
      'example.com TXT': ['v=spf1 mx -all', 'google-site-verification=abc'],
      '_dmarc.example.com TXT': ['v=DMARC1; p=none'],
      'other.com MX': ['0 .'],
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

type Answer<T> = { status: number; body: { data: T; code?: string } }

async function ask<T = object>(path: string, token?: string, method = 'GET'): Promise<Answer<T>> {
  const answer = await portreeve.request(`/api/v1/${path}`, {
    method,
    ...(token === undefined ? {} : { token }),
  })
  return { status: answer.status, body: (await answer.json()) as Answer<T>['body'] }
}

type Watched = { domain: string; hosts: string[]; problems: string[] }
const watch = (domain: string, token = alice.token) =>
  ask<Watched>(`domains/${domain}/watch`, token, 'POST')

describe('watching a domain', () => {
  it('switches everything on in one request, and names what does not work', async () => {
    const { status, body } = await watch('Example.com')
    expect(status).toBe(200)
    expect(body.data).toMatchObject({
      domain: 'example.com',
      hosts: ['example.com', 'mail.example.com', 'mx.example.net'],
      problems: [expect.stringMatching(/no mail relay/)],
    })
    const hosts = await ask<{ host: string; tlsPorts: number[] }[]>('monitoring/hosts', alice.token)
    expect(hosts.body.data.map(({ host, tlsPorts }) => [host, tlsPorts])).toEqual([
      ['example.com', [443]],
      // Nothing listens here, so only the port that every mail server has is monitored.
      ['mail.example.com', [25]],
      ['mx.example.net', [25]],
    ])
    const reported = await ask<{ domain: string }[]>('dmarc/domains', alice.token)
    expect(reported.body.data.map(({ domain }) => domain)).toEqual(['example.com'])
    const channels = await ask<{ type: string }[]>('alerts/channels', alice.token)
    expect(channels.body.data.map(({ type }) => type)).toEqual(['email'])
  })

  it('can be repeated, also at once: nothing is there twice', async () => {
    const answers = await Promise.all([watch('example.com'), watch('example.com')])
    expect(answers.map(({ status, body }) => [status, body.data.problems.length])).toEqual([
      [200, 1],
      [200, 1],
    ])
    const hosts = await ask<object[]>('monitoring/hosts', alice.token)
    expect(hosts.body.data).toHaveLength(3)
  })

  it('adds missing ports to a host that is monitored already', async () => {
    await portreeve.request('/api/v1/monitoring/hosts', {
      method: 'POST',
      token: bob.token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ host: 'example.com', tlsPorts: [8443] }),
    })
    await watch('example.com', bob.token)
    const hosts = await ask<{ host: string; tlsPorts: number[] }[]>('monitoring/hosts', bob.token)
    expect(hosts.body.data.find(({ host }) => host === 'example.com')?.tlsPorts).toEqual([
      8443, 443,
    ])
  })

  it('rejects a domain that does not exist, and requests without an account', async () => {
    expect((await watch('nowhere.test')).status).toBe(404)
    expect((await ask('domains/example.com/watch', undefined, 'POST')).status).toBe(401)
    expect((await ask('domains')).status).toBe(401)
    expect((await ask('domains/example.com/history')).status).toBe(401)
  })

  it('does not let an API token change what its scopes exclude', async () => {
    const { db } = database
    await db
      .updateTable('apiToken')
      .set({ scopes: ['checks:write', 'monitoring:write'] })
      .where('accountId', '=', bob.id)
      .execute()
    const dave = await portreeve.addPerson('Dave')
    await db
      .updateTable('apiToken')
      .set({ scopes: ['checks:write', 'monitoring:write'] })
      .where('accountId', '=', dave.id)
      .execute()
    const { status, body } = await watch('example.com', dave.token)
    expect([status, body.code]).toEqual([403, 'forbidden'])
    await db.updateTable('apiToken').set({ scopes: null }).where('accountId', '=', bob.id).execute()
  })
})

describe('the list of domains', () => {
  const domainsOf = async (token: string) =>
    (await ask<{ domains: DomainSummary[]; pagination: object }>('domains', token)).body.data

  it('has the domains of the workspace with their states; Charlie’s is empty', async () => {
    const charlie = await portreeve.addPerson('Charlie')
    expect(await domainsOf(charlie.token)).toMatchObject({ domains: [], pagination: { total: 0 } })
    const { domains } = await domainsOf(alice.token)
    expect(domains).toMatchObject([
      {
        domain: 'example.com',
        isWatched: true,
        state: 'unknown',
        hosts: [{ host: 'example.com' }, { host: 'mail.example.com' }, { host: 'mx.example.net' }],
      },
    ])
    expect(domains[0]?.dmarcDomainId).not.toBeNull()
  })

  it('shows the verdict of the last check of a watched domain', async () => {
    await watch('other.com')
    const check = await ask<DomainReport>('domains/other.com', alice.token)
    const { verdict, stages } = check.body.data
    const { domains } = await domainsOf(alice.token)
    expect(domains.find(({ domain }) => domain === 'other.com')).toMatchObject({
      state: verdict.state,
      sentence: verdict.sentence,
      stages: stages.map(({ name, state }) => ({ name, state })),
    })
  })

  it('can be limited to watched domains, which count alone then', async () => {
    await ask('domains/example.com', alice.token)
    await database.pool.query(
      `insert into monitored_host (workspace_id, host) values ($1, 'www.unwatched.test')`,
      [alice.id],
    )
    const listed = async (search: string) => {
      const { body } = await ask<{ domains: DomainSummary[]; pagination: { total: number } }>(
        `domains?${search}`,
        alice.token,
      )
      return [body.data.domains.map(({ domain }) => domain).toSorted(), body.data.pagination.total]
    }
    expect(await listed('watched=true')).toEqual([['example.com', 'other.com'], 2])
    expect(await listed('watched=false')).toEqual([['unwatched.test'], 1])
    expect(await listed('watched=true&limit=1')).toMatchObject([expect.any(Array), 2])
    expect((await ask('domains?watched=maybe', alice.token)).status).toBe(400)
    await database.pool.query(`delete from monitored_host where host = 'www.unwatched.test'`)
  })

  it('can be ordered and searched, and divided into pages without gaps', async () => {
    const listed = async (search: string) =>
      (
        await ask<{ domains: DomainSummary[] }>(`domains?${search}`, alice.token)
      ).body.data.domains.map(({ domain }) => domain)
    expect(await listed('sort=domain')).toEqual(['example.com', 'other.com'])
    expect(await listed('sort=-domain')).toEqual(['other.com', 'example.com'])
    expect(await listed('sort=-hosts')).toEqual(['example.com', 'other.com'])
    expect(await listed('sort=hosts')).toEqual(['other.com', 'example.com'])
    expect(await listed('sort=domain&limit=1&page=2')).toEqual(['other.com'])
    await database.pool.query(
      `insert into watched_domain (workspace_id, domain, hosts, check_due_at) values ($1, 'new.com', '{}', now() + interval '1 day')`,
      [alice.id],
    )
    for (const order of ['checkedAt', '-checkedAt'])
      expect((await listed(`watched=true&sort=${order}`)).at(-1)).toBe('new.com')
    await database.pool.query(`delete from watched_domain where domain = 'new.com'`)
    expect(await listed('q=OTHER')).toEqual(['other.com'])
    expect(await listed('q=other+nothing')).toEqual([])
    expect((await ask('domains?sort=size', alice.token)).status).toBe(400)
  })

  it('counts all hosts of a domain, also those that it does not show', async () => {
    await database.pool.query(
      `insert into monitored_host (workspace_id, host)
       select $1, 'host' || n || '.other.com' from generate_series(1, 30) n`,
      [alice.id],
    )
    const { domains } = await domainsOf(alice.token)
    const other = domains.find(({ domain }) => domain === 'other.com')
    expect(other?.hosts).toHaveLength(20)
    expect(other?.hostCount).toBeGreaterThanOrEqual(30)
    await database.pool.query(`delete from monitored_host where host like 'host%.other.com'`)
  })
})

describe('whether a domain is watched', () => {
  it('is known of a single domain, to its workspace only', async () => {
    const stateOf = async (domain: string, token: string) =>
      (await ask(`domains/${domain}/watch`, token)).body.data
    const { id } = await database.db
      .selectFrom('dmarcDomain')
      .select('id')
      .where('domain', '=', 'example.com')
      .where('workspaceId', '=', alice.id)
      .executeTakeFirstOrThrow()
    const watched = { domain: 'example.com', isWatched: true, labels: [], dmarcDomainId: id }
    expect(await stateOf('Example.com.', alice.token)).toEqual(watched)
    const unknown = { ...watched, isWatched: false, dmarcDomainId: null }
    const dora = await portreeve.addPerson('Dora')
    expect(await stateOf('example.com', dora.token)).toEqual(unknown)
    expect((await ask('domains/example.com/watch')).status).toBe(401)
    expect((await ask('domains/192.0.2.1/watch', alice.token)).status).toBe(400)
  })
})

describe('the history of a domain', () => {
  const MINUTES = 60_000
  const sweep = (minutes: number) => {
    const { signal, ...live } = inLiveWorkspaces(AbortSignal.timeout(20_000))
    const deps = { db: database.db, resolver: createResolver({ servers: [dns] }), ...live }
    return sweepDomains(deps, signal, new Date(Date.now() + minutes * MINUTES))
  }
  const historyOf = async (token: string) =>
    (await ask<DomainHistory>('domains/example.com/history', token)).body.data

  it('has a change of a record when it was seen twice', async () => {
    await sweep(0)
    dns.records['_dmarc.example.com TXT'] = ['v=DMARC1; p=reject']
    await sweep(15)
    expect((await historyOf(alice.token)).events).toEqual([])
    await sweep(30)
    await sweep(45)
    expect((await historyOf(alice.token)).events).toMatchObject([
      {
        kind: 'record',
        name: '_dmarc.example.com TXT',
        before: 'v=DMARC1; p=none',
        after: 'v=DMARC1; p=reject',
      },
    ])
  })

  it('has listings and certificates of its hosts, and a pass rate for each day', async () => {
    const { db } = database
    const host = await db
      .selectFrom('monitoredHost')
      .select('id')
      .where('workspaceId', '=', alice.id)
      .where('host', '=', 'mx.example.net')
      .executeTakeFirstOrThrow()
    const event = { hostId: host.id, at: new Date(), fromState: 'clean', toState: 'listed' }
    await db
      .insertInto('monitoredEvent')
      .values([
        { ...event, kind: 'blacklist', name: 'Spamhaus ZEN', ip: '192.0.2.1' },
        { ...event, kind: 'blacklist', name: 'Found by the first check', baseline: true },
      ])
      .execute()
    const { events, passRate, from, to } = await historyOf(alice.token)
    expect(events.filter(({ kind }) => kind === 'listing')).toMatchObject([
      { name: '192.0.2.1: Spamhaus ZEN', before: 'clean', after: 'listed' },
    ])
    expect(passRate).toHaveLength(90)
    expect((Date.parse(to) - Date.parse(from)) / 86_400_000).toBe(89)
  })

  it('keeps the youngest changes of a domain only', async () => {
    const { db } = database
    const row = await db
      .selectFrom('watchedDomain')
      .select('id')
      .where('domain', '=', 'other.com')
      .executeTakeFirstOrThrow()
    for (let count = 1; count <= 5; count++) {
      const change = { at: new Date(), name: `n${count}`, type: 'TXT', before: [], after: [] }
      await insertDomainEvents(db, row.id, [change], 3)
    }
    const kept = await listDomainEvents(db, row.id, new Date(0), 10)
    expect(kept.map(({ name }) => name)).toEqual(['n5', 'n4', 'n3'])
  })

  it('takes the domains of each workspace in turn', async () => {
    const due = await listDue(database.db, new Date(Date.now() + 86_400_000), 2)
    expect(new Set(due.map(({ workspaceId }) => workspaceId)).size).toBe(2)
  })

  it('belongs to one workspace: not to another of the same account, and read-only members cannot change it', async () => {
    const second = await portreeve.addWorkspace(alice)
    const { body } = await ask<{ domains: DomainSummary[] }>('domains', second.token)
    expect(body.data.domains).toEqual([])
    expect(await historyOf(second.token)).toMatchObject({ passRate: [], events: [] })
    expect((await ask('domains/example.com/watch', second.token, 'DELETE')).status).toBe(404)

    const reader = await portreeve.addMember(alice.id, 'Reader', 'read-only')
    expect((await historyOf(reader.token)).events.length).toBeGreaterThan(0)
    for (const method of ['POST', 'DELETE'])
      expect((await ask('domains/example.com/watch', reader.token, method)).status).toBe(403)
    const { body: shown } = await ask<{ domains: DomainSummary[] }>('domains', reader.token)
    expect(shown.data.domains).toContainEqual(
      expect.objectContaining({ domain: 'example.com', isWatched: true }),
    )
  })

  it('ends with the watch; hosts and reports stay', async () => {
    expect((await ask('domains/example.com/watch', alice.token, 'DELETE')).status).toBe(200)
    expect((await ask('domains/example.com/watch', alice.token, 'DELETE')).status).toBe(404)
    const { events } = await historyOf(alice.token)
    expect(events.filter(({ kind }) => kind === 'record')).toEqual([])
    expect((await ask<object[]>('monitoring/hosts', alice.token)).body.data.length).toBeGreaterThan(
      2,
    )
  })
})

describe('a comparison of records', () => {
  const at = new Date()

  it('does not count a failed query, a first reading, or a change that was seen once', () => {
    const first = compareRecords({}, { 'a TXT': ['1'] }, at)
    expect(first.events).toEqual([])
    const failed = compareRecords(first.records, { 'a TXT': null }, at)
    expect(failed).toEqual({ records: first.records, events: [] })
    const once = compareRecords(first.records, { 'a TXT': ['2'] }, at)
    expect(once.events).toEqual([])
    expect(compareRecords(once.records, { 'a TXT': ['1'] }, at)).toEqual({
      records: first.records,
      events: [],
    })
    expect(compareRecords(once.records, { 'a TXT': ['2'] }, at).events).toEqual([
      { at, name: 'a', type: 'TXT', before: ['1'], after: ['2'] },
    ])
  })
})
