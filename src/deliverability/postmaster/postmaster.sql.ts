import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { claimDueRows } from '../../store/due-rows.ts'
import { findRow, type Row, updateRows } from '../../store/row.ts'
import { dueAccesses } from '../provider-access/provider-access.sql.ts'
import type { Compliance, DeliveryErrors, LoopRate, PostmasterDay } from './postmaster-answers.ts'

const ACCESS = [
  'workspaceId',
  'credentialId',
  'account',
  'dueAt',
  'problem',
  'isEnded',
  'fetchedAt',
  'createdAt',
] as const
export type PostmasterAccessRow = Row<'postmasterAccess', typeof ACCESS>

export async function claimPostmasterAccesses(
  db: Db,
  limit: number,
): Promise<PostmasterAccessRow[]> {
  const due = dueAccesses('postmaster_access')
  return (await claimDueRows<PostmasterAccessRow>(due, { limit }, sql`r.*`).execute(db)).rows
}

export async function findPostmasterAccess(
  db: Db,
  workspaceId: string,
): Promise<PostmasterAccessRow | undefined> {
  return findRow(db, 'postmasterAccess', ACCESS, { workspaceId })
}

/** Stores the sign-in of a workspace in place of an earlier one, whose statistics are kept. */
export async function savePostmasterAccess(
  db: Db,
  access: Pick<PostmasterAccessRow, 'workspaceId' | 'account'> & { credentialId: string },
): Promise<PostmasterAccessRow> {
  const renewed = {
    ...access,
    dueAt: sql<Date>`now()`,
    failures: 0,
    failingSince: null,
    problem: null,
    isEnded: false,
  }
  return db
    .insertInto('postmasterAccess')
    .values(renewed)
    .onConflict((conflict) => conflict.column('workspaceId').doUpdateSet(renewed))
    .returning(ACCESS)
    .executeTakeFirstOrThrow()
}

/** Continues with a sign-in that was renewed. @returns whether the workspace uses it */
export async function renewPostmasterAccess(
  db: Db,
  workspaceId: string,
  credentialId: string,
): Promise<boolean> {
  return updateRows(
    db,
    'postmasterAccess',
    { workspaceId, credentialId },
    { dueAt: sql<Date>`now()`, isEnded: false, failures: 0 },
  )
}

export async function deletePostmasterAccess(
  db: Db,
  workspaceId: string,
): Promise<Pick<PostmasterAccessRow, 'credentialId'> | undefined> {
  return db
    .deleteFrom('postmasterAccess')
    .where('workspaceId', '=', workspaceId)
    .returning('credentialId')
    .executeTakeFirst()
}

/** The domains of a workspace, those first that were checked longest ago. */
export async function listOwnDomains(
  db: Db,
  workspaceId: string,
  limit: number,
): Promise<{ domain: string; lastDay: string | null }[]> {
  const { rows } = await sql<{ domain: string; lastDay: string | null }>`
    select own.domain, (select max(day) from postmaster_day d
      where d.workspace_id = ${workspaceId} and d.domain = own.domain) as last_day
    from (select domain from watched_domain where workspace_id = ${workspaceId}
      union select domain from dmarc_domain where workspace_id = ${workspaceId}) own
    left join postmaster_domain p on p.workspace_id = ${workspaceId} and p.domain = own.domain
    order by p.checked_at nulls first, own.domain limit ${limit}`.execute(db)
  return rows
}

type DomainState = { state: 'available' | 'no-access' | 'failed'; problem: string | null }
export type PostmasterDomainRow = DomainState & {
  domain: string
  compliance: Compliance | null
  complianceAt: Date | null
  checkedAt: Date
}

/** @param compliance null keeps what was known */
export async function savePostmasterDomain(
  db: Db,
  subject: { workspaceId: string; domain: string },
  { compliance, ...state }: DomainState & { compliance: Compliance | null },
): Promise<void> {
  const known = compliance && {
    compliance: JSON.stringify(compliance),
    complianceAt: sql<Date>`now()`,
  }
  const row = { ...state, ...known, checkedAt: sql<Date>`now()` }
  await db
    .insertInto('postmasterDomain')
    .values({ ...subject, ...row })
    .onConflict((conflict) => conflict.columns(['workspaceId', 'domain']).doUpdateSet(row))
    .execute()
}

