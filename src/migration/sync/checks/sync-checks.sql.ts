import { sql } from 'kysely'
import type { Db } from '../../../store/database.ts'
import { isInDeletedWorkspace } from '../../../store/deleted-workspaces.ts'
import { claimDueRows, dueInTurn, type DueRows } from '../../../store/due-rows.ts'
import { updateRows } from '../../../store/row.ts'
import type { AccountAddress } from '../../migrations.sql.ts'
import { SYNC_LIMITS } from '../limits.ts'
import { NEXT_PASS } from '../syncs.sql.ts'

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
export const DUE_SYNCS: DueRows = {
  table: 'migration_sync',
  key: 'migration_id',
  dueAt: 'next_at',
  claimedUntil: 'claimed_until',
  leaseSeconds: SYNC_LIMITS.leaseSeconds,
  join: sql`join migration g on g.id = r.migration_id
    left join batch_mailbox m on m.migration_id = g.id
    left join migration_batch b on b.id = g.batch_id`,
  where: sql`g.status in ('completed', 'failed')
    and (g.batch_id is null or (m.active_id is null and m.state in ('in_sync', 'needs_attention')
      and b.paused_at is null and b.finished_at is null))`,
}

/**
 * Claims mailboxes that are due, accounts in turn, as far as their hosts have room: migrations
 * that wait or run count as well.
 * @param busy source hosts of checks in progress, one entry for each
 */
export async function claimDue(
  db: Db,
  limit: number,
  busy: readonly string[],
): Promise<DueMailbox[]> {
  const among = sql`select migration_id from chosen`
  const { rows } = await sql<DueMailbox>`
    with load as (
      select host, count(*)::int as number from (
        select unnest(${busy}::text[]) as host
        union all select lower(source ->> 'host') from migration
          where status in ('pending', 'running') and not ${isInDeletedWorkspace('workspace_id')}) one
      group by host),
    due as (
      select s.migration_id, s.workspace_id, g.batch_id, m.id as mailbox_id, coalesce(m.source, g.source) as source,
        lower(coalesce(m.source, g.source) ->> 'host') as source_host, g.folders,
        coalesce(bs.sealed, gs.sealed) as sealed, s.seen, s.failures, s.next_at, s.turn,
        g.counted_at >= date_trunc('month', now(), 'UTC') as is_counted,
        coalesce(b.source_limit, ${SYNC_LIMITS.checksPerHost}) as host_limit
      from (${dueInTurn(DUE_SYNCS, {}, ['migration_id', 'workspace_id', 'seen', 'failures', 'next_at', 'turn'])}) s
      join migration g on g.id = s.migration_id
      left join batch_mailbox m on m.migration_id = g.id
      left join migration_batch b on b.id = g.batch_id
      left join batch_mailbox_secret bs on bs.mailbox_id = m.id
      left join migration_secret gs on gs.migration_id = g.id),
    ranked as (
      select due.*, row_number() over (partition by source_host order by next_at) as host_turn from due),
    chosen as (
      select ranked.* from ranked left join load on load.host = ranked.source_host
      where ranked.host_turn + coalesce(load.number, 0) <= ranked.host_limit
      order by ranked.turn, ranked.next_at limit ${limit}),
    claimed as (${claimDueRows(DUE_SYNCS, { among })})
    select chosen.* from claimed join chosen using (migration_id)`.execute(db)
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
    update migration_sync set next_at = ${NEXT_PASS}, claimed_until = null, failures = 0, passes = passes + 1,
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
      nextAt: NEXT_PASS,
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
  await updateRows(db, 'migrationSync', { migrationId }, { claimedUntil: null })
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
  await updateRows(db, 'migration', { id: migrationId }, { countedAt: sql<Date>`now()` })
}
