import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { insertEndpoint } from '../../src/webhooks/endpoints/endpoints.sql.ts'
import type { CapturedRequest } from '../../src/webhooks/requests/captured-request.ts'
import { createRequestInsert } from '../../src/webhooks/requests/captured-requests.sql.ts'
import { newUuidBytes } from '../../src/store/uuid.ts'
import { newEndpointToken } from '../../src/webhooks/endpoint-token.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'

const NOBODYS = '01a20432-548d-72e7-88f0-d3837e57301a'

let fresh: FreshDatabase
let workspaceId: string
let endpointId: string
beforeAll(async () => {
  fresh = await freshDatabase()
  const account = await createAccount(fresh.db, {
    email: 'a@people.test',
    password: 'a long enough password',
    plan: 'pro',
  })
  workspaceId = account.id
})
afterAll(() => fresh.drop())
beforeEach(async () => {
  endpointId = (await insertEndpoint(fresh.db, { workspaceId, token: newEndpointToken() })).id
})

const uuid = (bytes: Buffer) =>
  bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')

/** A request with something in each of its fields. */
function request(given: Partial<CapturedRequest> = {}): CapturedRequest {
  const receivedAt = new Date('2026-11-22T10:20:30.456Z')
  return {
    id: newUuidBytes(),
    endpointId,
    method: 'POST',
    path: '/a%20b',
    query: 'q=é',
    headers: [
      ['X-Twice', 'one'],
      ['x-twice', 'two \u00ff"\\'],
    ],
    trailers: [['X-End', '1']],
    ip: '2001:db8::1',
    body: Buffer.from([0, 1, 254, 255]),
    bodySize: 3_000_000_000,
    contentType: 'application/octet-stream',
    receivedAt,
    durationMs: 1.25,
    httpVersion: '1.1',
    preflight: true,
    aborted: true,
    rejected: 'why',
    responseStatus: 413,
    surplus: { size: 3, start: 'eHl6', responseStatus: 400 },
    answeredBy: { ruleId: endpointId, label: 'é', answer: 2, key: 'k', fault: 'close' },
    ...given,
  }
}

const kept = (id = endpointId) =>
  fresh.db
    .selectFrom('webhookRequest')
    .selectAll()
    .where('endpointId', '=', id)
    .orderBy('seq')
    .execute()

describe('captured requests', () => {
  it('are stored as they are, in the order in which they came', async () => {
    const bare = {
      query: '',
      trailers: null,
      contentType: null,
      rejected: null,
      responseStatus: null,
      surplus: null,
    }
    const requests = [
      request(),
      request({ ...bare, body: Buffer.alloc(0), ip: '192.0.2.7', preflight: false }),
    ]
    const found = await createRequestInsert(fresh.pool)(requests)
    expect([...found]).toEqual([[endpointId, workspaceId]])
    expect(await kept()).toMatchObject(requests.map((one) => ({ ...one, id: uuid(one.id) })))
  })

  it('of a deleted endpoint are not stored, but the others of the batch are', async () => {
    const found = await createRequestInsert(fresh.pool)([
      request({ endpointId: NOBODYS }),
      request(),
    ])
    expect([...found.keys()]).toEqual([endpointId])
    expect([await kept(NOBODYS), await kept()]).toMatchObject([[], [{}]])
  })

  it('of endpoints that are all gone are stored nowhere', async () => {
    expect(await createRequestInsert(fresh.pool)([request({ endpointId: NOBODYS })])).toEqual(
      new Map(),
    )
    expect(await kept(NOBODYS)).toEqual([])
  })

  it('are stored after one that could not be: a connection that was cut is replaced', async () => {
    const insert = createRequestInsert(fresh.pool)
    await insert([request()])
    await fresh.pool.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    const tried = await insert([request()]).then(
      () => 1,
      () => 0,
    )
    await insert([request()])
    expect(await kept()).toHaveLength(2 + tried)
  })
})
