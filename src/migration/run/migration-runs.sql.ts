import { findRow, listRows, updateRows } from '../../store/row.ts'
import { sql, type Transaction } from 'kysely'
import { PREPARED, type Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'
import { epochOf, type SavedFolder } from '../engine/journal/journal.ts'
import type { MigrationProgress } from '../engine/progress/progress.ts'
import type { Throughput } from './throughput.ts'
import {
  COLUMNS,
  notifyMigration,
  type MigrationRow,
  type StoredOptions,
} from '../migrations.sql.ts'
import { findSync } from '../sync/syncs.sql.ts'
import { markQueued, markSyncing, saveProgress } from '../batches/batch-progress.sql.ts'
import { notifyMigrationAndBatch } from '../batches/batches.sql.ts'

/** Seconds without a heartbeat after which a worker counts as dead. */
const HEARTBEAT_TIMEOUT_SECONDS = 15

/** A migration that a worker has claimed, with its encrypted secrets. */
export type ClaimedMigration = MigrationRow & {
  sealed: string | null
  throughput: Throughput | null
}

/**
 * Claims a migration for a worker: undefined when it has ended, `busy` while another worker runs
 * it. Later writes of an earlier worker are rejected.
 */
export async function claimMigration(
  db: Db,
  id: string,
): Promise<ClaimedMigration | 'busy' | undefined> {
  // One statement, because it is run for each mailbox of a batch.
  const claimed = await db
    .with('claimed', (cte) =>
      cte
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
        .returning([...COLUMNS, 'throughput']),
    )
    // Folders that failed in an earlier run are tried again, and reported again.
    .with('retried', (cte) =>
      cte
        .deleteFrom('migrationError')
        .where('migrationId', 'in', sql<string>`(select id from claimed where run > 1)`)
        .where('uid', 'is', null),
    )
    .with('syncing', (cte) => markSyncing(cte, sql`(select id from claimed)`))
    .selectFrom('claimed')
    .select((eb) => [
      ...COLUMNS,
      'throughput',
      eb
        .selectFrom('migrationSecret')
        .select('sealed')
        .whereRef('migrationId', '=', 'claimed.id')
        .as('sealed'),
      eb
        .exists(eb.selectFrom('migrationSync').whereRef('migrationId', '=', 'claimed.id'))
        .as('isSynchronized'),
    ])
    .executeTakeFirst()
  if (!claimed) return (await isOpen(db, id)) ? 'busy' : undefined
  const { isSynchronized, ...row } = claimed
  await notifyMigrationAndBatch(db, row)
  return {
    ...(row as Omit<ClaimedMigration, 'queue' | 'sync'>),
    queue: null,
    sync: isSynchronized ? await findSync(db, id) : null,
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

type Written = { progress: MigrationProgress; throughput: Throughput | null }

/** A series that did not change is not written again. */
function columnsOf({ progress, throughput }: Written) {
  return {
    progress: JSON.stringify(progress),
    errorCount: progress.errorCount,
    ...(throughput && { throughput: JSON.stringify(throughput) }),
  }
}

/** Writes a heartbeat, with or without progress; false when the worker has lost the migration. */
export async function markAlive(
  db: Db,
  { id, run }: Run,
  written: Written | null,
): Promise<boolean> {
  const news = written && columnsOf(written)
  const row = await db
    .updateTable('migration')
    .set({ aliveAt: sql<Date>`now()`, ...news })
    .where('id', '=', id)
    .where('run', '=', run)
    .where('status', '=', 'running')
    .returning(['workspaceId', 'batchId', 'options'])
    .executeTakeFirst()
  if (row && written) {
    const { dryRun } = row.options as StoredOptions
    if (row.batchId !== null) await saveProgress(db, id, written.progress, dryRun)
    await notifyMigrationAndBatch(db, { ...row, id })
  }
  return row !== undefined
}

/** Releases a migration, so that another worker can claim it at once. */
export async function markReleased(db: Db, { id, run }: Run): Promise<void> {
  await updateRows(db, 'migration', { id, run }, { aliveAt: null })
}

/** Returns a migration to the queue, at the position it had. */
export async function markWaiting(
  db: Db,
  { id, run, workspaceId }: Run & { workspaceId: string },
): Promise<void> {
  await db
    .updateTable('migration')
    .set({ status: 'pending', aliveAt: null })
    .where('id', '=', id)
    .where('run', '=', run)
    .where('status', '=', 'running')
    .execute()
  await markQueued(db, id)
  await notifyMigration(db, workspaceId, id)
}

/** Moves a stalled migration to the end of the queue, unless the worker has lost it. */
export async function markStalled(
  db: Db,
  { id, run, workspaceId }: Run & { workspaceId: string },
  progress: MigrationProgress,
): Promise<void> {
  await db
    .updateTable('migration')
    .set({
      status: 'pending',
      aliveAt: null,
      queuedAt: sql<Date>`now()`,
      ...columnsOf({ progress, throughput: null }),
      stalls: sql<number>`stalls + 1`,
    })
    .where('id', '=', id)
    .where('run', '=', run)
    .where('status', '=', 'running')
    .execute()
  await markQueued(db, id)
  await notifyMigration(db, workspaceId, id)
}

/** Resets the number of consecutive stalls. */
export async function forgetStalls(db: Db, { id, run }: Run): Promise<void> {
  await updateRows(db, 'migration', { id, run }, { stalls: 0 })
}

/**
 * Pauses a migration until a person signs in again; false when the worker has lost it. Its secrets
 * stay for then.
 */
export async function markPaused(
  db: Transaction<DB>,
  { id, run }: Run,
  written: Written,
): Promise<boolean> {
  const row = await db
    .updateTable('migration')
    .set({ status: 'paused', aliveAt: null, ...columnsOf(written) })
    .where('id', '=', id)
    .where('run', '=', run)
    .where('status', '=', 'running')
    .returning('workspaceId')
    .executeTakeFirst()
  if (!row) return false
  await notifyMigration(db, row.workspaceId, id)
  return true
}

/**
 * Ends a migration and deletes its secrets, unless it is synchronized.
 * @returns null when the worker has lost it; otherwise whether it is synchronized
 */
export async function markEnded(
  db: Transaction<DB>,
  { id, run }: Run,
  status: 'completed' | 'failed',
  written: Written,
): Promise<{ isSynchronized: boolean } | null> {
  const news = columnsOf(written)
  const row = await db
    .with('ended', (cte) =>
      cte
        .updateTable('migration')
        .set({ status, completedAt: sql<Date>`now()`, aliveAt: null, ...news })
        .where('id', '=', id)
        .where('run', '=', run)
        .where('status', '=', 'running')
        .returning((eb) => [
          'id',
          'workspaceId',
          'batchId',
          eb
            .exists(eb.selectFrom('migrationSync').whereRef('migrationId', '=', 'migration.id'))
            .as('isSynchronized'),
        ]),
    )
    .with('erased', (cte) =>
      cte.deleteFrom('migrationSecret').where('migrationId', 'in', (eb) =>
        eb
          .selectFrom('ended')
          .select('id')
          .where((or) => or.or([or('batchId', 'is not', null), or.not('isSynchronized')])),
      ),
    )
    .selectFrom('ended')
    .selectAll()
    .executeTakeFirst()
  if (!row) return null
  await notifyMigrationAndBatch(db, row)
  return { isSynchronized: row.isSynchronized === true }
}

export async function findFolder(db: Db, id: string, folder: string): Promise<SavedFolder | null> {
  const row = await findRow(db, 'migrationFolder', ['state'], { migrationId: id, folder })
  return (row?.state as SavedFolder | undefined) ?? null
}

/** The folders that have a saved state. */
export async function listFolders(db: Db, id: string): Promise<Set<string>> {
  const rows = await listRows(db, 'migrationFolder', ['folder'], { migrationId: id })
  return new Set(rows.map(({ folder }) => folder))
}

/** The saved states of all folders. */
export async function loadFolders(db: Db, id: string): Promise<Map<string, SavedFolder>> {
  const rows = await listRows(db, 'migrationFolder', ['folder', 'state'], { migrationId: id })
  return new Map(rows.map(({ folder, state }) => [folder, state as SavedFolder]))
}

/**
 * Saves the states of folders and their copy records in one statement, and so one round trip. False
 * when the worker has lost the migration.
 */
export async function saveFolders(
  db: Db,
  { id, run }: Run,
  saves: readonly { folder: string; state: SavedFolder; copies?: Buffer | undefined }[],
): Promise<boolean> {
  const folders = saves.map(({ folder }) => folder)
  const states = saves.map(({ state }) => JSON.stringify(state))
  const copied = saves.filter(({ copies }) => copies !== undefined)
  const { rows } = await sql`${sql.raw(PREPARED)}
    with copied as (
      insert into migration_copy (migration_id, folder, epoch, copies)
      select id, folder, epoch, copies from migration, unnest(
        ${copied.map(({ folder }) => folder)}::text[],
        ${copied.map(({ state }) => epochOf(state))}::text[],
        ${copied.map(({ copies }) => copies)}::bytea[]) as added(folder, epoch, copies)
      where id = ${id} and run = ${run} and status = 'running')
    insert into migration_folder (migration_id, folder, state)
    select id, folder, state::jsonb from migration, unnest(${folders}::text[], ${states}::text[]) as saved(folder, state)
    where id = ${id} and run = ${run} and status = 'running'
    on conflict (migration_id, folder) do update set state = excluded.state
    returning migration_id`.execute(db)
  return rows.length > 0
}

/** The series of a migration; null before its first point, undefined if it is not found. */
export async function findThroughput(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<Throughput | null | undefined> {
  const row = await findRow(db, 'migration', ['throughput'], { workspaceId, id })
  return row && (row.throughput as Throughput | null)
}
