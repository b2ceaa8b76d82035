import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { insertWorkspace } from '../../src/accounts/workspaces/workspaces.sql.ts'
import { raiseAlert, type NewAlert } from '../../src/alerts/raise.ts'
import { createLog } from '../../src/log.ts'
import { insertEndpoint } from '../../src/webhooks/endpoints/endpoints.sql.ts'
import {
  readSpace,
  relieveDisk,
  shareReduction,
  type DiskOptions,
} from '../../src/webhooks/retention/disk.ts'
import { listUsage } from '../../src/webhooks/retention/capture-retention.sql.ts'
import { newEndpointToken } from '../../src/webhooks/endpoint-token.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { addAccount as insertPerson, passwordOf } from '../people.ts'
import { startWebhooks } from './module.ts'

const BODY_BYTES = 100_000
const MANY_BYTES = 10 ** 15

let fresh: FreshDatabase
beforeAll(async () => void (fresh = await freshDatabase()))
afterAll(() => fresh.drop())
afterEach(async () => {
  await fresh.pool.query(
    'truncate webhook_request, webhook_endpoint cascade; delete from workspace; delete from account',
  )
})

async function addAccount(name: string, admin = false): Promise<string> {
  const person = {
    email: `${name}@people.test`,
    password: passwordOf('Alice'),
    plan: 'free' as const,
    admin,
  }
  return (await insertPerson(fresh.db, person)).id
}

/** Creates an endpoint with a number of requests, counted like captures. */
async function endpointWith(workspaceId: string, requests: number): Promise<string> {
  const { id } = await insertEndpoint(fresh.db, { workspaceId, token: newEndpointToken() })
  await fresh.pool.query(
    `insert into webhook_request (id, endpoint_id, method, path, query, headers, ip, body, body_size, received_at,
       duration_ms, http_version, preflight, aborted, stored_bytes)
     select gen_random_uuid(), $1, 'POST', '/' || n, '', '[]', '192.0.2.1', convert_to(repeat('x', $3), 'UTF8'), $3,
       now(), 0, '1.1', false, false, $3 from generate_series(1, $2) as n`,
    [id, requests, BODY_BYTES],
  )
  await fresh.pool.query('update webhook_endpoint set captured_bytes = $2 where id = $1', [
    id,
    requests * BODY_BYTES,
  ])
  return id
}

async function pathsOf(endpointId: string): Promise<string[]> {
  const { rows } = await fresh.pool.query<{ path: string }>(
    'select path from webhook_request where endpoint_id = $1 order by seq',
    [endpointId],
  )
  return rows.map(({ path }) => path)
}

const paths = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `/${from + index}`)

/** Checks the space once, and returns the alerts with their accounts. */
async function relieve(options: Partial<DiskOptions>) {
  const alerts: NewAlert[] = []
  const removed: number[] = []
  await relieveDisk({
    db: fresh.db,
    log: createLog('silent'),
    options: {
      DATABASE_URL: undefined,
      DATA_DIR: tmpdir(),
      MIN_FREE_DISK_BYTES: undefined,
      MAX_DATABASE_BYTES: undefined,
      ...options,
    },
    raise: async (alert) => {
      alerts.push(alert)
      await raiseAlert(fresh.db, alert)
    },
    onRemoved: (_reason, requests) => void removed.push(requests),
  })
  return { alerts, removed: removed.reduce((sum, count) => sum + count, 0) }
}

const databaseSize = async () => {
  const { rows } = await fresh.pool.query<{ size: number }>(
    'select pg_database_size(current_database())::float8 as size',
  )
  return rows[0]?.size ?? 0
}

describe('a disk that is almost full', () => {
  it('loses the oldest captures, but never the newest ten of an endpoint, and alerts administrators and owners', async () => {
    const [ada, alice, bob] = [
      await addAccount('ada', true),
      await addAccount('alice'),
      await addAccount('bob'),
    ]
    const [many, few] = [await endpointWith(alice, 30), await endpointWith(bob, 5)]
    const { alerts, removed } = await relieve({ MIN_FREE_DISK_BYTES: MANY_BYTES })
    expect([await pathsOf(many), await pathsOf(few)]).toEqual([paths(21, 30), paths(1, 5)])
    expect(removed).toBe(20)
    expect(alerts.map(({ workspaceId, kind }) => [workspaceId, kind])).toEqual([
      [ada, 'storage.disk'],
      [alice, 'storage.captures'],
    ])
    expect(alerts[0]?.text).toMatch(/are free, and .+ should be/)
  })

  it('frees the space of removed captures for the next ones', async () => {
    const alice = await addAccount('alice')
    await endpointWith(alice, 60)
    await relieve({ MIN_FREE_DISK_BYTES: MANY_BYTES })
    const before = await databaseSize()
    await endpointWith(alice, 40)
    expect((await databaseSize()) - before).toBeLessThan(0.25 * 40 * BODY_BYTES)
  })

  it('is unchanged while enough space is free', async () => {
    const alice = await addAccount('alice', true)
    const endpoint = await endpointWith(alice, 30)
    const { bavail, bsize } = await statfs(tmpdir())
    const { alerts, removed } = await relieve({
      MIN_FREE_DISK_BYTES: Math.min(1_000, bavail * bsize),
    })
    expect([alerts, removed, await pathsOf(endpoint)]).toEqual([[], 0, paths(1, 30)])
  })

  it('is measured where the embedded database is, and nowhere else', async () => {
    const options = {
      DATA_DIR: tmpdir(),
      MIN_FREE_DISK_BYTES: undefined,
      MAX_DATABASE_BYTES: undefined,
    }
    const { blocks, bsize } = await statfs(tmpdir())
    expect(await readSpace(fresh.db, { ...options, DATABASE_URL: undefined })).toMatchObject({
      freeBytes: expect.any(Number),
      wantedBytes: Math.min(0.1 * blocks * bsize, 2_000_000_000),
    })
    expect(await readSpace(fresh.db, { ...options, DATABASE_URL: fresh.url })).toBeNull()
  })
})

