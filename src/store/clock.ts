import { setTimeout as sleep } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import { messageOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { DB } from './tables.ts'
import { MINUTE_MS } from '../time.ts'

/** A column whose timestamps are at most this far ahead while clocks are right. */
export type FutureTimestamp = {
  table: string
  column: string
  /** Seconds ahead. */
  maxAheadSeconds: number
  /** The clock it is compared with. */
  clock: 'database' | 'service'
  /** SQL condition of the rows concerned; all rows without it. */
  where?: string
  /** The column contains milliseconds since 1970 as a number. */
  isNumber?: true
}

/** Columns that are compared with one clock: table, column, seconds ahead, and the rows concerned. */
export function futureTimestamps(
  clock: FutureTimestamp['clock'],
  columns: readonly (readonly [table: string, column: string, seconds: number, where?: string])[],
): FutureTimestamp[] {
  return columns.map(([table, column, maxAheadSeconds, where = 'true']) => ({
    table,
    column,
    maxAheadSeconds,
    clock,
    where,
  }))
}

/**
 * Reduces timestamps that are too far ahead. After a clock that ran ahead is corrected, everything
 * due, claimed or counted would otherwise wait until that time is reached again. Does nothing while
 * clocks are right.
 */
export async function clampFutureTimestamps(
  db: Kysely<DB>,
  moments: FutureTimestamp[],
): Promise<void> {
  for (const moment of moments) {
    const column = sql.ref(moment.column)
    const limit = limitOf(moment)
    const rows = sql.raw(moment.where ?? 'true')
    await sql`update ${sql.table(moment.table)} set ${column} = ${limit} where ${column} > ${limit} and ${rows}`.execute(
      db,
    )
  }
}

function limitOf({ maxAheadSeconds, clock, isNumber }: FutureTimestamp) {
  const now = clock === 'service' ? sql`${new Date()}::timestamptz` : sql`now()`
  const limit = sql`(${now} + make_interval(secs => ${maxAheadSeconds}))`
  return isNumber ? sql`(extract(epoch from ${limit}) * 1000)::bigint` : limit
}

/** Milliseconds between two comparisons of the clocks. */
const CHECK_INTERVAL_MS = 10_000
/**
 * Milliseconds by which a clock may move or differ: NTP adjusts it gradually, and the query takes
 * time.
 */
const TOLERANCE_MS = 2_000
/** Milliseconds between the clocks of service and database above which a warning is logged. */
const MAX_DIFFERENCE_MS = MINUTE_MS

/** Milliseconds by which the clocks of service and database are ahead of the monotonic clock. */
type Reading = { service: number; database: number }

type Watched = { db: Kysely<DB>; log: Logger; onClockChange: () => Promise<void> }

/**
 * Compares the clocks of service and database with the monotonic clock.
 * @param onClockChange called at the start, when one of them jumps, and repeatedly while they are
 *   more than a minute apart
 * @returns stops it
 */
export function watchClocks({ db, log, onClockChange }: Watched): () => Promise<void> {
  const stopping = new AbortController()
  let known: Reading | null = null

  async function look(): Promise<void> {
    const reading = await readClocks(db)
    // A database that responds slowly tells too little about its clock.
    if (!reading) return
    const moved = known && largestShift(known, reading)
    if (moved !== null && Math.abs(moved) > TOLERANCE_MS)
      log.warn({ seconds: Math.round(moved / 1000) }, 'a clock was set')
    const isApart = Math.abs(reading.service - reading.database) > MAX_DIFFERENCE_MS
    if (moved === null || Math.abs(moved) > TOLERANCE_MS || isApart) await onClockChange()
    // Set last, so that a failure is repeated at the next comparison.
    known = reading
  }

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      await look().catch((error: unknown) =>
        log.debug(`the clocks could not be compared: ${messageOf(error)}`),
      )
      await sleep(CHECK_INTERVAL_MS, undefined, { signal: stopping.signal, ref: false }).catch(
        () => {},
      )
    }
  }

  const watching = watch()
  return async () => {
    stopping.abort()
    await watching
  }
}

async function readClocks(db: Kysely<DB>): Promise<Reading | null> {
  const before = performance.now()
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db)
  const after = performance.now()
  const now = rows[0]?.now.getTime() ?? NaN
  return after - before > TOLERANCE_MS
    ? null
    : { service: Date.now() - after, database: now - (before + after) / 2 }
}

/** The larger of the two clock changes. */
function largestShift(before: Reading, after: Reading): number {
  const [service, database] = [after.service - before.service, after.database - before.database]
  return Math.abs(service) > Math.abs(database) ? service : database
}