/** What Google said of the domains that the workspace still has. */
export async function listPostmasterDomains(
  db: Db,
  workspaceId: string,
): Promise<PostmasterDomainRow[]> {
  const { rows } = await sql<PostmasterDomainRow>`
    select p.domain, p.state, p.problem, p.compliance, p.compliance_at, p.checked_at
    from postmaster_domain p where p.workspace_id = ${workspaceId} and (
      exists (select from watched_domain w where w.workspace_id = p.workspace_id and w.domain = p.domain)
      or exists (select from dmarc_domain d where d.workspace_id = p.workspace_id and d.domain = p.domain))
    order by p.domain`.execute(db)
  return rows
}

/** Stores days. What Google no longer says of a day stays as it was. */
export async function savePostmasterDays(
  db: Db,
  { workspaceId, domain }: { workspaceId: string; domain: string },
  days: readonly PostmasterDay[],
): Promise<void> {
  if (days.length === 0) return
  const rows = days.map(({ day, values, errors, loops }) => ({
    workspaceId,
    domain,
    day,
    ...values,
    errors: JSON.stringify(errors.filter(({ count }) => count > 0)),
    loops: JSON.stringify(loops),
  }))
  await sql`
    insert into postmaster_day as d (workspace_id, domain, day, spam_rate, spf_rate, dkim_rate,
      dmarc_rate, tls_inbound_rate, tls_outbound_rate, error_rate, error_count, errors, loops)
    select ${workspaceId}::uuid, ${domain}, (r->>'day')::date, (r->>'spamRate')::float8,
      (r->>'spfRate')::float8, (r->>'dkimRate')::float8, (r->>'dmarcRate')::float8,
      (r->>'tlsInboundRate')::float8, (r->>'tlsOutboundRate')::float8, (r->>'errorRate')::float8,
      (r->>'errorCount')::bigint, (r->>'errors')::jsonb, (r->>'loops')::jsonb
    from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) r
    on conflict (workspace_id, domain, day) do update set
      spam_rate = coalesce(excluded.spam_rate, d.spam_rate),
      spf_rate = coalesce(excluded.spf_rate, d.spf_rate),
      dkim_rate = coalesce(excluded.dkim_rate, d.dkim_rate),
      dmarc_rate = coalesce(excluded.dmarc_rate, d.dmarc_rate),
      tls_inbound_rate = coalesce(excluded.tls_inbound_rate, d.tls_inbound_rate),
      tls_outbound_rate = coalesce(excluded.tls_outbound_rate, d.tls_outbound_rate),
      error_rate = coalesce(excluded.error_rate, d.error_rate),
      error_count = coalesce(excluded.error_count, d.error_count),
      errors = case when excluded.errors = '[]' then d.errors else excluded.errors end,
      loops = case when excluded.loops = '[]' then d.loops else excluded.loops end`.execute(db)
}

const DAY = [
  'day',
  'spamRate',
  'spfRate',
  'dkimRate',
  'dmarcRate',
  'tlsInboundRate',
  'tlsOutboundRate',
  'errorRate',
  'errorCount',
  'errors',
  'loops',
] as const
export type PostmasterDayRow = Row<
  'postmasterDay',
  typeof DAY,
  { errors: DeliveryErrors[]; loops: LoopRate[] }
>

/** The days of a domain since then, in order, without those of which nothing is known. */
export async function listPostmasterDays(
  db: Db,
  { workspaceId, domain }: { workspaceId: string; domain: string },
  since: string,
): Promise<PostmasterDayRow[]> {
  const rows = await db
    .selectFrom('postmasterDay')
    .select(DAY)
    .where('workspaceId', '=', workspaceId)
    .where('domain', '=', domain)
    .where('day', '>=', since)
    .orderBy('day')
    .execute()
  return rows as PostmasterDayRow[]
}
