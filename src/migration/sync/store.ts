import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import type { SyncChanges } from '../engine/sync/pass.ts'
import type { AccountAddress } from '../store.ts'
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

const NEXT = sql<Date>`now() + make_interval(mins => every_minutes)`
const UNTIL = sql<Date>`now() + make_interval(days => ${SYNC_LIMITS.days})`

export async function findSync(db: Db, migrationId: string): Promise<SyncRow | null> {
  const row = await db
    .selectFrom('migrationSync')
    .select(COLUMNS)
    .where('migrationId', '=', migrationId)
    .executeTakeFirst()
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

/** Ends the synchronization of a migration; false when it has none. */
export async function deleteSync(db: Db, migrationId: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('migrationSync')
    .where('migrationId', '=', migrationId)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Holds a synchronization until a pass of its migration has ended. */
export async function markPassStarted(db: Db, migrationId: string): Promise<void> {
  await db
    .updateTable('migrationSync')
    .set({ nextAt: null, claimedUntil: null })
    .where('migrationId', '=', migrationId)
    .execute()
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
  const before = await db
    .selectFrom('migrationSync')
    .select(['lastError', 'passes'])
    .where('migrationId', '=', migrationId)
    .forUpdate()
    .executeTakeFirst()
  if (!before) return null
  const shown = changes && JSON.stringify(changes)
  const isSameError = error !== null && before.lastError === error
  await db
    .updateTable('migrationSync')
    .set({
      nextAt: isHeld ? null : NEXT,
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

/** A mailbox whose source is checked for changes. */
export type DueMailbox = {
  migrationId: string
  workspaceId: string
  batchId: string | null
  /** The mailbox of the batch. */
  mailboxId: string | null
  source: AccountAddress
  sourceHost: string
  folders: string[]
  /** The encrypted secrets of the migration, or of the mailbox of a batch. */
  sealed: string | null
  /** Null: a whole pass is needed. */
  seen: string | null
  failures: number
  /** Whether it counts towards this month already. */
  isCounted: boolean
}

/** Migrations with a synchronization that is due and that neither wait nor run. */
const DUE = sql`
  select s.migration_id, s.workspace_id, g.batch_id, m.id as mailbox_id, coalesce(m.source, g.source) as source,
    lower(coalesce(m.source, g.source) ->> 'host') as source_host, g.folders,
    coalesce(bs.sealed, gs.sealed) as sealed, s.seen, s.failures, s.next_at,
    g.counted_at >= date_trunc('month', now(), 'UTC') as is_counted,
    coalesce(b.source_limit, ${SYNC_LIMITS.checksPerHost}) as host_limit
  from migration_sync s join migration g on g.id = s.migration_id
  left join batch_mailbox m on m.migration_id = g.id
  left join migration_batch b on b.id = g.batch_id
  left join batch_mailbox_secret bs on bs.mailbox_id = m.id
  left join migration_secret gs on gs.migration_id = g.id
  where s.next_at <= now() and (s.claimed_until is null or s.claimed_until < now())
    and g.status in ('completed', 'failed')
    and (g.batch_id is null or (m.active_id is null and m.state in ('in_sync', 'needs_attention')
      and b.paused_at is null and b.finished_at is null))`

/**
 * Claims mailboxes that are due, workspaces in turn, as far as their hosts have room: migrations
 * that wait or run count as well.
 * @param busy source hosts of checks in progress, one entry for each
 */
export async function claimDue(
  db: Db,
  limit: number,
  busy: readonly string[],
): Promise<DueMailbox[]> {
  const { rows } = await sql<DueMailbox>`
    with load as (
      select host, count(*)::int as number from (
        select unnest(${busy}::text[]) as host
        union all select lower(source ->> 'host') from migration where status in ('pending', 'running')) one
      group by host),
    due as (
      select d.*, row_number() over (partition by d.source_host order by d.next_at) as host_turn,
        row_number() over (partition by d.workspace_id order by d.next_at) as turn
      from (${DUE}) d),
    chosen as (
      select due.* from due left join load on load.host = due.source_host
      where due.host_turn + coalesce(load.number, 0) <= due.host_limit
      order by due.turn, due.next_at limit ${limit})
    update migration_sync s set claimed_until = now() + make_interval(secs => ${SYNC_LIMITS.leaseSeconds})
    from chosen where s.migration_id = chosen.migration_id
    returning chosen.*`.execute(db)
  return rows
}

/** Records a check that found nothing new: it is a pass, of the mailbox of a batch as well. */
export async function recordUnchanged(
  db: Db,
  { migrationId, mailboxId }: Pick<DueMailbox, 'migrationId' | 'mailboxId'>,
  startedAt: Date,
): Promise<void> {
  await sql`
    with mailbox as (
      update batch_mailbox set synced_at = clock_timestamp(), passes = passes + 1, changed_at = clock_timestamp()
      where id = ${mailboxId} and state = 'in_sync')
    update migration_sync set next_at = ${NEXT}, claimed_until = null, failures = 0, passes = passes + 1,
      last_started_at = ${startedAt}, last_ended_at = now(), last_error = null,
      last_changes = ${JSON.stringify({ copied: 0, flags: 0, moved: 0, deleted: 0, applied: 0 })}
    where migration_id = ${migrationId}`.execute(db)
}

/** Records that the source could not be checked. The next check comes as planned. */
export async function recordFailedCheck(
  db: Db,
  migrationId: string,
  startedAt: Date,
  error: string,
): Promise<void> {
  await db
    .updateTable('migrationSync')
    .set({
      nextAt: NEXT,
      claimedUntil: null,
      failures: sql<number>`failures + 1`,
      lastStartedAt: startedAt,
      lastEndedAt: sql<Date>`now()`,
      lastChanges: null,
      lastError: error,
    })
    .where('migrationId', '=', migrationId)
    .execute()
}

/** Returns a check to those that are due. */
export async function releaseCheck(db: Db, migrationId: string): Promise<void> {
  await db
    .updateTable('migrationSync')
    .set({ claimedUntil: null })
    .where('migrationId', '=', migrationId)
    .execute()
}

/** Holds a synchronization until the next month. */
export async function holdUntilNextMonth(
  db: Db,
  migrationId: string,
  error: string,
): Promise<void> {
  await db
    .updateTable('migrationSync')
    .set({
      nextAt: sql<Date>`date_trunc('month', now(), 'UTC') + interval '1 month'`,
      claimedUntil: null,
      lastError: error,
    })
    .where('migrationId', '=', migrationId)
    .execute()
}

/** Counts a migration towards the present month. */
export async function markCounted(db: Db, migrationId: string): Promise<void> {
  await db
    .updateTable('migration')
    .set({ countedAt: sql<Date>`now()` })
    .where('id', '=', migrationId)
    .execute()
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

/** Makes the synchronizations of a batch due now, with whole passes. */
export async function makeBatchDue(db: Db, batchId: string): Promise<void> {
  await sql`update migration_sync set next_at = now() from migration
    where migration.id = migration_id and batch_id = ${batchId} and next_at is not null`.execute(db)
}
