import { sql, type Transaction } from 'kysely'
import type { SndsBlock, SndsFilter, SndsRow } from '../../protocols/reports/snds-report.ts'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import { claimDueRows } from '../../store/due-rows.ts'
import type { DB } from '../../store/tables.ts'
import { deleteRows, findRow, lockRow, type Row } from '../../store/row.ts'
import {
  SNDS_APPROVAL_MONTHS,
  SNDS_APPROVAL_WARNING_DAYS,
  SNDS_LINK_DAYS,
  SNDS_LINK_WARNING_DAYS,
} from '../limits.ts'
import { dueAccesses } from '../provider-access/provider-access.sql.ts'

const ACCESS = [
  'workspaceId',
  'sealed',
  'enteredAt',
  'approvedOn',
  'dueAt',
  'problem',
  'isEnded',
  'fetchedAt',
  'createdAt',
] as const
export type SndsAccessRow = Row<'sndsAccess', typeof ACCESS>

export async function claimSndsAccesses(db: Db, limit: number): Promise<SndsAccessRow[]> {
  const due = dueAccesses('snds_access')
  return (await claimDueRows<SndsAccessRow>(due, { limit }, sql`r.*`).execute(db)).rows
}

export async function findSndsAccess(
  db: Db,
  workspaceId: string,
): Promise<SndsAccessRow | undefined> {
  return findRow(db, 'sndsAccess', ACCESS, { workspaceId })
}

/** Stores links in place of earlier ones; their time begins now. */
export async function saveSndsAccess(
  db: Db,
  workspaceId: string,
  { sealed, approvedOn }: { sealed: string; approvedOn: string | null | undefined },
): Promise<SndsAccessRow> {
  const renewed = {
    sealed,
    ...(approvedOn !== undefined && { approvedOn }),
    enteredAt: sql<Date>`now()`,
    dueAt: sql<Date>`now()`,
    failures: 0,
    failingSince: null,
    problem: null,
    isEnded: false,
  }
  return db
    .insertInto('sndsAccess')
    .values({ workspaceId, ...renewed })
    .onConflict((conflict) => conflict.column('workspaceId').doUpdateSet(renewed))
    .returning(ACCESS)
    .executeTakeFirstOrThrow()
}

export async function saveApproval(
  db: Db,
  workspaceId: string,
  approvedOn: string | null,
): Promise<SndsAccessRow | undefined> {
  return db
    .updateTable('sndsAccess')
    .set({ approvedOn })
    .where('workspaceId', '=', workspaceId)
    .returning(ACCESS)
    .executeTakeFirst()
}

/** Deletes the links with what they showed. */
export async function deleteSndsAccess(db: Db, workspaceId: string): Promise<boolean> {
  const isDeleted = await deleteRows(db, 'sndsAccess', { workspaceId })
  await deleteRows(db, 'sndsBlock', { workspaceId })
  await deleteRows(db, 'sndsAlert', { workspaceId })
  return isDeleted
}

/** Whether the links or the approval of an access end soon, or have ended. */
export type EndingAccess = {
  workspaceId: string
  enteredAt: Date
  approvedOn: string | null
  isLinkEnding: boolean
  isApprovalEnding: boolean
}

/** The accesses of workspaces that are not deleted. */
export async function listEndingAccesses(db: Db): Promise<EndingAccess[]> {
  const { rows } = await sql<EndingAccess>`
    select workspace_id, entered_at, approved_on,
      entered_at <= now() - make_interval(days => ${SNDS_LINK_DAYS - SNDS_LINK_WARNING_DAYS})
        as is_link_ending,
      coalesce(approved_on + make_interval(months => ${SNDS_APPROVAL_MONTHS})
        <= now() + make_interval(days => ${SNDS_APPROVAL_WARNING_DAYS}), false) as is_approval_ending
    from snds_access where not ${isInDeletedWorkspace('snds_access.workspace_id')}`.execute(db)
  return rows
}

