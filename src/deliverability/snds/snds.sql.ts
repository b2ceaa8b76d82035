import { sql, type Transaction } from 'kysely'
import type { SndsBlock, SndsFilter, SndsRow } from '../../protocols/reports/snds-report.ts'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import { claimDueRows } from '../../store/due-rows.ts'
import type { DB } from '../../store/tables.ts'
import { deleteRows, findRow, lockRow, type Row, updateRows } from '../../store/row.ts'
import {
  SNDS_APPROVAL_MONTHS,
  SNDS_APPROVAL_WARNING_DAYS,
  SNDS_LINK_DAYS,
  SNDS_LINK_WARNING_DAYS,
  SNDS_SIGN_IN_DAYS,
  SNDS_SIGN_IN_WARNING_DAYS,
} from '../limits.ts'
import { dueAccesses } from '../provider-access/provider-access.sql.ts'

/** Of both kinds of access. */
const STATE = [
  'workspaceId',
  'approvedOn',
  'dueAt',
  'problem',
  'isEnded',
  'unreadable',
  'fetchedAt',
  'createdAt',
] as const

const ACCESS = [...STATE, 'sealed', 'enteredAt'] as const
/** Links of the automated data access. */
export type SndsAccessRow = Row<'sndsAccess', typeof ACCESS>

const SIGN_IN = [...STATE, 'credentialId', 'account'] as const
/** A sign-in of a person. A workspace has this or links. */
export type SndsSignInRow = Row<'sndsSignIn', typeof SIGN_IN>

export type SndsTable = 'snds_access' | 'snds_sign_in'

export async function claimSndsAccesses(db: Db, limit: number): Promise<SndsAccessRow[]> {
  const due = dueAccesses('snds_access')
  return (await claimDueRows<SndsAccessRow>(due, { limit }, sql`r.*`).execute(db)).rows
}

export async function claimSndsSignIns(db: Db, limit: number): Promise<SndsSignInRow[]> {
  const due = dueAccesses('snds_sign_in')
  return (await claimDueRows<SndsSignInRow>(due, { limit }, sql`r.*`).execute(db)).rows
}

export async function findSndsAccess(
  db: Db,
  workspaceId: string,
): Promise<SndsAccessRow | undefined> {
  return findRow(db, 'sndsAccess', ACCESS, { workspaceId })
}

export async function findSndsSignIn(
  db: Db,
  workspaceId: string,
): Promise<SndsSignInRow | undefined> {
  return findRow(db, 'sndsSignIn', SIGN_IN, { workspaceId })
}

/** What an access that is entered again begins with. */
const RENEWED = {
  dueAt: sql<Date>`now()`,
  failures: 0,
  failingSince: null,
  problem: null,
  isEnded: false,
  unreadable: null,
}

/** Stores a sign-in in place of links or of another one, and keeps the day of the approval. */
export async function saveSndsSignIn(
  db: Db,
  signIn: Pick<SndsSignInRow, 'workspaceId' | 'account' | 'approvedOn'> & { credentialId: string },
): Promise<void> {
  const renewed = { ...signIn, ...RENEWED }
  await deleteRows(db, 'sndsAccess', { workspaceId: signIn.workspaceId })
  await db
    .insertInto('sndsSignIn')
    .values(renewed)
    .onConflict((conflict) => conflict.column('workspaceId').doUpdateSet(renewed))
    .execute()
}

/** Continues with a sign-in that was renewed. @returns whether the workspace uses it */
export async function renewSndsSignIn(
  db: Db,
  workspaceId: string,
  credentialId: string,
): Promise<boolean> {
  return updateRows(
    db,
    'sndsSignIn',
    { workspaceId, credentialId },
    { dueAt: sql<Date>`now()`, isEnded: false, failures: 0 },
  )
}

/** Deletes a sign-in. @returns its credential; undefined without a sign-in */
export async function deleteSndsSignIn(
  db: Db,
  workspaceId: string,
): Promise<Pick<SndsSignInRow, 'credentialId'> | undefined> {
  return db
    .deleteFrom('sndsSignIn')
    .where('workspaceId', '=', workspaceId)
    .returning('credentialId')
    .executeTakeFirst()
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
    ...RENEWED,
  }
  return db
    .insertInto('sndsAccess')
    .values({ workspaceId, ...renewed })
    .onConflict((conflict) => conflict.column('workspaceId').doUpdateSet(renewed))
    .returning(ACCESS)
    .executeTakeFirstOrThrow()
}

