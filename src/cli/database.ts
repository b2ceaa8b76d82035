import type { Kysely } from 'kysely'
import { readConfig, type Config } from '../config.ts'
import { createLog } from '../log.ts'
import { reachEmbedded } from '../store/embedded.ts'
import { openMigrated } from '../store/migrate.ts'
import type { DB } from '../store/tables.ts'

/**
 * Works on the database, beside the running service or without it: where it is the embedded one and does not run, it
 * runs for this moment.
 * @throws Fault `unavailable` when the database does not answer
 */
export async function withDatabase<T>(work: (db: Kysely<DB>, config: Config) => Promise<T>): Promise<T> {
  const config = readConfig()
  // Standard output belongs to the command's result.
  const log = createLog('warn', process.stderr)
  const server = config.DATABASE_URL ? null : await reachEmbedded({ dataDir: config.DATA_DIR, log })
  try {
    return await workOn(config.DATABASE_URL ?? server?.url ?? '', (db) => work(db, config))
  } finally {
    await server?.stop()
  }
}

async function workOn<T>(url: string, work: (db: Kysely<DB>) => Promise<T>): Promise<T> {
  const database = await openMigrated(url)
  try {
    return await work(database.db)
  } finally {
    await database.close()
  }
}
