import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { insertWorkspace } from '../../src/accounts/workspaces/workspaces.sql.ts'
import { raiseAlert } from '../../src/alerts/raise.ts'
import { createLog } from '../../src/log.ts'
import { clearRequests } from '../../src/webhooks/endpoints/endpoints.ts'
import { deleteEndpoint, insertEndpoint } from '../../src/webhooks/endpoints/endpoints.sql.ts'
import {
  raiseOnce,
  trimToQuotas,
  type CaptureQuotas,
} from '../../src/webhooks/retention/capture-quota.ts'
import { startTrimming, webhookCleanUpJob } from '../../src/webhooks/retention/capture-retention.ts'
import {
  deleteBeyond,
  deleteOlder,
  listUsage,
} from '../../src/webhooks/retention/capture-retention.sql.ts'
import { storedBytes, type CapturedRequest } from '../../src/webhooks/requests/captured-request.ts'
import { createRequestInsert } from '../../src/webhooks/requests/captured-requests.sql.ts'
import { newUuidBytes } from '../../src/store/uuid.ts'
import { newEndpointToken } from '../../src/webhooks/endpoint-token.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { addAccount, passwordOf } from '../people.ts'
import { jobContext } from '../jobs/context.ts'

const LIMIT = 100_000
const QUOTAS: CaptureQuotas = {
  free: LIMIT,
  starter: LIMIT,
  pro: 2 * LIMIT,
  business: LIMIT,
  enterprise: LIMIT,
}
const BODY_BYTES = 10_000

let fresh: FreshDatabase
let insert: ReturnType<typeof createRequestInsert>
let people = 0
beforeAll(async () => {
  fresh = await freshDatabase()
  insert = createRequestInsert(fresh.pool)
})
afterAll(() => fresh.drop())

/** Adds a workspace that another account than its own answers for. */
async function addWorkspaceOf(accountId: string): Promise<string> {
  const workspace = { name: 'Another', plan: 'free' as const, createdBy: accountId }
  return (await fresh.db.transaction().execute((trx) => insertWorkspace(trx, workspace))).id
}

async function addWorkspace(plan: 'free' | 'pro' = 'free'): Promise<string> {
  const email = `person-${(people += 1)}@people.test`
  return (await addAccount(fresh.db, { email, password: passwordOf('Alice'), plan })).id
}

const addEndpoint = async (workspaceId: string) =>
  (await insertEndpoint(fresh.db, { workspaceId, token: newEndpointToken() })).id

function request(endpointId: string, path: string, bytes = BODY_BYTES): CapturedRequest {
  const receivedAt = new Date()
  return {
    id: newUuidBytes(),
    endpointId,
    method: 'POST',
    path,
    query: '',
    headers: [['Host', 'a']],
    trailers: null,
    ip: '192.0.2.1',
    body: Buffer.alloc(bytes, 'x'),
    bodySize: bytes,
    contentType: null,
    receivedAt,
    durationMs: 0,
    httpVersion: '1.1',
    preflight: false,
    aborted: false,
    rejected: null,
    responseStatus: 200,
    surplus: null,
    answeredBy: null,
  }
}

/** Paths of the remaining requests, oldest first. */
async function pathsOf(...endpointIds: string[]): Promise<string[]> {
  const { rows } = await fresh.pool.query<{ path: string }>(
    'select path from webhook_request where endpoint_id = any ($1) order by seq',
    [endpointIds],
  )
  return rows.map(({ path }) => path)
}

const usageOf = async (workspaceId: string) => (await listUsage(fresh.db, [workspaceId]))[0]?.bytes

async function storedOf(workspaceId: string): Promise<number> {
  const { rows } = await fresh.pool.query<{ bytes: number }>(
    `select coalesce(sum(stored_bytes), 0)::float8 as bytes from webhook_request r
     join webhook_endpoint e on e.id = r.endpoint_id where e.workspace_id = $1`,
    [workspaceId],
  )
  return rows[0]?.bytes ?? -1
}

const titles = async (workspaceId: string) =>
  (
    await fresh.db
      .selectFrom('alert')
      .select('title')
      .where('workspaceId', '=', workspaceId)
      .orderBy('id')
      .execute()
  ).map(({ title }) => title)

const deps = () => ({
  db: fresh.db,
  quotas: QUOTAS,
  raise: raiseOnce((alert) => raiseAlert(fresh.db, alert)),
})

describe('the bytes of captured requests', () => {
  it('are counted with them, until they are deleted in any way', async () => {
    const account = await addWorkspace()
    const [one, other, third] = [
      await addEndpoint(account),
      await addEndpoint(account),
      await addEndpoint(account),
    ]
    const rows = [one, one, one, other, other, third].map((id, index) =>
      request(id, `/${index}`, 100 * (index + 1)),
    )
    await insert(rows)
    expect(await usageOf(account)).toBe(rows.reduce((sum, row) => sum + storedBytes(row), 0))

    await deleteBeyond(fresh.db, [{ endpointId: one, upTo: 0 }], 2, 100)
    expect([await usageOf(account), await pathsOf(one)]).toEqual([
      await storedOf(account),
      ['/1', '/2'],
    ])
    await fresh.pool.query(
      "update webhook_request set received_at = now() - interval '40 days' where path = '/1' and endpoint_id = $1",
      [one],
    )
    await deleteOlder(fresh.db, new Date(Date.now() - 30 * 86_400_000), 100)
    expect([await usageOf(account), await pathsOf(one)]).toEqual([await storedOf(account), ['/2']])
    await clearRequests(fresh.db, account, other)
    expect([await usageOf(account), await pathsOf(other)]).toEqual([await storedOf(account), []])
    await deleteEndpoint(fresh.db, account, third)
    expect(await usageOf(account)).toBe(await storedOf(account))
    expect(await usageOf(account)).toBeGreaterThan(300)
    await clearRequests(fresh.db, account, one)
    expect(await usageOf(account)).toBe(0)
  })

  it('are counted for requests of earlier versions, too', async () => {
    const account = await addWorkspace()
    const endpoint = await addEndpoint(account)
    await insert([request(endpoint, '/old')])
    await fresh.pool.query(
      'update webhook_request set stored_bytes = null where endpoint_id = $1',
      [endpoint],
    )
    await clearRequests(fresh.db, account, endpoint)
    expect(await usageOf(account)).toBeLessThan(100)
  })
})

