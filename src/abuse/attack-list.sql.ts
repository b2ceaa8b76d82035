import { sql, type Transaction } from 'kysely'
import type { Db } from '../store/database.ts'
import type { DB } from '../store/tables.ts'
import type { Confidence, Evidence, Standing, State } from './scoring/score.ts'
import type { Row } from '../store/row.ts'

const ADDRESS = [
  'address',
  'state',
  'score',
  'confidence',
  'evidence',
  'services',
  'networks',
  'totalReports',
  'firstReportedAt',
  'lastReportedAt',
  'dueAt',
  'probationUntil',
  'shared',
  'confirmation',
  'revision',
] as const

/** The stored row of an address. */
export type AddressRow = Row<
  'abuseAddress',
  typeof ADDRESS,
  {
    state: Exclude<State, 'none'>
    confidence: Confidence
    evidence: Evidence[]
    /** Whether an administrator has to confirm the listing, or has confirmed it. */
    confirmation: 'none' | 'awaiting' | 'confirmed'
  }
>

/**
 * Evidence as it is stored: a tuple, because field names would take more space than the values, a
 * million times.
 */
type StoredEvidence = [
  network: string,
  origin: string,
  service: string,
  standing: Standing,
  base: number,
  more: number,
  at: number,
  first: number,
  countedAt: number,
  reports: number,
  events: number,
  port: number | null,
]

function stored(e: Evidence): StoredEvidence {
  const {
    network,
    origin,
    service,
    standing,
    base,
    more,
    at,
    first,
    countedAt,
    reports,
    events,
    port,
  } = e
  return [
    network,
    origin,
    service,
    standing,
    base,
    more,
    at,
    first,
    countedAt,
    reports,
    events,
    port,
  ]
}

function restoredEvidence(e: StoredEvidence): Evidence {
  const [
    network,
    origin,
    service,
    standing,
    base,
    more,
    at,
    first,
    countedAt,
    reports,
    events,
    port,
  ] = e
  return {
    network,
    origin,
    service,
    standing,
    base,
    more,
    at,
    first,
    countedAt,
    reports,
    events,
    port,
  }
}

/** Converts a database row to an `AddressRow`. */
export function restored(row: object): AddressRow {
  const { evidence, ...rest } = row as Omit<AddressRow, 'evidence'> & { evidence: StoredEvidence[] }
  return { ...rest, evidence: evidence.map(restoredEvidence) }
}

/** Loads rows in no particular order. Unknown addresses are missing. */
export async function findAddressRows(db: Db, addresses: string[]): Promise<AddressRow[]> {
  const rows = db
    .selectFrom('abuseAddress')
    .select(ADDRESS)
    .where('address', '=', sql<string>`any(${addresses}::inet[])`)
  return (await rows.execute()).map(restored)
}

/** Locks the row until the transaction ends. */
export async function lockAddress(
  db: Transaction<DB>,
  address: string,
): Promise<AddressRow | undefined> {
  const rows = db
    .selectFrom('abuseAddress')
    .select(ADDRESS)
    .where('address', '=', address)
    .forUpdate()
  return (await rows.execute()).map(restored)[0]
}

/** Inserts those of these addresses that are unknown, without evidence. */
export async function insertAddresses(
  db: Transaction<DB>,
  addresses: { address: string; shared: boolean }[],
  now: Date,
): Promise<void> {
  const sorted = addresses.toSorted((a, b) => (a.address < b.address ? -1 : 1))
  await sql`
    insert into abuse_address (address, state, score, confidence, evidence, services, networks, total_reports,
      first_reported_at, last_reported_at, shared, confirmation, revision)
    select address, 'observed', 0, 'none', '[]', '{}', 0, 0, ${now}, ${now}, shared, 'none', 1
    from json_to_recordset(${JSON.stringify(sorted)}::json) as given (address inet, shared boolean)
    on conflict do nothing`.execute(db)
}

/** Locks rows until the transaction ends, in the order of their addresses. */
export async function lockAddresses(
  db: Transaction<DB>,
  addresses: string[],
): Promise<AddressRow[]> {
  const rows = db
    .selectFrom('abuseAddress')
    .select(ADDRESS)
    .where('address', '=', sql<string>`any(${addresses}::inet[])`)
    .orderBy(sql`address::text collate "C"`)
    .forUpdate()
  return (await rows.execute()).map(restored)
}

