import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { Fault, messageOf } from '../errors.ts'
import {
  isDeadlock,
  isUnavailable,
  NO_TIME_LIMITS,
  openDatabase,
  requireSupported,
  type Database,
} from './database.ts'
import { MINUTE_MS } from '../time.ts'
import { ADVISORY_LOCKS, waitForAdvisoryLock } from './advisory-locks.ts'

type Migration = {
  name: string
  sql: string
  checksum: string
  /** Whether the version before runs with it, too: see CONTRIBUTING.md, “Database migrations”. */
  additive: boolean
}
type Applied = Pick<Migration, 'name' | 'checksum' | 'additive'>

/** Beside this file, in the sources and in the installed package. */
const FOLDER = join(import.meta.dirname, 'migrations')

const HISTORY = `create table if not exists schema_migration (
  name text primary key,
  checksum text not null,
  applied_at timestamptz not null default now()
);
alter table schema_migration add column if not exists additive boolean not null default false`

/** First lines of migrations that are not additive, or that run outside of a transaction. */
const NOT_ADDITIVE = /^-- not additive: /m
const WITHOUT_TRANSACTION = /^-- without a transaction\b/m

/**
 * Statements that wait for a lock hold up all that come after them. So a migration gives up early,
 * lets the others through and tries again.
 */
const LOCK_TIMEOUT_MS = 2_000
const LOCK_PAUSE_MS = 500
const LOCK_PATIENCE_MS = 10 * MINUTE_MS
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Migrates the database to the schema of this version. Any number of instances may start at once:
 * one migrates, the others wait. Instances of the version before may go on, and may start again, as
 * long as all migrations are additive.
 * @param folder contains `NNNN_name.sql`, applied in the order of their names, each in a
 *   transaction unless it says otherwise
 * @returns the names of the migrations applied now
 * @throws Fault `conflict` when database and version have no common history, `unavailable` when the
 *   server is too old
 */
export async function migrate(pool: Pool, folder: string = FOLDER): Promise<string[]> {
  const migrations = readMigrations(folder)
  const client = await pool.connect()
  try {
    await requireSupported(client)
    // It waits for the migrations of other instances, and its own may rewrite whole tables.
    await client.query(NO_TIME_LIMITS)
    return await applyPending(client, migrations)
  } finally {
    // Closing the connection releases the lock, also when the connection failed.
    client.release(true)
  }
}

/**
 * Opens a database and migrates it to this version’s schema.
 * @param tell called with the names of the migrations applied now
 * @throws Fault `unavailable` with the reason when it does not respond, `conflict`
 */
export async function openMigrated(
  url: string,
  tell?: (applied: string[]) => void,
): Promise<Database> {
  const database = openDatabase(url)
  try {
    const applied = await migrate(database.pool)
    if (applied.length > 0) tell?.(applied)
    return database
  } catch (cause) {
    await database.close()
    if (cause instanceof Fault || !isUnavailable(cause)) throw cause
    throw new Fault(
      'unavailable',
      `The database does not answer: ${messageOf(cause)}. Check DATABASE_URL.`,
      { cause },
    )
  }
}

function readMigrations(folder: string): Migration[] {
  const files = readdirSync(folder).filter((file) => /^\d{4}_\w+\.sql$/.test(file))
  return files.toSorted().map((file) => {
    // Line endings may differ in a checkout on Windows. They do not matter.
    const sql = readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n')
    return {
      name: file.slice(0, -'.sql'.length),
      sql,
      checksum: createHash('sha256').update(sql).digest('hex'),
      additive: !NOT_ADDITIVE.test(sql),
    }
  })
}

async function readHistory(client: PoolClient): Promise<Applied[]> {
  await client.query(HISTORY)
  const { rows } = await client.query<Applied>(
    'select name, checksum, additive from schema_migration order by name',
  )
  return rows
}

function findPending(migrations: Migration[], history: Applied[]): Migration[] {
  history.forEach(({ name, checksum, additive }, index) => {
    const ours = migrations[index]
    if (ours === undefined && additive) return
    if (ours?.name !== name) {
      const known = migrations.some((migration) => migration.name === name)
      throw new Fault('conflict', known ? skipped(ours?.name ?? '', name) : newer(name))
    }
    if (ours.checksum !== checksum) throw new Fault('conflict', changed(name))
  })
  return migrations.slice(history.length)
}

function newer(name: string): string {
  return `The database was migrated by a newer Portreeve (it has ${name}). Start that version or a later one.`
}

function skipped(ours: string, name: string): string {
  return `Migration ${ours} was never applied to this database, though ${name}, which comes after it, was. Number it after ${name}.`
}

function changed(name: string): string {
  return `Migration ${name} is not the one this database was made with. A migration once released must not change.`
}

/** @returns the names of the migrations applied now */
async function applyPending(client: PoolClient, migrations: Migration[]): Promise<string[]> {
  const applied: string[] = []
  const deadline = Date.now() + LOCK_PATIENCE_MS
  for (;;) {
    await waitForAdvisoryLock(client, ADVISORY_LOCKS.schemaMigration)
    try {
      for (const migration of findPending(migrations, await readHistory(client))) {
        await apply(client, migration)
        applied.push(migration.name)
      }
      return applied
    } catch (error) {
      if (!isDeadlock(error) || Date.now() > deadline) throw error
    }
    // An instance of an earlier version may wait for the advisory lock with a snapshot. It gets the
    // lock, and finds that the rest is not its own.
    await client.query('select pg_advisory_unlock($1)', [ADVISORY_LOCKS.schemaMigration])
    await sleep(LOCK_PAUSE_MS)
  }
}

async function apply(client: PoolClient, migration: Migration): Promise<void> {
  const isTransaction = !WITHOUT_TRANSACTION.test(migration.sql)
  const deadline = Date.now() + LOCK_PATIENCE_MS
  for (;;) {
    try {
      await (isTransaction ? applyAtOnce(client, migration) : applyInSteps(client, migration))
      return
    } catch (cause) {
      if (isTransaction) await client.query('rollback')
      const isLocked = (cause as { code?: string }).code === LOCK_NOT_AVAILABLE
      if (isLocked && Date.now() < deadline) {
        await sleep(LOCK_PAUSE_MS)
        continue
      }
      const state = isTransaction ? 'left nothing behind' : 'is repeated at the next start'
      throw new Error(`migration ${migration.name} failed and ${state}: ${messageOf(cause)}`, {
        cause,
      })
    }
  }
}

async function applyAtOnce(client: PoolClient, migration: Migration): Promise<void> {
  await client.query('begin')
  await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`)
  await client.query(migration.sql)
  await recordApplied(client, migration)
  await client.query('commit')
}

/**
 * Runs each statement by itself, as `create index concurrently` needs. All of them must be
 * repeatable, because a crash in between repeats the whole file.
 */
async function applyInSteps(client: PoolClient, migration: Migration): Promise<void> {
  const statements = migration.sql.split(/;[ \t]*$/m).filter((text) => /^\s*[^\s-]/m.test(text))
  for (const statement of statements) await client.query(statement)
  await recordApplied(client, migration)
}

async function recordApplied(
  client: PoolClient,
  { name, checksum, additive }: Migration,
): Promise<void> {
  await client.query(
    'insert into schema_migration (name, checksum, additive) values ($1, $2, $3)',
    [name, checksum, additive],
  )
}
