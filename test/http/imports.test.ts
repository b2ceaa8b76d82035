import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { startTestService, type Person, type TestService } from '../service.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import type { Rbldnsd } from '../servers/rbldnsd.ts'
import { startAllLists } from '../domains/check-with.ts'

let dns: DnsServer
let lists: Rbldnsd
let portreeve: TestService
let database: Database
let alice: Person
let bob: Person
let charlie: Person
beforeAll(async () => {
  lists = await startAllLists()
  dns = await startDns({
    records: {
      'example.com A': ['127.0.0.1'],
      'example.com MX': ['10 mail.example.com'],
      'mail.example.com A': ['127.0.0.1'],
      'example.net MX': ['0 .'],
    },
  })
  portreeve = await startTestService({
    DNS_SERVERS: `127.0.0.1:${dns.port}`,
    DNSBL_SERVERS: `127.0.0.1:${lists.port}`,
  })
  database = openDatabase(portreeve.databaseUrl)
  alice = await portreeve.addPerson('Alice')
  bob = await portreeve.addPerson('Bob')
  charlie = await portreeve.addPerson('Charlie')
})
afterAll(async () => {
  await database.close()
  await portreeve.stop()
  await dns.close()
  await lists.stop()
})

type Report = {
  results: {
    input: string
    name: string | null
    id: string | null
    status: string
    message: string | null
  }[]
  added: number
  exists: number
  invalid: number
  limit: number
}
type Answer<T> = { status: number; body: { data: T; code?: string } }

