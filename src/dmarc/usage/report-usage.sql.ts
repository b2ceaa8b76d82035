import { sql, type Transaction } from 'kysely'
import type { Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'

/**
 * Mail that one scope (a report address, an account, the installation) has received today (UTC).
 */
export type DayUsage = { mails: number; bytes: number; unpackedBytes: number; records: number }

/** Items rejected today, by reason. */
export type RejectedCounts = { unreadable: number; otherDomain: number; overLimit: number }

/** The ID of the installation's scope. */
export const INSTALLATION = '00000000-0000-0000-0000-000000000000'

const TODAY = sql`(now() at time zone 'UTC')::date`

/**
 * Counts an email in each of these scopes, always in one order, so that concurrent transactions
 * cannot deadlock.
 * @returns the usage of each scope, including this email
 */
export async function countMail(
  trx: Transaction<DB>,
  scopes: string[],
  bytes: number,
): Promise<DayUsage[]> {
  const { rows } = await sql<DayUsage & { scopeId: string }>`
    insert into dmarc_intake_day as d (scope_id, day, mails, bytes)
    select id, ${TODAY}, 1, ${bytes} from unnest(${scopes}::uuid[]) with ordinality as s (id, position) order by position
    on conflict (scope_id, day) do update set mails = d.mails + 1, bytes = d.bytes + excluded.bytes
    returning scope_id, mails, bytes, unpacked_bytes, records`.execute(trx)
  const byScope = new Map(rows.map((row) => [row.scopeId, row]))
  return scopes.map((scope) => byScope.get(scope) ?? NOTHING)
}

const NOTHING: DayUsage = { mails: 0, bytes: 0, unpackedBytes: 0, records: 0 }

/** Today's usage of each of these scopes. */
export async function findUsage(db: Db, scopes: string[]): Promise<DayUsage[]> {
  const rows = await db
    .selectFrom('dmarcIntakeDay')
    .select(['scopeId', 'mails', 'bytes', 'unpackedBytes', 'records'])
    .where('scopeId', '=', sql<string>`any(${scopes}::uuid[])`)
    .where('day', '=', sql<string>`${TODAY}`)
    .execute()
  const byScope = new Map(rows.map((row) => [row.scopeId, row]))
  return scopes.map((scope) => byScope.get(scope) ?? NOTHING)
}

type Cost = { unpackedBytes: number; records: number } & RejectedCounts

/** Adds the cost and rejected items of an email to each scope. */
export async function addUsage(db: Db, scopes: string[], cost: Partial<Cost>): Promise<void> {
  const { unpackedBytes = 0, records = 0, unreadable = 0, otherDomain = 0, overLimit = 0 } = cost
  await sql`
    insert into dmarc_intake_day as d (scope_id, day, unpacked_bytes, records, unreadable, other_domain, over_limit)
    select id, ${TODAY}, ${unpackedBytes}, ${records}, ${unreadable}, ${otherDomain}, ${overLimit}
    from unnest(${scopes}::uuid[]) with ordinality as s (id, position) order by position
    on conflict (scope_id, day) do update set unpacked_bytes = d.unpacked_bytes + excluded.unpacked_bytes,
      records = d.records + excluded.records, unreadable = d.unreadable + excluded.unreadable,
      other_domain = d.other_domain + excluded.other_domain, over_limit = d.over_limit + excluded.over_limit`.execute(
    db,
  )
}

/**
 * Claims samples for rejected items. @returns how many of the `wanted` ones today's limit allows
 */
export async function claimSamples(
  trx: Transaction<DB>,
  scope: string,
  wanted: number,
  most: number,
): Promise<number> {
  const { rows } = await sql<{ samples: number }>`
    insert into dmarc_intake_day as d (scope_id, day, samples) values (${scope}, ${TODAY}, ${wanted})
    on conflict (scope_id, day) do update set samples = d.samples + excluded.samples returning samples`.execute(
    trx,
  )
  const before = (rows[0]?.samples ?? wanted) - wanted
  return Math.min(wanted, Math.max(0, most - before))
}

/**
 * Items rejected today at the report addresses of these domains; a domain without an entry has
 * none.
 */
export async function listRejectedToday(
  db: Db,
  domainIds: string[],
): Promise<Map<string, RejectedCounts>> {
  const rows = await db
    .selectFrom('dmarcIntakeDay')
    .select(['scopeId', 'unreadable', 'otherDomain', 'overLimit'])
    .where('scopeId', '=', sql<string>`any(${domainIds}::uuid[])`)
    .where('day', '=', sql<string>`${TODAY}`)
    .execute()
  return new Map(rows.map(({ scopeId, ...counts }) => [scopeId, counts]))
}
