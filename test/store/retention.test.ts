import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { retentionJobs } from '../../src/jobs/retention-jobs.ts'
import { deleteExpired } from '../../src/store/retention.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { jobContext } from '../jobs/context.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
  await sql`create table leaf (id int, fallen_at timestamptz, on_day date, at_ms bigint)`.execute(
    database.db,
  )
})
afterAll(() => database.drop())
beforeEach(() => sql`truncate leaf`.execute(database.db))

const LEAVES = { table: 'leaf', column: 'fallen_at', days: 2 }

/** One leaf for each number of hours since it fell. */
async function add(...hours: number[]): Promise<void> {
  await sql`insert into leaf select n, now() - make_interval(hours => n), (now() - make_interval(hours => n))::date,
    (extract(epoch from now()) * 1000)::bigint - n * 3600000::bigint
    from unnest(${hours}::int[]) n`.execute(database.db)
}

async function left(): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`select id from leaf order by id`.execute(database.db)
  return rows.map(({ id }) => id)
}

it('deletes rows whose time has passed, and no others', async () => {
  await add(1, 47, 49, 500)
  await sql`insert into leaf values (0, null)`.execute(database.db)
  expect(await deleteExpired(database.db, LEAVES)).toBe(2)
  expect(await left()).toEqual([0, 1, 47])
})

it('deletes only the rows of its condition', async () => {
  await add(49, 50)
  expect(await deleteExpired(database.db, { ...LEAVES, where: 'id <> 49' })).toBe(1)
  expect(await left()).toEqual([49])
})

it('reads milliseconds and days as well', async () => {
  await add(1, 47, 49)
  const numbers = { table: 'leaf', column: 'at_ms', days: 2, isNumber: true } as const
  expect(await deleteExpired(database.db, numbers)).toBe(1)
  await add(80)
  await deleteExpired(database.db, { table: 'leaf', column: 'on_day', days: 3 })
  expect(await left()).toEqual([1, 47])
})

it('deletes more rows than one statement does', async () => {
  await add(...Array.from({ length: 10_001 }, () => 60), 1)
  expect(await deleteExpired(database.db, LEAVES)).toBe(10_001)
  expect(await left()).toEqual([1])
})

it('deletes briefly kept rows every hour, and those of the other tables where one fails', async () => {
  const [nightly, hourly] = retentionJobs(database.db, [
    { table: 'missing', column: 'at', days: 0 },
    LEAVES,
    { table: 'leaf', column: 'fallen_at', days: 0.5, where: 'id = 13' },
  ])
  await add(13, 14, 60)
  await expect(hourly?.run({}, jobContext())).rejects.toThrow('missing')
  expect(await left()).toEqual([14, 60])
  await expect(nightly?.run({}, jobContext())).rejects.toThrow('missing')
  expect(await left()).toEqual([14])
})