async function ask<T>(
  method: string,
  path: string,
  token?: string,
  body?: object,
): Promise<Answer<T>> {
  const answer = await portreeve.request(`/api/v1/${path}`, {
    method,
    ...(token === undefined ? {} : { token }),
    ...(body && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  })
  return { status: answer.status, body: (await answer.json()) as Answer<T>['body'] }
}
const add = (path: string, entries: object[], token?: string) =>
  ask<Report>('POST', `${path}/import`, token, { entries })
const statuses = ({ body }: Answer<Report>) => body.data.results.map(({ status }) => status)

const PATHS = [
  ['monitoring/hosts', 'host'],
  ['domains', 'domain'],
  ['dmarc/domains', 'domain'],
] as const

describe('an import of hosts', () => {
  it('adds what is valid, and says for each other entry why not', async () => {
    await ask('POST', 'monitoring/hosts', alice.token, { host: 'known.example.com' })
    const { status, body } = await add(
      'monitoring/hosts',
      [
        { host: 'Mail.Example.com', label: 'outgoing' },
        { host: 'bücher.example' },
        { host: 'known.example.com.' },
        { host: 'mail.example.com' },
        { host: '192.168.0.1' },
        { host: 'not a host' },
        { host: '8.8.4.4' },
        { host: '' },
      ],
      alice.token,
    )
    expect(status).toBe(200)
    expect(body.data).toMatchObject({ added: 3, exists: 2, invalid: 3, limit: 0 })
    expect(body.data.results.map(({ name, status: each }) => [name, each])).toEqual([
      ['mail.example.com', 'added'],
      ['xn--bcher-kva.example', 'added'],
      ['known.example.com', 'exists'],
      ['mail.example.com', 'exists'],
      [null, 'invalid'],
      [null, 'invalid'],
      ['8.8.4.4', 'added'],
      [null, 'invalid'],
    ])
    expect(body.data.results[4]?.message).toMatch(/is a private address/)
    const hosts = await ask<{ id: string; host: string; label: string; tlsPorts: number[] }[]>(
      'GET',
      'monitoring/hosts',
      alice.token,
    )
    const added = hosts.body.data.find(({ host }) => host === 'mail.example.com')
    expect(added).toMatchObject({
      label: 'outgoing',
      tlsPorts: [443],
      id: body.data.results[0]?.id,
    })
    expect(hosts.body.data.find(({ host }) => host === '8.8.4.4')?.tlsPorts).toEqual([])
  })

  it('checks the hosts soon', async () => {
    type Checked = { host: string; lastCheckAt: string | null }
    await expect
      .poll(
        async () => {
          const { body } = await ask<Checked[]>('GET', 'monitoring/hosts', alice.token)
          return body.data.filter(({ lastCheckAt }) => lastCheckAt === null)
        },
        { timeout: 60_000 },
      )
      .toEqual([])
  }, 70_000)

  it('stops at the limit of the workspace, exactly, also for imports at the same time', async () => {
    const { db } = database
    const { workspaceId } = await db
      .selectFrom('monitoredHost')
      .select('workspaceId')
      .where('host', '=', 'known.example.com')
      .executeTakeFirstOrThrow()
    const { count } = await db
      .selectFrom('monitoredHost')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    const filler = Array.from({ length: 9_998 - count }, (_, at) => ({
      workspaceId,
      host: `filler${at}.example`,
      lists: '{}',
      graveDueAt: new Date('2100-01-01'),
      fullDueAt: new Date('2100-01-01'),
      sideDueAt: new Date('2100-01-01'),
    }))
    for (let at = 0; at < filler.length; at += 2_000)
      await db
        .insertInto('monitoredHost')
        .values(filler.slice(at, at + 2_000))
        .execute()
    const hosts = (prefix: string) =>
      ['a', 'b', 'c'].map((name) => ({ host: `${prefix}-${name}.example` }))
    const answers = await Promise.all([
      add('monitoring/hosts', [...hosts('one'), { host: 'known.example.com' }], alice.token),
      add('monitoring/hosts', hosts('two'), alice.token),
    ])
    const all = answers.flatMap((answer) => statuses(answer))
    expect(all.filter((status) => status === 'added')).toHaveLength(2)
    expect(all.filter((status) => status === 'limit')).toHaveLength(4)
    expect(statuses(answers[0])[3]).toBe('exists')
    await db.deleteFrom('monitoredHost').where('host', 'like', 'filler%').execute()
  })

  it('has one entry in the audit log, with the names', async () => {
    await add('monitoring/hosts', [{ host: 'audited.example' }, { host: 'b a d' }], alice.token)
    const entries = await database.db.selectFrom('auditEntry').selectAll().execute()
    const imports = entries.filter((entry) => JSON.stringify(entry).includes('audited.example'))
    expect(imports).toHaveLength(1)
    expect(JSON.stringify(imports[0])).toContain('"added":1')
  })
})

describe('an import of domains', () => {
  it('watches them, and completes each watch in the background', async () => {
    const { body } = await add(
      'domains',
      [
        { domain: 'Example.com' },
        { domain: 'example.net' },
        { domain: 'nowhere.example' },
        { domain: 'co.uk' },
        { domain: '8.8.8.8' },
        { domain: 'example.com.' },
      ],
      alice.token,
    )
    expect(body.data.results.map(({ status }) => status)).toEqual([
      'added',
      'added',
      'added',
      'invalid',
      'invalid',
      'exists',
    ])
    type Listed = {
      domain: string
      isWatched: boolean
      sentence: string | null
      hosts: { host: string }[]
    }
    const listed = async () =>
      (await ask<{ domains: Listed[] }>('GET', 'domains?limit=100', alice.token)).body.data.domains
    await expect
      .poll(async () => (await listed()).find(({ domain }) => domain === 'example.com')?.hosts, {
        timeout: 30_000,
      })
      .toContainEqual(expect.objectContaining({ host: 'mail.example.com' }))
    await expect
      .poll(async () => (await listed()).find(({ domain }) => domain === 'nowhere.example'), {
        timeout: 30_000,
      })
      .toMatchObject({
        isWatched: true,
        sentence: expect.stringMatching(/does not exist/) as string,
      })
    const reported = async () =>
      (await ask<{ domain: string }[]>('GET', 'dmarc/domains', alice.token)).body.data
    await expect
      .poll(async () => (await reported()).map(({ domain }) => domain).toSorted(), {
        timeout: 30_000,
      })
      .toEqual(['example.com', 'example.net'])
  }, 60_000)

  it('registers them for DMARC reports, each with its own address', async () => {
    const { body } = await add(
      'dmarc/domains',
      [{ domain: 'one.example' }, { domain: 'two.example' }, { domain: 'localhost' }],
      bob.token,
    )
    expect(body.data).toMatchObject({ added: 2, exists: 0, invalid: 1 })
    const again = await add('dmarc/domains', [{ domain: 'ONE.example' }], bob.token)
    expect(statuses(again)).toEqual(['exists'])
    const rows = await database.db.selectFrom('dmarcDomain').select('mailbox').execute()
    expect(new Set(rows.map(({ mailbox }) => mailbox)).size).toBe(rows.length)
  })
})

describe.each(PATHS)('the import at %s', (path, field) => {
  it('adds nothing for others', async () => {
    await add(path, [{ [field]: 'private.example' }], bob.token)
    const { body } = await ask<unknown>('GET', path, charlie.token)
    expect(JSON.stringify(body)).not.toContain('private.example')
  })

  it('needs an account', async () => {
    expect((await add(path, [{ [field]: 'example.org' }])).status).toBe(401)
  })

  it.each([
    ['no entries', []],
    ['more than 500 entries', Array.from({ length: 501 }, () => ({ [field]: 'example.org' }))],
    ['an entry without a name', [{}]],
    ['a name that is a number', [{ [field]: 7 }]],
    ['a name of 301 characters', [{ [field]: 'x'.repeat(301) }]],
  ])('rejects %s as a whole', async (_what, entries) => {
    const { status, body } = await add(path, entries, bob.token)
    expect([status, body.code]).toEqual([400, 'invalid_request'])
  })

  it('takes 500 entries in one request', async () => {
    const entries = Array.from({ length: 500 }, (_, at) => ({ [field]: `n${at}.example.org` }))
    const { status, body } = await add(path, entries, charlie.token)
    expect([status, body.data.added]).toEqual([200, 500])
  })
})
