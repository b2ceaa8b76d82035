import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { newUuid, newUuidBytes } from '../../src/store/uuid.ts'
import { freshDatabase } from '../database.ts'

const IDS = 100_000
const VERSION_7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

/** The number of ids that are not after the one before. */
const countInversions = (ids: string[]) =>
  ids.filter((id, index) => index > 0 && id <= (ids[index - 1] as string)).length

/** The milliseconds since 1970 in an id. */
const timeOf = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)

describe('an id made by the process', () => {
  // Later than any clock that other tests set.
  let now: number
  beforeAll(() => {
    now = timeOf(newUuid()) + 1_000_000
  })
  afterEach(() => vi.restoreAllMocks())
  const stopClock = (time: number) => vi.spyOn(Date, 'now').mockReturnValue(time)

  it('is of version 7 and has the time', () => {
    stopClock((now += 1))
    const id = newUuid()
    expect(id).toMatch(VERSION_7)
    expect(timeOf(id)).toBe(now)
  })

  it('sorts after the ids before, also within a millisecond', () => {
    stopClock((now += 1))
    const ids = Array.from({ length: IDS }, () => newUuidBytes().toString('hex'))
    expect(countInversions(ids)).toBe(0)
    now = timeOf(ids.at(-1) as string)
  })

  it('sorts after the ids before when the clock is set back', () => {
    stopClock((now += 1))
    const before = newUuid()
    stopClock(now - 60_000)
    const during = newUuid()
    stopClock((now += 1))
    expect(countInversions([before, during, newUuid()])).toBe(0)
  })

  it('is as far ahead of the clock as the counter requires', () => {
    stopClock((now += 1))
    const ids = Array.from({ length: 4_097 }, newUuid)
    expect([ids[4_095], ids[4_096]].map((id) => timeOf(id as string) - now)).toEqual([0, 1])
    now += 1
  })
})

describe('an id made by the database', () => {
  it('sorts after the ids before of its connection, also in one statement', async () => {
    const fresh = await freshDatabase()
    const client = await fresh.pool.connect()
    try {
      await client.query('create temporary table made (n int, id uuid default uuid_v7())')
      for (const statement of [
        `insert into made select n from generate_series(1, ${IDS}) n`,
        `insert into made select ${IDS} + n from generate_series(1, 1000) n order by n`,
        `insert into made (n) values (${IDS + 1_001}), (${IDS + 1_002})`,
      ])
        await client.query(statement)
      const { rows } = await client.query<{ id: string }>('select id from made order by n')
      const ids = rows.map(({ id }) => id)
      expect(ids.length).toBe(IDS + 1_002)
      expect(ids[0]).toMatch(VERSION_7)
      expect(countInversions(ids)).toBe(0)
    } finally {
      client.release()
      await fresh.drop()
    }
  })

  it('sorts after the ids before when the clock is set back, and has the time again later', async () => {
    const fresh = await freshDatabase()
    const client = await fresh.pool.connect()
    const make = async () =>
      (await client.query<{ id: string }>('select uuid_v7() as id')).rows[0]?.id ?? ''
    try {
      expect(Math.abs(timeOf(await make()) - Date.now())).toBeLessThan(60_000)
      // As if ids had been made while the clock was an hour ahead.
      const ahead = (Date.now() + 3_600_000) * 4_096
      await client.query(`select set_config('portreeve.uuid_time', $1, false)`, [String(ahead)])
      const ids = [await make(), await make(), await make()]
      expect(countInversions(ids)).toBe(0)
      expect(timeOf(ids[0] as string)).toBe(ahead / 4_096)
      await client.query('reset portreeve.uuid_time')
      expect(Math.abs(timeOf(await make()) - Date.now())).toBeLessThan(60_000)
    } finally {
      client.release()
      await fresh.drop()
    }
  })
})
