import { resolve } from 'node:path'
import type { Kysely } from 'kysely'
import { readConfig, type Config } from '../config.ts'
import { Fault } from '../errors.ts'
import { createLog } from '../log.ts'
import { reachEmbedded } from '../store/embedded.ts'
import { databaseIn } from '../store/embedded/upgrade.ts'
import { openMigrated } from '../store/migrate.ts'
import type { DB } from '../store/tables.ts'

type Work<T> = (db: Kysely<DB>, config: Config) => Promise<T>

/**
 * Works on the database, beside the running service or without it: where it is the embedded one and does not run, it
 * runs for this moment.
 * @param mayBegin whether an embedded database that does not exist yet is made
 * @throws Fault `unavailable` when the database does not answer, `not_found` when there is none
 */
export async function withDatabase<T>(work: Work<T>, { mayBegin = false } = {}): Promise<T> {
  const config = readConfig()
  if (!mayBegin && !config.DATABASE_URL) requireDatabase(config)
  // Standard output belongs to the command's result.
  const log = createLog('warn', process.stderr)
  const server = config.DATABASE_URL ? null : await reachEmbedded({ dataDir: config.DATA_DIR, log })
  try {
    return await workOn(config.DATABASE_URL ?? server?.url ?? '', (db) => work(db, config))
  } finally {
    await server?.stop()
  }
}

/**
 * In another folder than the service's, a new and empty database would answer that nobody is known.
 * @throws Fault `not_found`
 */
export function requireDatabase({ DATA_DIR }: Config): void {
  if (databaseIn(DATA_DIR) !== null) return
  const sentence = `There is no database under ${resolve(DATA_DIR)} yet. Run this where the service runs, or set DATA_DIR or DATABASE_URL.`
  throw new Fault('not_found', sentence)
}

async function workOn<T>(url: string, work: (db: Kysely<DB>) => Promise<T>): Promise<T> {
  const database = await openMigrated(url)
  try {
    return await work(database.db)
  } finally {
    await database.close()
  }
}
