import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { deleteRows, findRow, lockRow, updateRows } from '../../store/row.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import type { SyncChanges } from '../engine/sync/pass.ts'
import { SYNC_LIMITS } from './limits.ts'
import type { SyncRow, SyncSettings } from './sync-row.ts'

const COLUMNS = [
  'migrationId',
  'everyMinutes',
  'deletions',
  'nextAt',
  'until',
  'passes',
  'lastStartedAt',
  'lastEndedAt',
  'lastChanges',
  'lastError',
] as const

/** When the next pass is due after one that ends now. */
export const NEXT_PASS = sql<Date>`now() + make_interval(mins => every_minutes)`
const UNTIL = sql<Date>`now() + make_interval(days => ${SYNC_LIMITS.days})`

/** The number of deletions of a `migration_sync` that a person must confirm. */
export const HELD_DELETIONS = sql<number>`(select count(*)::int from migration_deletion held
  where held.migration_id = migration_sync.migration_id and held.is_held and held.outcome is null)`

export async function findSync(db: Db, migrationId: string): Promise<SyncRow | null> {
  const row = await findRow(db, 'migrationSync', [...COLUMNS, HELD_DELETIONS.as('heldDeletions')], {
    migrationId,
  })
  return (row as SyncRow | undefined) ?? null
}

type NewSync = SyncSettings & { workspaceId: string; nextAt: Date | null }

/** Starts synchronizations of migrations, or changes them. */
export async function saveSyncs(
  db: Db,
  migrationIds: readonly string[],
  { workspaceId, everyMinutes, deletions, nextAt }: NewSync,
): Promise<void> {
  await sql`insert into migration_sync (migration_id, workspace_id, every_minutes, deletions, next_at, until)
    select id, ${workspaceId}, ${everyMinutes}, ${deletions}, ${nextAt}, ${UNTIL}
    from unnest(${migrationIds}::uuid[]) as given(id)
    on conflict (migration_id) do update set every_minutes = excluded.every_minutes, deletions = excluded.deletions,
      next_at = excluded.next_at, until = excluded.until, failures = 0,
      -- Deletions that wait are applied by a whole pass.
      seen = case when migration_sync.deletions = excluded.deletions then migration_sync.seen end`.execute(
    db,
  )
}

/** Makes the next pass of a synchronization due at once, and a whole one. */
export async function requestPass(db: Db, migrationId: string): Promise<void> {
  await updateRows(db, 'migrationSync', { migrationId }, { nextAt: sql<Date>`now()`, seen: null })
}

/** Ends the synchronization of a migration; false when it has none. */
export async function deleteSync(db: Db, migrationId: string): Promise<boolean> {
  return deleteRows(db, 'migrationSync', { migrationId })
}

/** Holds a synchronization until a pass of its migration has ended. */
export async function markPassStarted(db: Db, migrationId: string): Promise<void> {
  await updateRows(db, 'migrationSync', { migrationId }, { nextAt: null, claimedUntil: null })
}

/** A pass: when it ran, what it changed, and why it failed; null for none. */
export type Pass = {
  startedAt: Date
  changes: SyncChanges | null
  error: string | null
  /** The digest of the source before it; null if another pass is needed. */
  seen: string | null
  /** Whether the next pass waits for a person. */
  isHeld: boolean
}

/**
 * Records the end of a pass and sets the time of the next one.
 * @returns null when the migration is not synchronized; otherwise whether it was not the first pass,
 *   and whether the one before failed for the same reason
 */
export async function recordPass(
  db: Db,
  migrationId: string,
  { startedAt, changes, error, seen, isHeld }: Pass,
): Promise<{ isLater: boolean; isSameError: boolean } | null> {
  const before = await lockRow(db, 'migrationSync', ['lastError', 'passes'], { migrationId })
  if (!before) return null
  const shown = changes && JSON.stringify(changes)
  const isSameError = error !== null && before.lastError === error
  await db
    .updateTable('migrationSync')
    .set({
      nextAt: isHeld ? null : NEXT_PASS,
      seen,
      failures: 0,
      passes: sql<number>`passes + 1`,
      lastStartedAt: startedAt,
      lastEndedAt: sql<Date>`now()`,
      lastChanges: shown,
      lastError: error,
      ...(!isSameError && { isNewError: error !== null }),
    })
    .where('migrationId', '=', migrationId)
    .execute()
  if (error !== null || (changes && Object.values(changes).some((count) => count > 0))) {
    await db
      .insertInto('migrationPass')
      .values({
        migrationId,
        startedAt,
        endedAt: sql<Date>`now()`,
        changes: shown ?? '{}',
        error,
      })
      .execute()
    await removeOldPasses(db, migrationId)
  }
  return { isLater: before.passes > 0, isSameError }
}

