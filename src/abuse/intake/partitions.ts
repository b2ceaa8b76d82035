import type { Kysely } from 'kysely'
import type { DB } from '../../store/tables.ts'
import { createPartitions, dropPartitions } from './intake.sql.ts'
import { DAY_MS, isoDay } from '../../time.ts'

/** Days for which partitions are created in advance: the nightly job may fail for a week. */
const DAYS_AHEAD = 7
/** Days for which reports are kept. */
const RETENTION_DAYS = 30

/** Creates the partitions of today and the next days. */
export async function ensurePartitions(db: Kysely<DB>, now: number): Promise<void> {
  const days = Array.from({ length: DAYS_AHEAD + 1 }, (_, ahead) => isoDay(now + ahead * DAY_MS))
  await db.transaction().execute((trx) => createPartitions(trx, days))
}

/** Drops reports of more than thirty days. @returns the partitions' names */
export async function dropOldPartitions(db: Kysely<DB>, now: number): Promise<string[]> {
  return db
    .transaction()
    .execute((trx) => dropPartitions(trx, isoDay(now - RETENTION_DAYS * DAY_MS)))
}