describe('a database that reaches MAX_DATABASE_BYTES', () => {
  it('loses captures of the largest account first, no more than necessary, and not twice for the same shortage', async () => {
    const [alice, bob] = [await addAccount('alice'), await addAccount('bob')]
    const [many, few] = [await endpointWith(alice, 100), await endpointWith(bob, 20)]
    // So much that about forty of the requests are too many.
    const missing = 40 * BODY_BYTES
    const size = await databaseSize()
    const limits = { DATABASE_URL: fresh.url, MAX_DATABASE_BYTES: Math.ceil(size - missing) }
    const wanted = Math.min(0.1 * limits.MAX_DATABASE_BYTES, 2_000_000_000)
    const { removed } = await relieve(limits)
    expect(removed * BODY_BYTES).toBeGreaterThan(0.8 * (missing + wanted))
    expect(removed * BODY_BYTES).toBeLessThan(1.2 * (missing + wanted))
    expect(await pathsOf(many)).toEqual(paths(removed + 1, 100))
    expect(await pathsOf(few)).toEqual(paths(1, 20))
    // The database may still grow by a few pages: VACUUM and autovacuum create maps and statistics.
    expect((await relieve(limits)).removed).toBeLessThan(removed / 8)
    const usages = await listUsage(fresh.db, [alice, bob])
    expect(usages.find(({ workspaceId }) => workspaceId === bob)?.bytes).toBe(20 * BODY_BYTES)
  })

  it('counts all workspaces of an account together', async () => {
    const [alice, bob] = [await addAccount('alice'), await addAccount('bob')]
    const workspaces = [alice]
    for (let n = 0; n < 4; n++) {
      const workspace = { name: `Number ${n}`, plan: 'free' as const, createdBy: alice }
      const { id } = await fresh.db.transaction().execute((trx) => insertWorkspace(trx, workspace))
      workspaces.push(id)
    }
    for (const id of workspaces) await endpointWith(id, 30)
    const honest = await endpointWith(bob, 50)
    const limits = {
      DATABASE_URL: fresh.url,
      MAX_DATABASE_BYTES: Math.ceil((await databaseSize()) - 10 * BODY_BYTES),
    }
    const { alerts, removed } = await relieve(limits)
    expect(removed).toBeGreaterThan(10)
    expect(await pathsOf(honest)).toEqual(paths(1, 50))
    const owners = alerts.filter(({ kind }) => kind === 'storage.captures')
    expect(workspaces).toEqual(expect.arrayContaining(owners.map((alert) => alert.workspaceId)))
  })

  it('is watched by a running service', async () => {
    const portreeve = await startWebhooks({ MAX_DATABASE_BYTES: '1000' })
    try {
      const admin = await portreeve.portreeve.addPerson('Ada', { admin: true })
      const raised = async () => {
        const answer = await portreeve.portreeve.request('/api/v1/alerts?kind=storage', {
          token: admin.token,
        })
        return ((await answer.json()) as { data: { alerts: { title: string }[] } }).data.alerts.map(
          ({ title }) => title,
        )
      }
      await expect
        .poll(raised, { timeout: 30_000, interval: 500 })
        .toEqual(['The database is running out of space'])
    } finally {
      await portreeve.stop()
    }
  }, 60_000)
})

describe('the removed captures', () => {
  it.each([
    ['nothing, while nothing is missing', [5, 3], 0, {}],
    ['of the heaviest alone, down to the next', [10, 4, 1], 6, { a: 4 }],
    ['of the heaviest two, down to one level', [10, 6, 1], 8, { a: 4, b: 4 }],
    ['of all, where that is needed', [4, 4, 1], 9, { a: 0, b: 0, c: 0 }],
    ['of all, where even that is too little', [4, 2], 100, { a: 0, b: 0 }],
  ])('is %s', (_what, bytes, missing, expected) => {
    const usages = bytes.map((used, index) => ({ workspaceId: 'abc'[index] ?? '', bytes: used }))
    const found = shareReduction(usages, missing).map(({ workspaceId, limitBytes }) => [
      workspaceId,
      limitBytes,
    ])
    expect(Object.fromEntries(found)).toEqual(expected)
  })
})
