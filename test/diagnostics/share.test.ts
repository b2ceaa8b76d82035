import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { QUOTA_BYTES } from '../../src/accounts/own-data/account-quotas.ts'
import { readReceipt, writeReceipt } from '../../src/diagnostics/sharing/check-receipt.ts'
import type { ResultWithReceipt } from '../../src/diagnostics/sharing/share-results.ts'
import { openDatabase } from '../../src/store/database.ts'
import { deleteExpired } from '../../src/store/retention.ts'
import { startTestService, type TestService, type Person } from '../service.ts'
import { enabled, IP, startLists } from '../servers/blacklists.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import type { Rbldnsd } from '../servers/rbldnsd.ts'

let dns: DnsServer
let lists: Rbldnsd
let portreeve: TestService
let alice: Person
let charlie: Person
beforeAll(async () => {
  dns = await startDns({ records: { 'example.test A': ['8.8.4.4'], 'other.test A': ['8.8.4.4'] } })
  lists = await startLists({ 'zen.spamhaus.org': { listed: { [IP]: '127.0.0.2 x' } } })
  portreeve = await startTestService({
    DNS_SERVERS: `127.0.0.1:${dns.port}`,
    DNSBL_SERVERS: `127.0.0.1:${lists.port}`,
  })
  alice = await portreeve.addPerson('Alice')
  charlie = await portreeve.addPerson('Charlie')
})
afterAll(async () => {
  await portreeve.stop()
  await lists.stop()
  await dns.close()
})

type Shared = { token: string; url: string; target: string; createdAt: string; expiresAt: string }
type Answer<T> = {
  status: number
  body: T & { data: T; code?: string; details?: { path: string }[] }
}

async function ask<T>(
  path: string,
  init: Parameters<TestService['request']>[1] = {},
): Promise<Answer<T>> {
  const answer = await portreeve.request(path, init)
  return { status: answer.status, body: (await answer.json()) as Answer<T>['body'] }
}

async function check(name: string, path: string, by: Person = alice): Promise<ResultWithReceipt> {
  const { body } = await ask<{ data: Record<string, unknown>; receipt: string }>(
    `/api/v1/${path}`,
    { token: by.token },
  )
  return { check: name, data: body.data, receipt: body.receipt }
}
const dnsOf = (domain: string, by?: Person) => check('dns', `dns-check?domain=${domain}`, by)

const share = (results: ResultWithReceipt[], by: Person = alice) =>
  ask<Shared>('/api/v1/shared-checks', {
    method: 'POST',
    token: by.token,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ results }),
  })