/** Deletes rows that no evidence is left about and that were never reported here. */
export async function deleteUnreported(db: Transaction<DB>, addresses: string[]): Promise<void> {
  await db
    .deleteFrom('abuseAddress')
    .where('address', '=', sql<string>`any(${addresses}::inet[])`)
    .where('totalReports', '=', 0)
    .where('networks', '=', 0)
    .where('published', '=', false)
    .where('state', '<>', 'listed')
    .where('probationUntil', 'is', null)
    .where(sql<boolean>`json_array_length(evidence) = 0`)
    .execute()
}

/** Locks the rows that are due. Rows locked by others are left for later. */
export async function lockDueAddresses(
  db: Transaction<DB>,
  now: Date,
  limit: number,
): Promise<AddressRow[]> {
  const rows = db
    .selectFrom('abuseAddress')
    .select(ADDRESS)
    .where('state', 'in', ['listed', 'watchlist'])
    .where('dueAt', '<=', now)
    .limit(limit)
    .forUpdate()
    .skipLocked()
  return (await rows.execute()).map(restored)
}

/** Writes the assessments of locked rows. */
export async function saveAddresses(db: Transaction<DB>, rows: AddressRow[]): Promise<void> {
  if (rows.length > 0) await sql`${updateAddresses(rows)}`.execute(db)
}

/** Updates those of these rows that are unchanged since they were read. */
function updateAddresses(rows: AddressRow[]) {
  return sql`
    update abuse_address as known set
      state = given.state, score = given.score, confidence = given.confidence, evidence = given.evidence,
      services = given.services, networks = given.networks, total_reports = given."totalReports",
      last_reported_at = to_timestamp(given."lastReportedAt"), due_at = to_timestamp(given."dueAt"),
      probation_until = to_timestamp(given."probationUntil"), shared = given.shared,
      confirmation = given.confirmation, revision = given.revision + 1
    from ${recordsOf(rows)}
    where known.address = given.address and known.revision = given.revision`
}

/**
 * Inserts new rows and updates those that are unchanged since they were read. The key is looked up
 * in its index whatever the planner estimates: a prepared statement must still be fast when the
 * table has grown by a million rows.
 */
export function upsertAddresses(rows: AddressRow[]) {
  return sql`
    insert into abuse_address as known (address, state, score, confidence, evidence, services, networks, total_reports,
      first_reported_at, last_reported_at, due_at, probation_until, shared, confirmation, revision)
    select address, state, score, confidence, evidence, services, networks, "totalReports",
      to_timestamp("firstReportedAt"), to_timestamp("lastReportedAt"), to_timestamp("dueAt"), to_timestamp("probationUntil"),
      shared, confirmation, revision + 1
    from ${recordsOf(rows)}
    on conflict (address) do update set
      state = excluded.state, score = excluded.score, confidence = excluded.confidence, evidence = excluded.evidence,
      services = excluded.services, networks = excluded.networks, total_reports = excluded.total_reports,
      last_reported_at = excluded.last_reported_at, due_at = excluded.due_at, probation_until = excluded.probation_until,
      shared = excluded.shared,
      confirmation = excluded.confirmation, revision = excluded.revision
    where known.revision = excluded.revision - 1`
}

function recordsOf(rows: AddressRow[]) {
  // Sorted, because statements that lock rows in different orders could deadlock.
  const sorted = rows.toSorted((a, b) => (a.address < b.address ? -1 : 1))
  const records = sorted.map((row) => ({
    ...row,
    evidence: row.evidence.map(stored),
    // Seconds, because one Date would make serializing the whole JSON slow.
    firstReportedAt: secondsOf(row.firstReportedAt),
    lastReportedAt: secondsOf(row.lastReportedAt),
    dueAt: secondsOf(row.dueAt),
    probationUntil: secondsOf(row.probationUntil),
  }))
  return sql`json_to_recordset(${JSON.stringify(records)}::json) as given (
    address inet, state text, score real, confidence text, evidence json, services text[], networks integer,
    "totalReports" integer, "firstReportedAt" float8, "lastReportedAt" float8, "dueAt" float8,
    "probationUntil" float8, shared boolean, confirmation text, revision integer)`
}

