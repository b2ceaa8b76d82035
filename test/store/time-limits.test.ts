import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from 'kysely'
import type { FastifyError } from 'fastify'
import { toFault } from '../../src/http/error-answers.ts'
import {
  isDatabaseTimeout,
  isUnavailable,
  openLookups,
  openUnlimited,
  withStatementTimeout,
  STATEMENT_TIMEOUT_MS,
} from '../../src/store/database.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

type Limits = { statement: string; lock: string; idle: string }
const LIMITS = `select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
  current_setting('idle_in_transaction_session_timeout') as idle`

describe('time limits of the database', () => {
  it('apply to every connection of the pool and of lookups', async () => {
    const lookups = openLookups(database.pool, 2)
    for (const pool of [database.pool, lookups]) {
      const answers = await Promise.all(Array.from({ length: 5 }, () => pool.query<Limits>(LIMITS)))
      for (const { rows } of answers)
        expect(rows).toEqual([{ statement: '30s', lock: '20s', idle: '30s' }])
    }
    const { rows } = await lookups.query("select current_setting('enable_seqscan') as scan")
    expect(rows).toEqual([{ scan: 'off' }])
    await lookups.end()
  })

  it('do not apply to exempt work', async () => {
    const unlimited = openUnlimited(database.pool, 1)
    const { rows } = await unlimited.query<Limits>(LIMITS)
    expect(rows).toEqual([{ statement: '0', lock: '0', idle: '0' }])
    await unlimited.end()
  })

  it('are longer for one piece of work, and as before after it', async () => {
    const one = openUnlimited(database.pool, 1)
    await one.end()
    const read = sql<Limits>`select current_setting('statement_timeout') as statement`
    const within = await withStatementTimeout(
      database.db,
      90_000,
      async (db) => (await read.execute(db)).rows,
    )
    expect(within).toEqual([{ statement: '90s' }])
    for (let n = 0; n < 15; n += 1) {
      expect((await read.execute(database.db)).rows).toEqual([
        { statement: `${STATEMENT_TIMEOUT_MS / 1000}s` },
      ])
    }
  })

  it('cause 503, not 500, for a statement, a lock or an idle transaction', async () => {
    const slow = withStatementTimeout(database.db, 50, (db) => sql`select pg_sleep(60)`.execute(db))
    const canceled: unknown = await slow.catch((error: unknown) => error)
    expect(isDatabaseTimeout(canceled)).toBe(true)
    const fault = toFault(canceled as FastifyError, isUnavailable)
    expect([fault.status, fault.code, fault.retryAfter]).toEqual([503, 'unavailable', 10])

    const locked = await database.db.transaction().execute(async (holder) => {
      await sql`lock table account`.execute(holder)
      return database.db
        .transaction()
        .execute(async (trx) => {
          await sql`set local lock_timeout = '50ms'`.execute(trx)
          await sql`select from account`.execute(trx)
        })
        .catch((error: unknown) => error)
    })
    expect(isDatabaseTimeout(locked)).toBe(true)
  })
})