/**
 * Forgets which passes of a batch failed for a new reason. @returns whether there were any
 */
export async function takeNewErrors(db: Db, batchId: string): Promise<boolean> {
  const { numAffectedRows } =
    await sql`update migration_sync set is_new_error = false from migration
    where migration.id = migration_id and batch_id = ${batchId} and is_new_error`.execute(db)
  return (numAffectedRows ?? 0n) > 0n
}

async function removeOldPasses(db: Db, migrationId: string): Promise<void> {
  await sql`delete from migration_pass where migration_id = ${migrationId} and id <= (
    select id from migration_pass where migration_id = ${migrationId}
    order by id desc offset ${SYNC_LIMITS.passesKept} limit 1)`.execute(db)
}

export type PassRow = {
  startedAt: Date
  endedAt: Date
  changes: Partial<SyncChanges>
  error: string | null
}

/** The last passes that changed something or failed, newest first. */
export async function listPasses(db: Db, migrationId: string): Promise<PassRow[]> {
  const rows = await db
    .selectFrom('migrationPass')
    .select(['startedAt', 'endedAt', 'changes', 'error'])
    .where('migrationId', '=', migrationId)
    .orderBy('id', 'desc')
    .limit(SYNC_LIMITS.passesKept)
    .execute()
  return rows as PassRow[]
}

/** How many messages were deleted at the source, and how many of their copies were deleted. */
export async function countDeletions(
  db: Db,
  migrationId: string,
): Promise<{ recorded: number; applied: number }> {
  return db
    .selectFrom('migrationDeletion')
    .select([
      sql<number>`(count(*) filter (where outcome is null and reason <> 'renumbered'))::int`.as(
        'recorded',
      ),
      sql<number>`(count(*) filter (where outcome = 'applied'))::int`.as('applied'),
    ])
    .where('migrationId', '=', migrationId)
    .executeTakeFirstOrThrow()
}

/** Synchronizations whose time is over. */
export async function listExpired(
  db: Db,
): Promise<{ migrationId: string; workspaceId: string; batchId: string | null }[]> {
  return db
    .selectFrom('migrationSync')
    .innerJoin('migration', 'migration.id', 'migrationId')
    .select(['migrationId', 'migrationSync.workspaceId', 'batchId'])
    .where('until', '<', sql<Date>`now()`)
    .where((eb) => eb.not(isInDeletedWorkspace('migration.workspaceId')))
    .limit(1_000)
    .execute()
}

/** Migrations of a batch that were started, for their synchronization. */
export async function listStarted(db: Db, batchId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('batchMailbox')
    .select('migrationId')
    .where('batchId', '=', batchId)
    .where('migrationId', 'is not', null)
    .execute()
  return rows.flatMap(({ migrationId }) => migrationId ?? [])
}

/** Ends the synchronizations of a batch. @returns how many there were */
export async function deleteBatchSyncs(db: Db, batchId: string): Promise<number> {
  const { numAffectedRows } = await sql`delete from migration_sync using migration
    where migration.id = migration_id and batch_id = ${batchId}`.execute(db)
  return Number(numAffectedRows ?? 0n)
}

/** What the synchronizations of a batch have done so far. */
export type BatchSyncTotals = {
  synchronized: number
  lastAt: Date | null
  nextAt: Date | null
  failing: number
  deletions: number
}

export async function readBatchSync(db: Db, batchId: string): Promise<BatchSyncTotals> {
  const { rows } = await sql<BatchSyncTotals>`
    select count(*)::int as synchronized, max(last_ended_at) as last_at, min(next_at) as next_at,
      (count(*) filter (where last_error is not null))::int as failing,
      (select count(*)::int from migration_deletion d join migration o on o.id = d.migration_id
        where o.batch_id = ${batchId} and d.outcome is null and d.reason <> 'renumbered') as deletions
    from migration_sync join migration g on g.id = migration_id where g.batch_id = ${batchId}`.execute(
    db,
  )
  return rows[0] as BatchSyncTotals
}
