import { getMigrations } from 'better-auth/db/migration'
import { twoFactor } from 'better-auth/plugins/two-factor'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tables, TWO_FACTOR } from '../../src/accounts/sign-in/better-auth.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'

let database: FreshDatabase

/** The library warns about int8 for a number, which it knows only as “bigint”. */
const quiet = { logger: { disabled: true } }

beforeAll(async () => {
  database = await freshDatabase()
})

afterAll(() => database.drop())

describe('the tables of the migration', () => {
  it('match the models of the authentication library', async () => {
    const { toBeCreated, toBeAdded } = await getMigrations({
      ...quiet,
      ...tables({ DEFAULT_PLAN: 'free' }),
      plugins: [twoFactor(TWO_FACTOR)],
      database: database.pool,
    })
    expect({ toBeCreated, toBeAdded }).toEqual({ toBeCreated: [], toBeAdded: [] })
  })

  it('are checked by a test that finds missing columns', async () => {
    const options = {
      ...quiet,
      ...tables({ DEFAULT_PLAN: 'free' }),
      session: { modelName: 'seance' },
      database: database.pool,
    }
    const { toBeCreated } = await getMigrations(options)
    expect(toBeCreated.map(({ table }) => table)).toEqual(['seance'])
  })

  it('have ids that sort by time (RFC 9562, version 7)', async () => {
    const { rows } = await database.pool.query<{ id: string }>(
      'select uuid_v7() as id, pg_sleep(0.002) from generate_series(1, 5)',
    )
    const ids = rows.map(({ id }) => id)
    expect(ids.toSorted()).toEqual(ids)
    for (const id of ids)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(
      Math.abs(parseInt((ids[0] ?? '').replace('-', '').slice(0, 12), 16) - Date.now()),
    ).toBeLessThan(60_000)
  })
})