describe('an account beyond its quota', () => {
  it('loses its oldest requests of all endpoints, and other accounts lose none', async () => {
    const [alice, bob] = [await addWorkspace(), await addWorkspace()]
    const [one, other, bobs] = [
      await addEndpoint(alice),
      await addEndpoint(alice),
      await addEndpoint(bob),
    ]
    await insert([request(bobs, '/bob')])
    for (let index = 0; index < 14; index++)
      await insert([request(index % 3 === 0 ? one : other, `/${index}`)])
    const perRequest = storedBytes(request(one, '/10'))
    await trimToQuotas(deps(), new Map())
    const kept = Math.floor(LIMIT / perRequest)
    expect(await pathsOf(one, other)).toEqual(
      Array.from({ length: kept }, (_, index) => `/${14 - kept + index}`),
    )
    expect(await usageOf(alice)).toBeLessThanOrEqual(LIMIT)
    expect(await pathsOf(bobs)).toEqual(['/bob'])
  })

  it('loses the oldest of all its workspaces, although each of them is within its own', async () => {
    const alice = await addWorkspace()
    const second = await addWorkspaceOf(alice)
    const [one, other] = [await addEndpoint(alice), await addEndpoint(second)]
    for (let index = 0; index < 14; index++)
      await insert([request(index % 2 === 0 ? one : other, `/${index}`)])
    // As after a capture in one of them.
    await trimToQuotas(deps(), new Map(), { workspaceIds: [second] })
    const kept = Math.floor(LIMIT / storedBytes(request(one, '/10')))
    expect(await pathsOf(one, other)).toEqual(
      Array.from({ length: kept }, (_, index) => `/${14 - kept + index}`),
    )
    for (const id of [alice, second])
      expect(await titles(id)).toEqual(['The oldest captured webhooks are being removed'])
  })

  it('keeps more on a larger plan', async () => {
    const account = await addWorkspace('pro')
    const endpoint = await addEndpoint(account)
    await insert(Array.from({ length: 14 }, (_, index) => request(endpoint, `/${index}`)))
    await trimToQuotas(deps(), new Map())
    expect(await pathsOf(endpoint)).toHaveLength(14)
  })

  it('gets an alert at 80% and when removal begins, once each', async () => {
    const account = await addWorkspace()
    const endpoint = await addEndpoint(account)
    const trim = () => trimToQuotas(deps(), new Map())
    await insert(Array.from({ length: 7 }, (_, index) => request(endpoint, `/${index}`)))
    await trim()
    expect(await titles(account)).toEqual([])
    await insert([request(endpoint, '/7')])
    await trim()
    await trim()
    expect(await titles(account)).toEqual(['Storage for captured webhooks is almost full'])
    await insert(Array.from({ length: 5 }, (_, index) => request(endpoint, `/more/${index}`)))
    for (let index = 0; index < 3; index++) {
      await insert([request(endpoint, `/again/${index}`)])
      await trim()
    }
    expect(await titles(account)).toEqual([
      'Storage for captured webhooks is almost full',
      'The oldest captured webhooks are being removed',
    ])
  })

  it('is trimmed by two instances at once no further than by one', async () => {
    const account = await addWorkspace()
    const endpoint = await addEndpoint(account)
    await insert(Array.from({ length: 40 }, (_, index) => request(endpoint, `/${index}`)))
    await Promise.all(Array.from({ length: 4 }, () => trimToQuotas(deps(), new Map())))
    expect(await usageOf(account)).toBe(await storedOf(account))
    expect(await usageOf(account)).toBeGreaterThan(LIMIT - storedBytes(request(endpoint, '/10')))
  })

  it('is trimmed soon after a capture, and by the job after an instance died', async () => {
    const account = await addWorkspace()
    const endpoint = await addEndpoint(account)
    const trimming = startTrimming({ ...deps(), log: createLog('silent') })
    trimming.captured(
      await insert(Array.from({ length: 14 }, (_, index) => request(endpoint, `/${index}`))),
    )
    await expect.poll(() => usageOf(account)).toBeLessThanOrEqual(LIMIT)
    await trimming.close()
    await insert(Array.from({ length: 14 }, (_, index) => request(endpoint, `/later/${index}`)))
    await webhookCleanUpJob(deps()).run({}, jobContext())
    expect(await usageOf(account)).toBeLessThanOrEqual(LIMIT)
    expect((await pathsOf(endpoint)).every((path) => path.startsWith('/later/'))).toBe(true)
  })
})
