import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createLog } from '../../src/log.ts'
import { clampFutureTimestamps, watchClocks } from '../../src/store/clock.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'

let fresh: FreshDatabase
const stops: (() => Promise<void>)[] = []

beforeAll(async () => {
  fresh = await freshDatabase()
  await fresh.pool.query(
    'create table lease (name text, until timestamptz, at_ms bigint, mine boolean not null default true)',
  )
})
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
  await fresh.pool.query('delete from lease')
})
afterAll(() => fresh.drop())

/** Seconds from now, by name. */
async function secondsLeft(): Promise<Record<string, number | null>> {
  const { rows } = await fresh.pool.query<{ name: string; left: number | null }>(
    'select name, round(extract(epoch from until - now()))::float8 as left from lease',
  )
  return Object.fromEntries(rows.map(({ name, left }) => [name, left]))
}

describe('times to come', () => {
  it('are reduced to their maximum, and no others are changed', async () => {
    await fresh.pool.query(`insert into lease (name, until, mine) values
      ('past', now() - interval '1 hour', true), ('right', now() + interval '1 minute', true), ('none', null, true),
      ('ahead', now() + interval '6 hours', true), ('not mine', now() + interval '6 hours', false)`)
    for (const clock of ['database', 'service'] as const) {
      await clampFutureTimestamps(fresh.db, [
        { table: 'lease', column: 'until', maxAheadSeconds: 300, clock, where: 'mine' },
      ])
    }
    const left = await secondsLeft()
    expect(left).toMatchObject({ past: -3600, none: null, 'not mine': 21_600 })
    expect(Math.abs((left['right'] ?? 0) - 60)).toBeLessThan(3)
    expect(Math.abs((left['ahead'] ?? 0) - 300)).toBeLessThan(3)
  })

  it('may be numbers', async () => {
    await fresh.pool.query("insert into lease values ('ahead', null, $1), ('right', null, 5)", [
      Date.now() + 1e8,
    ])
    await clampFutureTimestamps(fresh.db, [
      { table: 'lease', column: 'at_ms', maxAheadSeconds: 0, clock: 'service', isNumber: true },
    ])
    const { rows } = await fresh.pool.query<{ at: string }>(
      'select at_ms as at from lease order by 1 desc',
    )
    expect(Number(rows[0]?.at)).toBeLessThanOrEqual(Date.now())
    expect(Number(rows[0]?.at)).toBeGreaterThan(Date.now() - 10_000)
    expect(Number(rows[1]?.at)).toBe(5)
  })
})

describe('the clocks', () => {
  it('are compared at the start, because an earlier run may have left wrong timestamps', async () => {
    const moved = Promise.withResolvers<void>()
    stops.push(
      watchClocks({
        db: fresh.db,
        log: createLog('silent'),
        onClockChange: async () => moved.resolve(),
      }),
    )
    await moved.promise
  })
})
