import { sql } from 'kysely'
import { DAY_SECONDS } from '../time.ts'
import type { Db } from './database.ts'

/** Rows that are deleted when the moment in one of their columns is long enough ago. */
export type Retention = {
  table: string
  /** A timestamp, or a date, which means its begin. */
  column: string
  /** Days after that moment; 0 for the time at which a row expires. */
  days: number
  /** The column contains milliseconds since 1970 as a number. */
  isNumber?: true
  /** SQL condition of the rows concerned; all rows without it. */
  where?: string
}

/** Rows of one statement, so that each is short. */
const BATCH_ROWS = 5_000

/**
 * Deletes the rows whose time has passed, in several statements.
 * @param signal ends it between two statements
 * @returns how many were deleted
 */
export async function deleteExpired(
  db: Db,
  { table, column, days, isNumber, where = 'true' }: Retention,
  signal?: AbortSignal,
): Promise<number> {
  const moment = sql`now() - make_interval(secs => ${days * DAY_SECONDS})`
  const limit = isNumber ? sql`extract(epoch from ${moment}) * 1000` : moment
  let deleted = 0
  for (;;) {
    const { numAffectedRows } = await sql`
      delete from ${sql.table(table)} where ctid = any(array(
        select ctid from ${sql.table(table)}
        where ${sql.ref(column)} < ${limit} and ${sql.raw(where)}
        limit ${BATCH_ROWS}))`.execute(db)
    const some = Number(numAffectedRows ?? 0)
    deleted += some
    if (some < BATCH_ROWS || signal?.aborted) return deleted
  }
}
