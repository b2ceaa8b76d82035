import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Db } from '../../src/store/database.ts'
import { deleteEndpoint, insertEndpoint } from '../../src/webhooks/endpoints/endpoints.sql.ts'
import { deleteBeyond, vacuumRequests } from '../../src/webhooks/retention/capture-retention.sql.ts'
import { newEndpointToken } from '../../src/webhooks/endpoint-token.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { addAccount } from '../people.ts'

let fresh: FreshDatabase
let workspaceId: string
beforeAll(async () => {
  fresh = await freshDatabase()
  const account = {
    email: 'a@people.test',
    password: 'a long enough password',
    plan: 'pro' as const,
  }
  workspaceId = (await addAccount(fresh.db, account)).id
})
afterEach(() => fresh.pool.query('truncate webhook_request, webhook_endpoint cascade'))
afterAll(() => fresh.drop())

/** Creates an endpoint with a number of requests. */
async function endpointWith(count: number): Promise<string> {
  const { id } = await insertEndpoint(fresh.db, { workspaceId, token: newEndpointToken() })
  await capture(id, count)
  return id
}

async function capture(endpointId: string, count: number): Promise<void> {
  await fresh.pool.query(
    `insert into webhook_request (id, endpoint_id, method, path, query, headers, ip, body, body_size, received_at,
       duration_ms, http_version, preflight, aborted)
     select gen_random_uuid(), $1, 'GET', '', '', '[]', '192.0.2.1', '', 0, now(), 0, '1.1', false, false
     from generate_series(1, $2)`,
    [endpointId, count],
  )
}

async function numbersOf(endpointId: string): Promise<number[]> {
  const { rows } = await fresh.pool.query<{ seq: number }>(
    'select seq::int as seq from webhook_request where endpoint_id = $1 order by seq',
    [endpointId],
  )
  return rows.map(({ seq }) => seq)
}

describe('trimming', () => {
  it('keeps the newest of each endpoint, and continues where it stopped', async () => {
    const [one, other] = [await endpointWith(5), await endpointWith(2)]
    const before = await numbersOf(one)
    const endpoints = [one, other].map((endpointId) => ({ endpointId, upTo: 0 }))
    expect(await deleteBeyond(fresh.db, endpoints, 3, 100)).toEqual([
      {
        endpointId: one,
        workspaceId: expect.any(String),
        upTo: before[1],
        compared: 2,
        firstPinned: null,
        deleted: 2,
        bytes: 404,
      },
    ])
    await capture(one, 2)
    const next = [{ endpointId: one, upTo: before[1] as number }]
    expect(await deleteBeyond(fresh.db, next, 3, 100)).toMatchObject([{ deleted: 2 }])
    expect(await numbersOf(one)).toHaveLength(3)
    expect(await numbersOf(other)).toHaveLength(2)
  })

  it('frees the space of deleted requests, if they are a large share of all', async () => {
    await endpointWith(1_000)
    await fresh.pool.query('analyze webhook_request')
    const vacuums = async () => {
      const { rows } = await fresh.pool.query<{ count: number }>(
        "select pg_stat_get_vacuum_count('webhook_request'::regclass)::int as count",
      )
      return rows[0]?.count ?? NaN
    }
    const before = await vacuums()
    expect([
      await vacuumRequests(fresh.db, { requests: 49, bytes: 0 }, 0.05),
      await vacuums(),
    ]).toEqual([false, before])
    expect([
      await vacuumRequests(fresh.db, { requests: 50, bytes: 0 }, 0.05),
      await vacuums(),
    ]).toEqual([true, before + 1])
  })

  it('runs concurrently with deleting endpoints, in any order', async () => {
    const [one, other] = [await endpointWith(10), await endpointWith(10)]
    const endpoints = [one, other].map((endpointId) => ({ endpointId, upTo: 0 }))
    const trimmed = await fresh.db.transaction().execute(async (trx) => {
      await removeEndpoint(trx, other)
      const trimming = deleteBeyond(fresh.db, endpoints, 5, 100)
      await untilOneWaits()
      await removeEndpoint(trx, one)
      return { trimming }
    })
    await trimmed.trimming
    expect([await numbersOf(one), await numbersOf(other)]).toEqual([[], []])
  })
})

const removeEndpoint = (db: Db, id: string) => deleteEndpoint(db, workspaceId, id)

/** Waits until a statement waits for a lock. */
async function untilOneWaits(): Promise<void> {
  await expect
    .poll(async () => {
      const { rows } = await fresh.pool.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      )
      return rows.length
    })
    .toBe(1)
}
