import { sql } from 'kysely'
import type { ClientBase } from 'pg'
import { afterEach, expect, it } from 'vitest'
import { isUnavailable, openDatabase, requireSupported } from '../../src/store/database.ts'
import { emptyDatabase, type FreshDatabase } from '../database.ts'
import { startPostgres } from '../servers/postgres.ts'
import { startProxy } from '../servers/proxy.ts'

let fresh: FreshDatabase | undefined

afterEach(async () => {
  await fresh?.drop()
  fresh = undefined
})

it('uses camelCase outside and keeps the keys of JSON', async () => {
  fresh = await emptyDatabase()
  const { rows } =
    await sql`select 1 as first_column, '{"some_key": 1}'::jsonb as the_json`.execute(fresh.db)
  expect(rows).toEqual([{ firstColumn: 1, theJson: { some_key: 1 } }])
})

it('keeps its connections when callers give up waiting for one', { timeout: 60_000 }, async () => {
  fresh = await emptyDatabase()
  const { searchParams, pathname } = new URL(fresh.url)
  const proxy = await startProxy(`${searchParams.get('host')}/.s.PGSQL.5432`)
  const url = `postgres://postgres@127.0.0.1:${proxy.port}${pathname}`
  const { pool } = openDatabase(url, { max: 1 })
  pool.options.connectionTimeoutMillis = 400
  // Over this range the deadline passes before, during and after the statements that set up a
  // connection.
  for (const roundTrip of [160, 240, 280, 320, 360]) {
    proxy.roundTrip = 0
    const held = await pool.connect()
    const waiting = pool.connect().then(
      (client) => client.release(true),
      (error: unknown) => expect(isUnavailable(error)).toBe(true),
    )
    proxy.roundTrip = roundTrip
    held.release(true)
    await waiting
    // What was being set up when the caller gave up is in the pool, or gone.
    await expect.poll(() => pool.totalCount - pool.idleCount).toBe(0)
  }
  await pool.end()
  expect(pool.totalCount).toBe(0)
  await proxy.close()
})

it('reads a bigint as a number, and rejects one that does not fit', async () => {
  fresh = await emptyDatabase()
  const { rows } = await fresh.pool.query(
    'select 9007199254740991::bigint as most, count(*) as counted',
  )
  expect(rows).toEqual([{ most: Number.MAX_SAFE_INTEGER, counted: 1 }])
  await expect(fresh.pool.query('select 9007199254740992::bigint')).rejects.toThrow(
    'beyond what a number holds',
  )
})

it('reads a day as the day it is, whatever our time zone', async () => {
  fresh = await emptyDatabase()
  const { rows } = await fresh.pool.query(`select date '2026-11-21' as day`)
  expect(rows).toEqual([{ day: '2026-11-21' }])
})

it('knows a database that is away from a statement that is wrong', async () => {
  fresh = await emptyDatabase()
  expect(isUnavailable(await failure(fresh.url, 'select 1 +'))).toBe(false)
  expect(isUnavailable(await failure(fresh.url, 'select 1 / 0'))).toBe(false)
  expect(
    isUnavailable(await failure(fresh.url, 'select pg_terminate_backend(pg_backend_pid())')),
  ).toBe(true)
  expect(isUnavailable(await failure('postgres://nobody@127.0.0.1:1/none', 'select 1'))).toBe(true)
  expect(isUnavailable(await failure('postgres://nobody@localhost:1/none', 'select 1'))).toBe(true)
  expect(
    isUnavailable(await failure('postgres://nobody@localhost/none?host=/nowhere', 'select 1')),
  ).toBe(true)
})

it('survives a server that stops, and reports it as unavailable meanwhile', async () => {
  const server = await startPostgres('embedded')
  const { db, close } = openDatabase(server.url)
  await sql`select 1`.execute(db)
  await server.stop()
  const error: unknown = await sql`select 1`.execute(db).catch((thrown: unknown) => thrown)
  expect(isUnavailable(error)).toBe(true)
  await close()
  expect(isUnavailable(await sql`select 1`.execute(db).catch((thrown: unknown) => thrown))).toBe(
    true,
  )
})

it('does not treat a missing file or a Fault as an unavailable database', () => {
  expect(
    isUnavailable(Object.assign(new Error('no such file'), { code: 'ENOENT', syscall: 'open' })),
  ).toBe(false)
  expect(
    isUnavailable(
      new Error('unique', { cause: Object.assign(new Error('dup'), { code: '23505' }) }),
    ),
  ).toBe(false)
  expect(isUnavailable('ECONNREFUSED')).toBe(false)
})

it('rejects a server that is too old, with an error', async () => {
  await expect(requireSupported(serverOf('14.23 (Debian 14.23-1)'))).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/PostgreSQL 14.23 .* needs 15 or later/),
  })
  await requireSupported(serverOf('15.0'))
  await requireSupported(serverOf('19beta1'))
})

function serverOf(version: string): ClientBase {
  return { query: async () => ({ rows: [{ version }] }) } as unknown as ClientBase
}

async function failure(url: string, statement: string): Promise<unknown> {
  const { pool, close } = openDatabase(url)
  try {
    return await pool.query(statement).catch((error: unknown) => error)
  } finally {
    await close()
  }
}
