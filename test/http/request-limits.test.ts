import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  ACCOUNT_LIMITS,
  ADDRESS_LIMITS,
  type RequestLimit,
} from '../../src/http/limits/request-limits.ts'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { countRequest } from '../../src/store/limits/request-rate.ts'
import { startTestService, type TestService, type Person } from '../service.ts'
import { itAlone } from '../scaled/alone.ts'

let portreeve: TestService
let database: Database
beforeAll(async () => {
  portreeve = await startTestService({ TRUSTED_PROXIES: '127.0.0.0/8,::1' })
  database = openDatabase(portreeve.databaseUrl)
})
afterAll(async () => {
  await database.close()
  await portreeve.stop()
})

const opening: AbortController[] = []

/** Opens streams at the same moment. @returns the statuses, sorted */
async function openAtOnce(path: string, person: Person, count: number): Promise<number[]> {
  const answers = await Promise.all(
    Array.from({ length: count }, () => {
      const stop = new AbortController()
      opening.push(stop)
      return portreeve.request(path, { token: person.token, signal: stop.signal })
    }),
  )
  return answers.map(({ status }) => status).toSorted((one, other) => one - other)
}

const closeAll = () => opening.splice(0).forEach((stop) => stop.abort())

const post = (path: string, { token }: Person, body: object) =>
  portreeve.request(path, {
    method: 'POST',
    token,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** Inserts a migration that no worker runs: only its row counts here. */
async function insertMigration({ id }: Person): Promise<string> {
  const side = JSON.stringify({
    host: 'imap.example.com',
    port: 993,
    security: 'tls',
    username: 'x',
  })
  const columns = await database.pool.query<{ name: string; type: string }>(
    `select column_name as name, data_type as type from information_schema.columns
     where table_name = 'migration' and is_nullable = 'NO' and column_default is null`,
  )
  const values = columns.rows.map(({ name, type }) => {
    if (name === 'workspace_id') return `'${id}'::uuid`
    if (name === 'status' || name === 'state') return `'completed'`
    if (type === 'jsonb' || type === 'json') return `'${side}'::${type}`
    if (type === 'ARRAY') return `'{}'`
    if (type === 'uuid') return 'gen_random_uuid()'
    if (type === 'boolean') return 'false'
    if (type.startsWith('timestamp')) return 'now()'
    return type === 'text' ? `'x'` : '0'
  })
  const names = columns.rows.map(({ name }) => name).join(', ')
  const made = await database.pool.query<{ id: string }>(
    `insert into migration (${names}) values (${values.join(', ')}) returning id`,
  )
  return made.rows[0]?.id ?? ''
}

describe('event streams', () => {
  const twentyOfSixty = [...Array<number>(20).fill(200), ...Array<number>(40).fill(429)]

  itAlone('the limit protects one instance')(
    'of changes: 60 that are opened at once are 20',
    async () => {
      const eve = await portreeve.addPerson('Eve')
      expect(await openAtOnce('/api/v1/events', eve, 60)).toEqual(twentyOfSixty)
      closeAll()
      await vi.waitFor(
        async () => expect(await openAtOnce('/api/v1/events', eve, 1)).toEqual([200]),
        10_000,
      )
      closeAll()
    },
  )

  itAlone('the limit protects one instance')(
    'of all workspaces of an account are 20 together',
    async () => {
      const eve = await portreeve.addPerson('Eva')
      const second = { ...eve, ...(await portreeve.addWorkspace(eve)) }
      const member = await portreeve.addMember(second.id, 'Max', 'member')
      expect(await openAtOnce('/api/v1/events', eve, 20)).toEqual(Array(20).fill(200))
      expect(await openAtOnce('/api/v1/events', second, 1)).toEqual([429])
      expect(await openAtOnce('/api/v1/events', member, 1)).toEqual([429])
      closeAll()
    },
  )

  itAlone('the limit protects one instance')(
    'of an endpoint: 60 that are opened at once are 20',
    async () => {
      const eve = await portreeve.addPerson('Evelyn')
      const made = await post('/api/webhook/endpoints', eve, {})
      const { endpoint } = (await made.json()) as { endpoint: { id: string } }
      const path = `/api/webhook/endpoints/${endpoint.id}/events`
      expect(await openAtOnce(path, eve, 60)).toEqual(twentyOfSixty)
      closeAll()
      await vi.waitFor(async () => expect(await openAtOnce(path, eve, 1)).toEqual([200]), 10_000)
      closeAll()
    },
  )

  itAlone('the limit protects one instance')(
    'of a migration: 60 that are opened at once are 20',
    async () => {
      const eve = await portreeve.addPerson('Evita')
      const path = `/api/v1/imap/migrate/${await insertMigration(eve)}/events`
      expect(await openAtOnce(path, eve, 60)).toEqual(twentyOfSixty)
      closeAll()
      await vi.waitFor(async () => expect(await openAtOnce(path, eve, 1)).toEqual([200]), 10_000)
      closeAll()
    },
  )
})

describe('the rate of an account', () => {
  const rate = { requests: 5, windowSeconds: 10 }
  const count = (id: string, name = 'checks') => countRequest(database.db, id, name, rate)

  it('counts concurrent requests, rejects the rest, and returns the seconds to wait', async () => {
    const { id } = await portreeve.addPerson('Rita')
    const waits = await Promise.all(Array.from({ length: 12 }, () => count(id)))
    // More than five only on a machine so slow that the bucket refilled partly.
    const allowed = waits.filter((wait) => wait === 0).length
    expect(allowed).toBeGreaterThanOrEqual(5)
    expect(allowed).toBeLessThan(12)
    const wait = await count(id)
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(2)
    await database.pool.query(
      'update account_rate set full_at = full_at - make_interval(secs => $2) where account_id = $1',
      [id, wait],
    )
    expect(await count(id)).toBe(0)
  })

  it('is separate for each account and each limit', async () => {
    const [one, two] = [await portreeve.addPerson('Rob'), await portreeve.addPerson('Ron')]
    for (let n = 0; n < 20; n += 1) await count(one.id)
    expect(await count(two.id)).toBe(0)
    expect(await count(one.id, 'searches')).toBe(0)
  })

  it('ignores times written by a clock that was ahead', async () => {
    const { id } = await portreeve.addPerson('Rick')
    await count(id)
    await database.pool.query(
      `update account_rate set full_at = now() + interval '1 year' where account_id = $1`,
      [id],
    )
    expect(await count(id)).toBeLessThanOrEqual(2)
  })

  it('gets 429 with the limit and Retry-After', async () => {
    const rosa = await portreeve.addPerson('Rosa')
    await database.pool.query(
      `insert into account_rate (account_id, name, full_at) values ($1, 'checks', now() + interval '1 hour')`,
      [rosa.id],
    )
    const answer = await portreeve.request('/api/v1/dns-check?domain=x.invalid', {
      token: rosa.token,
    })
    expect(answer.status).toBe(429)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    const { code, error } = (await answer.json()) as { code: string; error: string }
    expect([code, error]).toEqual([
      'rate_limited',
      expect.stringMatching(
        /^An account can make up to 3,000 checks an hour\. Try again in \d+ seconds?\.$/,
      ),
    ])
    const second = await portreeve.addWorkspace(rosa)
    const check = '/api/v1/dns-check?domain=x.invalid'
    expect((await portreeve.request(check, { token: second.token })).status).toBe(429)
    // Other accounts are not affected.
    const other = await portreeve.addPerson('Rose')
    const otherAnswer = await portreeve.request('/api/v1/dns-check?domain=x.invalid', {
      token: other.token,
    })
    expect(otherAnswer.status).not.toBe(429)
  })
})

describe('public routes', () => {
  itAlone('addresses are counted in each instance')(
    'are limited by IPv4 address and IPv6 /64',
    async () => {
      const { requests } = ADDRESS_LIMITS.setup.rate
      const setUp = async (address: string) => {
        const body = JSON.stringify({
          token: 'x',
          email: 'x@people.test',
          password: 'long enough, is it not',
        })
        const headers = { 'content-type': 'application/json', 'x-forwarded-for': address }
        return portreeve.request('/api/v1/setup', { method: 'POST', body, headers })
      }
      for (let n = 0; n < requests; n += 1)
        expect((await setUp(`2001:db8:5:5::${n + 1}`)).status).not.toBe(429)
      const refused = await setUp('2001:db8:5:5:ffff::1')
      expect(refused.status).toBe(429)
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      expect((await setUp('2001:db8:5:6::1')).status).not.toBe(429)
      expect((await setUp('203.0.113.5')).status).not.toBe(429)
    },
  )
})

itAlone('addresses are counted in each instance')(
  'limits requests of unknown paths, and pages of the dashboard not',
  async () => {
    const { requests } = ADDRESS_LIMITS['unknown paths'].rate
    const ask = async (address: string, accept = '*/*') => {
      const headers = { 'x-forwarded-for': address, accept }
      const answer = await portreeve.request('/no/such/page', { headers })
      await answer.body?.cancel()
      return answer.status
    }
    for (let n = 0; n < requests; n += 50)
      await Promise.all(Array.from({ length: 50 }, (_, m) => ask(`2001:db8:7:7::${n + m}`)))
    // One or more: the bucket is refilled meanwhile.
    const more = await Promise.all(Array.from({ length: 100 }, () => ask('2001:db8:7:7::f')))
    expect(more).toContain(429)
    expect(await ask('2001:db8:7:8::1')).toBe(404)
    const pages = Array.from({ length: 100 }, () => ask('2001:db8:7:7::f', 'text/html'))
    // Without a build of the dashboard there are none.
    if (existsSync('web/dist/index.html')) expect(await Promise.all(pages)).not.toContain(429)
  },
)

it('allows all four checks of 500 hosts within an hour', () => {
  expect(ACCOUNT_LIMITS.checks.rate.requests).toBeGreaterThanOrEqual(500 * 4)
})

it('documents every limit in docs/limits.md', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/limits.md'), 'utf8')
  const rows = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
  const limits: RequestLimit[] = [
    ...Object.values(ACCOUNT_LIMITS),
    ...Object.values(ADDRESS_LIMITS),
  ]
  for (const limit of limits) {
    const row = rows.find(([, name]) => name === limit.noun)
    expect(row?.[3], limit.noun).toBe(limit.maxConcurrent?.toLocaleString('en') ?? '')
    const requests = limit.rate?.requests.toLocaleString('en') ?? ''
    expect(row?.[2]?.split(' ')[0], limit.noun).toBe(requests)
  }
})