describe('a shared result', () => {
  it('opens without an account, with its time, and without new queries', async () => {
    const results = [
      await dnsOf('example.test'),
      await check('dmarc', 'dmarc-check?domain=example.test'),
    ]
    const before = Date.now()
    const { status, body } = await share(results)
    expect(status).toBe(201)
    expect(body.data).toMatchObject({
      target: 'example.test',
      url: `${portreeve.url}/shared/${body.data.token}`,
    })
    expect(body.data.token).toMatch(/^[A-Za-z0-9]{24}$/)
    const days = (Date.parse(body.data.expiresAt) - Date.parse(body.data.createdAt)) / 86_400_000
    expect(days).toBeCloseTo(30, 2)

    const asked = dns.queries.length
    const seen = await ask<{ results: { check: string; data: unknown; madeAt: string }[] }>(
      `/api/v1/shared-checks/${body.data.token}`,
    )
    expect(seen.status).toBe(200)
    expect(seen.body.data.results.map((result) => [result.check, result.data])).toEqual(
      results.map((result) => [result.check, result.data]),
    )
    for (const { madeAt } of seen.body.data.results) {
      expect(Math.abs(Date.parse(madeAt) - before)).toBeLessThan(10_000)
    }
    expect(dns.queries.length).toBe(asked)
  })

  it('may be passed on by a program that writes keys in another order', async () => {
    const { data, ...rest } = await dnsOf('example.test')
    const turned = Object.fromEntries(Object.entries(data).toReversed())
    expect((await share([{ ...rest, data: turned }])).status).toBe(201)
  })

  it('matches exactly the result that this account received', async () => {
    const [own, charlies] = [await dnsOf('example.test'), await dnsOf('example.test', charlie)]
    const wrong: Record<string, ResultWithReceipt[]> = {
      changed: [{ ...own, data: { ...own.data, a: ['192.0.2.1'] } }],
      'with more': [{ ...own, data: { ...own.data, note: 'Call this number' } }],
      'of another check': [{ ...own, check: 'ssl' }],
      'of somebody else': [charlies],
      'with another time': [{ ...own, receipt: own.receipt.replace(/^\d+/, '1') }],
      'without a receipt': [{ ...own, receipt: '' }],
    }
    for (const [what, results] of Object.entries(wrong)) {
      const { status, body } = await share(results)
      expect([what, status, body.code, body.details?.[0]?.path]).toEqual([
        what,
        400,
        'invalid_request',
        'results/0/receipt',
      ])
    }
  })

  it('is about one name', async () => {
    const { status, body } = await share([await dnsOf('example.test'), await dnsOf('other.test')])
    expect([status, body.code]).toEqual([400, 'invalid_request'])
    expect((await share([])).status).toBe(400)
  })

  it('is deleted by its owner only; Charlie cannot list it', async () => {
    const { token } = (await share([await dnsOf('example.test')])).body.data
    const path = `/api/v1/shared-checks/${token}`
    const listOf = async (by: Person) =>
      (await ask<Shared[]>('/api/v1/shared-checks', { token: by.token })).body.data.map(
        (row) => row.token,
      )
    expect([(await listOf(alice)).includes(token), await listOf(charlie)]).toEqual([true, []])
    expect((await ask(path, { method: 'DELETE', token: charlie.token })).status).toBe(404)
    expect((await ask(path, { method: 'DELETE' })).status).toBe(401)
    expect((await ask(path)).status).toBe(200)
    expect((await ask(path, { method: 'DELETE', token: alice.token })).status).toBe(200)
    expect((await ask(path)).status).toBe(404)
    expect((await ask('/api/v1/shared-checks')).status).toBe(401)
  })

  it('is gone after thirty days, from the API and from the database', async () => {
    const { token } = (await share([await dnsOf('example.test')])).body.data
    const database = openDatabase(portreeve.databaseUrl)
    const past = new Date(Date.now() - 1_000)
    await database.db
      .updateTable('sharedCheck')
      .set({ expiresAt: past })
      .where('token', '=', token)
      .execute()
    expect((await ask(`/api/v1/shared-checks/${token}`)).body.code).toBe('not_found')
    const kept = async () =>
      (await database.db.selectFrom('sharedCheck').select('token').execute()).map(
        (row) => row.token,
      )
    const before = await kept()
    await deleteExpired(database.db, { table: 'shared_check', column: 'expires_at', days: 0 })
    expect(await kept()).toEqual(before.filter((each) => each !== token))
    await database.close()
  })

  it('is not found under an unknown link', async () => {
    for (const token of ['x', 'x'.repeat(24), '%00', "' or true --"]) {
      const { status } = await ask(`/api/v1/shared-checks/${encodeURIComponent(token)}`)
      expect([token, status]).toEqual([token, 404])
    }
  })
})

describe('a receipt', () => {
  const secretKey = 'a key for receipts, long enough for one'
  const received = (data: unknown) => ({ workspaceId: 'alice', check: 'dns', data })

  it('returns the time of any JSON result, parsed from text again', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat({ max: 1e14 }), (data, at) => {
        const receipt = writeReceipt(received(data), secretKey, at)
        expect(readReceipt(receipt, received(JSON.parse(JSON.stringify(data))), secretKey)).toEqual(
          new Date(at),
        )
        expect(readReceipt(receipt, received(data), `${secretKey}!`)).toBeNull()
      }),
    )
  })

  it('is for one result', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        fc.pre(!isDeepStrictEqual(one, other))
        const receipt = writeReceipt(received(one), secretKey, 1)
        expect(readReceipt(receipt, received(other), secretKey)).toBeNull()
      }),
    )
  })

  it('cannot be forged', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\d{1,15}\.[\w-]{43}$/)), (text) => {
        expect(readReceipt(text, received({}), secretKey)).toBeNull()
      }),
    )
  })
})