/** @returns whether the workspace has an access */
export async function saveApproval(
  db: Db,
  workspaceId: string,
  approvedOn: string | null,
): Promise<boolean> {
  for (const table of ['sndsAccess', 'sndsSignIn'] as const) {
    const { numUpdatedRows } = await db
      .updateTable(table)
      .set({ approvedOn })
      .where('workspaceId', '=', workspaceId)
      .executeTakeFirst()
    if (numUpdatedRows > 0n) return true
  }
  return false
}

/** Stores what of the last fetch could not be read. */
export async function saveUnreadable(
  db: Db,
  table: SndsTable,
  workspaceId: string,
  unreadable: string | null,
): Promise<void> {
  await sql`update ${sql.table(table)} set unreadable = ${unreadable}
    where workspace_id = ${workspaceId}`.execute(db)
}

/** Deletes the links, and what an access showed. @returns whether there were links */
export async function deleteSndsAccess(db: Db, workspaceId: string): Promise<boolean> {
  const isDeleted = await deleteRows(db, 'sndsAccess', { workspaceId })
  await deleteRows(db, 'sndsBlock', { workspaceId })
  await deleteRows(db, 'sndsAlert', { workspaceId })
  return isDeleted
}

/** Whether the links, the sign-in or the approval of an access end soon, or have ended. */
export type EndingAccess = {
  workspaceId: string
  /** When the links were entered, or the sign-in was last used; null when it was deleted. */
  since: Date | null
  approvedOn: string | null
  isLinkEnding: boolean
  isSignInEnding: boolean
  isApprovalEnding: boolean
  isEnded: boolean
}

/** The accesses of workspaces that are not deleted. */
export async function listEndingAccesses(db: Db): Promise<EndingAccess[]> {
  const linkDays = SNDS_LINK_DAYS - SNDS_LINK_WARNING_DAYS
  const signInDays = SNDS_SIGN_IN_DAYS - SNDS_SIGN_IN_WARNING_DAYS
  const { rows } = await sql<EndingAccess>`
    select workspace_id, since, approved_on, is_ended,
      coalesce(is_link and since <= now() - make_interval(days => ${linkDays}), false)
        as is_link_ending,
      coalesce(not is_link and since <= now() - make_interval(days => ${signInDays}), false)
        as is_sign_in_ending,
      coalesce(approved_on + make_interval(months => ${SNDS_APPROVAL_MONTHS})
        <= now() + make_interval(days => ${SNDS_APPROVAL_WARNING_DAYS}), false) as is_approval_ending
    from (
      select workspace_id, true as is_link, entered_at as since, approved_on, is_ended
        from snds_access
      union all
      select s.workspace_id, false, c.access_expires_at - make_interval(secs => c.lifetime_seconds),
        s.approved_on, s.is_ended
      from snds_sign_in s left join mail_credential c on c.id = s.credential_id
    ) a where not ${isInDeletedWorkspace('a.workspace_id')}`.execute(db)
  return rows
}

/** The days between two, both inclusive, of which nothing is stored yet, latest first. */
export async function listMissingSndsDays(
  db: Db,
  workspaceId: string,
  { first, last }: { first: string; last: string },
): Promise<string[]> {
  const { rows } = await sql<{ day: string }>`
    select to_char(day, 'YYYY-MM-DD') as day
    from generate_series(${first}::date, ${last}::date, '1 day') day
    where not exists (select from snds_day d
      where d.workspace_id = ${workspaceId} and d.day = day.day::date)
    order by day desc`.execute(db)
  return rows.map(({ day }) => day)
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
  const access =
    (await lockRow(db, 'sndsAccess', ['workspaceId'], { workspaceId })) ??
    (await lockRow(db, 'sndsSignIn', ['workspaceId'], { workspaceId }))
  if (!access) return undefined
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
