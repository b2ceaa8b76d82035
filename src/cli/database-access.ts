import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Kysely } from 'kysely'
import { currentInstallation, readConfig, requireSettings, type Config } from '../config.ts'
import { Fault } from '../errors.ts'
import { SYSTEM_FILE } from '../installation.ts'
import type { Database } from '../store/database.ts'
import { reachEmbedded, type Embedded } from '../store/embedded.ts'
import { userOf } from '../store/embedded/database-user.ts'
import { databaseIn } from '../store/embedded/upgrade.ts'
import { openMigrated } from '../store/migrate-schema.ts'
import type { DB } from '../store/tables.ts'
import { createCommandLog } from './terminal-log.ts'

type Work<T> = (db: Kysely<DB>, config: Config) => Promise<T>

/**
 * Runs work on the database, with or without the running service. A stopped embedded database is
 * started for the work.
 * @param mayCreate whether an embedded database is created where none exists
 * @throws Fault `unavailable` when the database does not answer, `not_found` when there is none
 */
export async function withDatabase<T>(work: Work<T>, { mayCreate = false } = {}): Promise<T> {
  requireSettings()
  const config = readConfig()
  if (!mayCreate && !config.DATABASE_URL) requireDatabase(config)
  const { server, database } = config.DATABASE_URL
    ? { server: null, database: await openMigrated(config.DATABASE_URL) }
    : await openEmbedded({ dataDir: config.DATA_DIR, log: createCommandLog(config) })
  try {
    return await work(database.db, config)
  } finally {
    await database.close()
    await server?.stop()
  }
}

/** The service may stop its database before the command is connected to it. */
const MAX_ATTEMPTS = 5

async function openEmbedded(
  options: Parameters<typeof reachEmbedded>[0],
): Promise<{ server: Embedded; database: Database }> {
  for (let attempt = 1; ; attempt++) {
    const server = await reachEmbedded(options)
    try {
      return { server, database: await openMigrated(server.url) }
    } catch (error) {
      await server.stop()
      const isRepeatable = error instanceof Fault && error.code === 'unavailable'
      if (!isRepeatable || attempt === MAX_ATTEMPTS) throw error
    }
  }
}

/**
 * Requires an existing database: in the wrong folder, a new and empty one would have no accounts.
 * @throws Fault `not_found`
 */
export function requireDatabase({ DATA_DIR }: Config): void {
  if (databaseIn(DATA_DIR) !== null) return
  requireAccess(DATA_DIR)
  const sentence = `No database found in ${resolve(DATA_DIR)}.`
  const suggestion =
    currentInstallation().file === SYSTEM_FILE
      ? 'systemctl start portreeve, whose first start creates it'
      : 'run this command in the folder of the service, or set DATA_DIR or DATABASE_URL'
  throw new Fault('not_found', sentence, { suggestion })
}

/** A folder that this user may not enter seems to have no database. @throws Fault `forbidden` */
function requireAccess(folder: string): void {
  if (!existsSync(folder)) return
  try {
    accessSync(folder, constants.R_OK | constants.X_OK)
  } catch (cause) {
    const { uid, gid } = statSync(folder)
    const { name } = userOf(uid, gid)
    const suggestion = `the same command as root or ${name}, such as sudo portreeve …`
    throw new Fault('forbidden', `${folder} belongs to ${name}.`, { cause, suggestion })
  }
}
