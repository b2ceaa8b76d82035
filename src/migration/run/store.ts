import { sql, type Transaction } from 'kysely'
import type { Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'
import type { SavedFolder } from '../engine/journal/journal.ts'
import type { MigrationProgress } from '../engine/progress/progress.ts'
import { COLUMNS, eraseSecret, notifyMigration, type MigrationRow } from '../store.ts'

/** Seconds after which a worker that did not show a sign of life is taken for dead. */
const HEARTBEAT_TIMEOUT_SECONDS = 15

/**
 * Takes a migration for a worker: undefined when it has ended, `busy` when another worker still has
 * it. Whatever an earlier worker writes from now on is refused.
 */
export async function claimMigration(
  db: Db,
  id: string,
): Promise<(MigrationRow & { sealed: string | null }) | 'busy' | undefined> {
  const claimed = await db
    .updateTable('migration')
    .set({
      status: 'running',
      startedAt: sql<Date>`coalesce(started_at, now())`,
      aliveAt: sql<Date>`now()`,
      run: sql<number>`run + 1`,
    })
    .where('id', '=', id)
    .where('status', 'in', ['pending', 'running'])
    .where(
      sql<boolean>`(alive_at is null or alive_at < now() - make_interval(secs => ${HEARTBEAT_TIMEOUT_SECONDS}))`,
    )
    .returning(COLUMNS)
    .executeTakeFirst()
  if (!claimed) return (await isOpen(db, id)) ? 'busy' : undefined
  const secret = await db
    .selectFrom('migrationSecret')
    .select('sealed')
    .where('migrationId', '=', id)
    .executeTakeFirst()
  await notifyMigration(db, claimed.accountId, id)
  return {
    ...(claimed as Omit<MigrationRow, 'queue'>),
    queue: null,
    sealed: secret?.sealed ?? null,
  }
}

async function isOpen(db: Db, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('migration')
    .select('id')
    .where('id', '=', id)
    .where('status', 'in', ['pending', 'running'])
    .executeTakeFirst()
  return row !== undefined
}

export type Run = { id: string; run: number }

/**
 * Says that the worker lives, with news or without; false when the migration is not its any more.
 */
export async function markAlive(
  db: Db,
  { id, run }: Run,
  progress: MigrationProgress | null,
): Promise<boolean> {
  const news = progress && { progress: JSON.stringify(progress), errorCount: progress.errorCount }
  const row = await db
    .updateTable('migration')
    .set({ aliveAt: sql<Date>`now()`, ...news })
    .where('id', '=', id)
    .where('run', '=', run)
    .where('status', '=', 'running')
    .returning('accountId')
    .executeTakeFirst()
  if (row && news) await notifyMigration(db, row.accountId, id)
  return row !== undefined
}

/** The worker lets go: another may take it at once. */
export async function markReleased(db: Db, { id, run }: Run): Promise<void> {
  await db
    .updateTable('migration')
    .set({ aliveAt: null })
    .where('id', '=', id)
    .where('run', '=', run)
    .execute()
}

/** Gives the slot to others: the migration waits again, in the place that it had. */
export async function markWaiting(
  db: Db,
  { id, run, accountId }: Run & { accountId: string },
): Promise<void> {
  await db
    .updateTable('migration')
    .set({ status: 'pending', aliveAt: null })
    .where('id', '=', id)
    .where('run', '=', run)
    .where('status', '=', 'running')
    .execute()
  await notifyMigration(db, accountId, id)
}

/**
 * Puts a migration that stands still behind the others; undefined when it is not this worker's any
 * more.
 */
export async function markStalled(
  db: Db,
  { id, run, accountId }: Run & { accountId: string },
  progress: MigrationProgress,
): Promise<void> {
  await db
    .updateTable('migration')
    .set({
      status: 'pending',
      aliveAt: null,
      queuedAt: sql<Date>`now()`,
      progress: JSON.stringify(progress),
      stalls: sql<number>`stalls + 1`,
    })
    .where('id', '=', id)
    .where('run', '=', run)
    .where('status', '=', 'running')
    .execute()
  await notifyMigration(db, accountId, id)
}

/** Something was completed: earlier standstills count no more. */
export async function forgetStalls(db: Db, { id, run }: Run): Promise<void> {
  await db
    .updateTable('migration')
    .set({ stalls: 0 })
    .where('id', '=', id)
    .where('run', '=', run)
    .execute()
}

/**
 * Ends a worker's migration, and erases what opened the accounts; false when the migration is not
 * its any more.
 */
export async function markEnded(
  db: Transaction<DB>,
  { id, run }: Run,
  status: 'completed' | 'failed',
  progress: MigrationProgress,
): Promise<boolean> {
  const news = { progress: JSON.stringify(progress), errorCount: progress.errorCount }
  const row = await db
    .updateTable('migration')
    .set({ status, completedAt: sql<Date>`now()`, aliveAt: null, ...news })
    .where('id', '=', id)
    .where('run', '=', run)
    .where('status', '=', 'running')
    .returning('accountId')
    .executeTakeFirst()
  if (!row) return false
  await eraseSecret(db, id)
  await notifyMigration(db, row.accountId, id)
  return true
}

export async function findFolder(db: Db, id: string, folder: string): Promise<SavedFolder | null> {
  const row = await db
    .selectFrom('migrationFolder')
    .select('state')
    .where('migrationId', '=', id)
    .where('folder', '=', folder)
    .executeTakeFirst()
  return (row?.state as SavedFolder | undefined) ?? null
}

/**
 * One statement, so that a folder's journal costs one round trip. False when another worker has the
 * migration.
 */
export async function saveFolder(
  db: Db,
  { id, run }: Run,
  folder: string,
  state: SavedFolder,
): Promise<boolean> {
  const { rows } = await sql`
    insert into migration_folder (migration_id, folder, state)
    select id, ${folder}, ${JSON.stringify(state)}::jsonb from migration
    where id = ${id} and run = ${run} and status = 'running'
    on conflict (migration_id, folder) do update set state = excluded.state
    returning migration_id`.execute(db)
  return rows.length > 0
}