/** Since 1970. */
function secondsOf(date: Date | null): number | null {
  return date && date.getTime() / 1000
}

// --- statistics ---

export async function countStates(db: Db): Promise<{ state: string; count: number }[]> {
  const { rows } = await sql<{ state: string; count: number }>`
    select state, count(*) from abuse_address where state in ('listed', 'watchlist') group by state`.execute(
    db,
  )
  return rows
}

export async function countNetworksSince(db: Db, since: Date): Promise<number> {
  const { count } = await db
    .selectFrom('abuseNetwork')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('lastSeenAt', '>=', since)
    .executeTakeFirstOrThrow()
  return count
}

/** Accepted reports by service, in all and since two moments. */
export async function sumReports(
  db: Db,
  { day, week }: { day: Date; week: Date },
): Promise<{ service: string; count: number; lastDay: number; lastWeek: number }[]> {
  const { rows } = await sql<{ service: string; count: number; lastDay: number; lastWeek: number }>`
    select service, sum(reports)::bigint as count,
      coalesce(sum(reports) filter (where hour >= ${day}), 0)::bigint as last_day,
      coalesce(sum(reports) filter (where hour >= ${week}), 0)::bigint as last_week
    from abuse_count group by service order by count desc, service`.execute(db)
  return rows
}

/** Oldest first; days without a report are missing. */
export async function sumReportsPerDay(
  db: Db,
  since: Date,
): Promise<{ day: string; count: number }[]> {
  const { rows } = await sql<{ day: string; count: number }>`
    select (hour at time zone 'UTC')::date as day, sum(reports)::bigint as count
    from abuse_count where hour >= ${since} group by 1 order by 1`.execute(db)
  return rows
}

/** Reports of a network by service; `network` is null for all networks that are not shown. */
export type SystemCountRow = {
  network: string | null
  name: string
  service: string
  reports: number
  /** How many networks the row stands for. */
  networks: number
}

/** Accepted reports by network of the attacker and service, networks with most reports first. */
export async function countAttackersBySystem(
  db: Db,
  { from, to }: { from: string; to: string },
  limit: number,
): Promise<SystemCountRow[]> {
  const { rows } = await sql<SystemCountRow>`
    with counted as materialized (
      select network, service, max(name) as name, sum(reports) as reports from abuse_system_count
      where day between ${from} and ${to} group by network, service
    ),
    ranked as (
      select network, max(name) as name, row_number() over (order by sum(reports) desc, network) as place
      from counted group by network
    ),
    placed as (
      select case when place <= ${limit} then place end as place, network, ranked.name, service, reports
      from counted join ranked using (network)
    )
    select case when place is not null then min(network) end as network,
      case when place is not null then min(placed.name) else '' end as name, service, sum(reports)::bigint as reports,
      (select greatest(0, count(*) - ${limit}) from ranked)::integer as networks
    from placed group by place, service order by place, reports desc, service`.execute(db)
  return rows
}

/**
 * Combines hourly counts before a day into daily ones, and the counters of all instances into one.
 */
export async function foldCounts(db: Db, before: Date): Promise<void> {
  await sql`
    with folded as (
      delete from abuse_count where hour < ${before}
        and (lane <> 0 or hour <> date_trunc('day', hour, 'UTC')) returning hour, service, reports
    )
    insert into abuse_count as kept (hour, service, lane, reports)
    select date_trunc('day', hour, 'UTC'), service, 0, sum(reports) from folded group by 1, 2
    on conflict (hour, service, lane) do update set reports = kept.reports + excluded.reports`.execute(
    db,
  )
}

/** Combines the counters of all instances into one, for days before a day. */
export async function foldSystemCounts(db: Db, before: Date): Promise<void> {
  await sql`
    with folded as (
      delete from abuse_system_count
      where day < (${before}::timestamptz at time zone 'UTC')::date and lane <> 0
      returning day, network, name, service, reports
    )
    insert into abuse_system_count as kept (day, network, name, service, lane, reports)
    select day, network, max(name), service, 0, sum(reports) from folded group by day, network, service
    on conflict (day, network, service, lane) do update set reports = kept.reports + excluded.reports`.execute(
    db,
  )
}