describe('a blacklist check that is followed', () => {
  it('shows the answers as they come, and in the end the whole with a receipt to share it', async () => {
    const path = `/api/v1/blacklist-check/events?ip=${IP}`
    const answer = await portreeve.request(path, { token: alice.token })
    expect(answer.headers.get('content-type')).toContain('text/event-stream')
    const events = [...(await answer.text()).matchAll(/^event: sweep\ndata: (.*)$/gm)].map(
      ([, data = '']) =>
        JSON.parse(data) as {
          total: number
          receipt: string | null
          data: Record<string, unknown>
        },
    )
    const [first, last] = [events[0], events.at(-1)]
    expect(first).toMatchObject({ total: enabled.length, receipt: null })
    expect(last?.data).toMatchObject({ ip: IP, totalChecked: enabled.length, listedCount: 1 })
    expect(events.filter(({ receipt }) => receipt !== null)).toHaveLength(1)
    const shareable = { check: 'blacklist', data: last?.data ?? {}, receipt: last?.receipt ?? '' }
    expect((await share([shareable])).body.data).toMatchObject({ target: IP })
  })

  it('is rejected like the check: without an account, and for an address that is not public', async () => {
    expect((await ask(`/api/v1/blacklist-check/events?ip=${IP}`)).status).toBe(401)
    const { status, body } = await ask('/api/v1/blacklist-check/events?ip=10.0.0.1', {
      token: alice.token,
    })
    expect([status, body.code]).toEqual([400, 'invalid_request'])
  })
})

describe('sharing', () => {
  it('is rejected beyond the bytes of the plan, with the limit and its end', async () => {
    const dave = await portreeve.addPerson('Dave')
    const results = [await dnsOf('example.test', dave)]
    expect((await share(results, dave)).status).toBe(201)
    const { db, close } = openDatabase(portreeve.databaseUrl)
    await db
      .updateTable('sharedCheck')
      .set({ bytes: QUOTA_BYTES.free.sharedChecks })
      .where('workspaceId', '=', dave.id)
      .execute()
    const init = {
      method: 'POST',
      token: dave.token,
      headers: { 'content-type': 'application/json' },
    }
    const answer = await portreeve.request('/api/v1/shared-checks', {
      ...init,
      body: JSON.stringify({ results }),
    })
    expect(answer.status).toBe(429)
    expect(await answer.json()).toMatchObject({
      code: 'rate_limited',
      error: expect.stringContaining('10 MB'),
    })
    expect(Number(answer.headers.get('retry-after')) / 86_400).toBeCloseTo(30, 0)
    await db.updateTable('workspace').set({ plan: 'pro' }).where('id', '=', dave.id).execute()
    expect((await share(results, dave)).status).toBe(201)
    await close()
  })

  it('is limited to 200 results, by however many requests at once', async () => {
    const erin = await portreeve.addPerson('Erin')
    const results = [await dnsOf('example.test', erin)]
    const first = (await share(results, erin)).body.data.token
    const { pool, close } = openDatabase(portreeve.databaseUrl)
    await pool.query(
      `insert into shared_check (token, workspace_id, target, results, bytes, expires_at)
       select left(md5(n::text), 24), workspace_id, target, results, bytes, expires_at
       from shared_check, generate_series(1, 197) as n where token = $1`,
      [first],
    )
    await close()
    const statuses = (await Promise.all(Array.from({ length: 5 }, () => share(results, erin)))).map(
      ({ status }) => status,
    )
    expect(statuses.toSorted((one, other) => one - other)).toEqual([201, 201, 409, 409, 409])
  })
})
