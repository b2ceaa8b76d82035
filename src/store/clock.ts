import { setTimeout as sleep } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import { messageOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { DB } from './tables.ts'
import { MINUTE_MS } from '../time.ts'

/** A column with times that lie no further ahead than this while the clocks are right. */
export type FutureTimestamp = {
  table: string
  column: string
  /** Seconds. */
  maxAheadSeconds: number
  /** The clock that it is compared with: the database's, or the service's own. */
  clock: 'database' | 'service'
  /** The rows for which it holds, as SQL; without it all. */
  where?: string
  /** The column holds milliseconds since 1970 as a number. */
  isNumber?: true
}

/**
 * Brings times that lie further ahead than they can to where they may be: after a clock that was
 * ahead is set right, what is due, claimed or counted would stand still until it is as late again.
 * Does nothing while the clocks are right.
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

/** Milliseconds between two looks at the clocks. */
const CHECK_INTERVAL_MS = 10_000
/**
 * Milliseconds by which a clock may move or differ without a word: NTP moves it gently, and asking
 * takes time.
 */
const TOLERANCE_MS = 2_000
/** Beyond so much, the clocks of service and database differ enough to be told of. */
const MAX_DIFFERENCE_MS = MINUTE_MS

/**
 * How far the clocks of the service and of the database are ahead of one that nobody sets, in
 * milliseconds.
 */
type Reading = { service: number; database: number }

type Watched = { db: Kysely<DB>; log: Logger; onClockChange: () => Promise<void> }

/**
 * Compares the clocks of the service and of its database with one that nobody sets.
 * @param onClockChange called at the start, when one of them jumped, and again and again while they
 *   are more than a minute apart
 * @returns how to stop it
 */
export function watchClocks({ db, log, onClockChange }: Watched): () => Promise<void> {
  const stopping = new AbortController()
  let known: Reading | null = null

  async function look(): Promise<void> {
    const reading = await readClocks(db)
    // A database that takes its time to answer tells too little about its clock.
    if (!reading) return
    const moved = known && largestShift(known, reading)
    if (moved !== null && Math.abs(moved) > TOLERANCE_MS)
      log.warn({ seconds: Math.round(moved / 1000) }, 'a clock was set')
    const isApart = Math.abs(reading.service - reading.database) > MAX_DIFFERENCE_MS
    if (moved === null || Math.abs(moved) > TOLERANCE_MS || isApart) await onClockChange()
    // Only now: what failed is done at the next look.
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

/** By how much the clock moved that moved most. */
function largestShift(before: Reading, after: Reading): number {
  const [service, database] = [after.service - before.service, after.database - before.database]
  return Math.abs(service) > Math.abs(database) ? service : database
}
