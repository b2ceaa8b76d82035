import { sql } from 'kysely'
import type { Db } from '../../../store/database.ts'
import { isInDeletedWorkspace } from '../../../store/deleted-workspaces.ts'
import type { AccountAddress } from '../../store.ts'
import { SYNC_LIMITS } from '../limits.ts'
import { NEXT_PASS } from '../store.ts'

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
    and not ${isInDeletedWorkspace('s.workspace_id')}
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
        union all select lower(source ->> 'host') from migration
          where status in ('pending', 'running') and not ${isInDeletedWorkspace('workspace_id')}) one
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