/** Stores what Microsoft counted; a day that is sent again replaces what was known of it. */
export async function saveSndsDays(
  db: Db,
  workspaceId: string,
  rows: readonly SndsRow[],
): Promise<void> {
  for (let start = 0; start < rows.length; start += 1_000) {
    const part = rows.slice(start, start + 1_000)
    await sql`
      insert into snds_day (workspace_id, address, day, rcpt_commands, data_commands, recipients,
        filter, complaint_rate, complaint_low, complaint_high, trap_hits, helo, mail_from, comments)
      select ${workspaceId}::uuid, (r->>'address')::inet, (r->>'day')::date,
        (r->>'rcptCommands')::bigint, (r->>'dataCommands')::bigint, (r->>'recipients')::bigint,
        r->>'filter', r->>'complaintRate', (r->'complaints'->>'low')::float8,
        (r->'complaints'->>'high')::float8, (r->>'trapHits')::bigint, r->>'helo', r->>'mailFrom',
        r->>'comments'
      from jsonb_array_elements(${JSON.stringify(part)}::jsonb) r
      on conflict (workspace_id, address, day) do update set
        rcpt_commands = excluded.rcpt_commands, data_commands = excluded.data_commands,
        recipients = excluded.recipients, filter = excluded.filter,
        complaint_rate = excluded.complaint_rate, complaint_low = excluded.complaint_low,
        complaint_high = excluded.complaint_high, trap_hits = excluded.trap_hits,
        helo = excluded.helo, mail_from = excluded.mail_from,
        comments = excluded.comments`.execute(db)
  }
}

/** Replaces the ranges with an abnormal status, in a transaction: none of them is gone meanwhile. */
export async function replaceSndsBlocks(
  db: Transaction<DB>,
  workspaceId: string,
  blocks: readonly SndsBlock[],
): Promise<void> {
  await deleteRows(db, 'sndsBlock', { workspaceId })
  if (blocks.length === 0) return
  await db
    .insertInto('sndsBlock')
    .values(blocks.map((block) => ({ workspaceId, ...block })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function listSndsBlocks(db: Db, workspaceId: string): Promise<SndsBlock[]> {
  const { rows } = await sql<SndsBlock>`
    select host(first) as first, host(last) as last, is_blocked, detail from snds_block
    where workspace_id = ${workspaceId} order by first, last, detail`.execute(db)
  return rows
}

export type SndsDayRow = Omit<SndsRow, 'complaints' | 'filter'> & {
  filter: SndsFilter | null
  complaintLow: number | null
  complaintHigh: number | null
}

const DAY = sql`host(address) as address, day, rcpt_commands, data_commands, recipients, filter,
  complaint_rate, complaint_low, complaint_high, trap_hits, helo, mail_from, comments`

/** The latest day of each address since then, worst first. */
export async function listLatestSndsDays(
  db: Db,
  workspaceId: string,
  { since, limit }: { since: string; limit: number },
): Promise<SndsDayRow[]> {
  const { rows } = await sql<SndsDayRow>`
    select * from (select distinct on (d.address) ${DAY} from snds_day d
      where workspace_id = ${workspaceId} and day >= ${since}::date
      order by d.address, day desc) latest
    order by array_position(array['red', 'yellow', 'green'], filter) nulls last,
      complaint_low desc nulls last, address limit ${limit}`.execute(db)
  return rows
}

/** The days of some addresses since then, in order. */
export async function listSndsDays(
  db: Db,
  workspaceId: string,
  addresses: readonly string[],
  since: string,
): Promise<SndsDayRow[]> {
  if (addresses.length === 0) return []
  const { rows } = await sql<SndsDayRow>`
    select ${DAY} from snds_day d where workspace_id = ${workspaceId} and day >= ${since}::date
      and address = any(${addresses}::inet[]) order by day, d.address`.execute(db)
  return rows
}

export type SndsAlertRow = { address: string; level: 'warning' | 'error'; isBlock: boolean }

/** Locks the open alerts of a workspace, by its access. @returns undefined without one */
export async function lockSndsAlerts(
  db: Db,
  workspaceId: string,
): Promise<SndsAlertRow[] | undefined> {
  if (!(await lockRow(db, 'sndsAccess', ['workspaceId'], { workspaceId }))) return undefined
  const { rows } = await sql<SndsAlertRow>`
    select host(address) as address, level, is_block from snds_alert
    where workspace_id = ${workspaceId} order by address`.execute(db)
  return rows
}

/** Stores the level of addresses; of those that are missing, no alert is open any more. */
export async function replaceSndsAlerts(
  db: Db,
  workspaceId: string,
  alerts: readonly SndsAlertRow[],
): Promise<void> {
  await deleteRows(db, 'sndsAlert', { workspaceId })
  if (alerts.length > 0)
    await db
      .insertInto('sndsAlert')
      .values(alerts.map((alert) => ({ workspaceId, ...alert })))
      .execute()
}
