import { sql, type Kysely, type RawBuilder, type Selectable, type Transaction } from 'kysely'
import type { Pool } from 'pg'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import type { DB } from '../../store/tables.ts'
import type { AttackerNetwork } from '../reputation/attacker-network.ts'
import type { Refutation } from '../reputation/reputation.sql.ts'
import { restored, upsertAddresses, type AddressRow } from '../attack-list.sql.ts'
import { DAY_MS, isoDay } from '../../time.ts'
import { ADVISORY_LOCKS } from '../../store/advisory-locks.ts'

/** Kysely for writes, and connections that look up by index and keep prepared statements. */
export type Store = { db: Kysely<DB>; pool: Pool }

/**
 * The used part of a source’s rate, and since when (milliseconds since 1970); 0 for an unused one.
 */
export type RateUsage = { source: string; used: number; startedAt: number }

export type Found = {
  addresses: Map<string, AddressRow>
  usages: Map<string, RateUsage>
  /** The reporters’ addresses that are listed themselves. */
  listed: Set<string>
  /** Report tokens by their hashes. */
  tokens: Map<string, KnownToken>
}

export type KnownToken = { id: string; label: string; workspaceId: string }

type FoundRow = {
  addresses: (Omit<AddressRow, Moment> & Record<Moment, string | null>)[]
  usages: RateUsage[]
  listed: string[]
  tokens: (KnownToken & { hash: string })[]
}
type Moment = 'firstReportedAt' | 'lastReportedAt' | 'dueAt' | 'probationUntil'

/** Reads everything that a group of reports needs, in one query. */
export async function findForGroup(
  store: Store,
  asked: { addresses: string[]; sources: string[]; reporters: string[]; tokens: string[] },
): Promise<Found> {
  const query = sql<FoundRow>`
    select
      (select coalesce(json_agg(known), '[]') from (
        select address, state, score, confidence, evidence, services, networks, total_reports as "totalReports",
          first_reported_at as "firstReportedAt", last_reported_at as "lastReportedAt", due_at as "dueAt",
          probation_until as "probationUntil", shared, confirmation, revision
        from abuse_address where address = any(${asked.addresses}::inet[])
      ) as known) as addresses,
      (select coalesce(json_agg(known), '[]') from (
        select source, used, (extract(epoch from started_at) * 1000)::bigint as "startedAt"
        from abuse_rate where source = any(${asked.sources}::text[])
      ) as known) as usages,
      (select coalesce(json_agg(address), '[]')
        from abuse_address where address = any(${asked.reporters}::inet[]) and state = 'listed') as listed,
      (select coalesce(json_agg(known), '[]') from (
        select encode(hash, 'hex') as hash, id, label, workspace_id as "workspaceId" from abuse_token
        where hash in (select decode(given, 'hex') from unnest(${asked.tokens}::text[]) as given)
          and not ${isInDeletedWorkspace('workspace_id')}
      ) as known) as tokens`
  const rows = await executePrepared('abuse.find', query, store)
  const { addresses, usages, listed, tokens } = rows[0] as FoundRow
  return {
    addresses: new Map(addresses.map((row) => [row.address, restored(withDates(row))])),
    usages: new Map(usages.map((usage) => [usage.source, usage])),
    listed: new Set(listed),
    tokens: new Map(tokens.map(({ hash, ...token }) => [hash, token])),
  }
}

function withDates(row: FoundRow['addresses'][number]) {
  const dateOf = (text: string | null) => (text === null ? null : new Date(text))
  const { firstReportedAt, lastReportedAt, dueAt, probationUntil } = row
  return {
    ...row,
    firstReportedAt: dateOf(firstReportedAt),
    lastReportedAt: dateOf(lastReportedAt),
    dueAt: dateOf(dueAt),
    probationUntil: dateOf(probationUntil),
  }
}

export type AttackReportRow = Omit<Selectable<DB['abuseReport']>, 'at'>

/** The changes of a group of reports. */
export type Changes = {
  addresses: AddressRow[]
  /** The values as read, and the new ones. */
  usages: { before: RateUsage | undefined; after: RateUsage }[]
  reports: AttackReportRow[]
  counts: { service: string; reports: number }[]
  systemCounts: (AttackerNetwork & { service: string; reports: number })[]
  tokenCounts: { tokenId: string; service: string; reports: number }[]
  /** Networks to be marked as seen. */
  networks: { network: string; origin: string }[]
  refutations: Refutation[]
}

/**
 * Writes all changes in one statement, or none when a row has changed since it was read.
 * @param lane number of this instance’s counters
 * @throws with SQLSTATE 40001: read again
 */
export async function writeGroup(
  store: Store,
  changes: Changes,
  { now, lane }: { now: Date; lane: number },
): Promise<void> {
  const { addresses, usages, reports, counts, systemCounts, tokenCounts, networks, refutations } =
    changes
  const query = sql`
    with written_address as (${upsertAddresses(addresses)} returning 1),
    usage as (
      select source, used, used_before, to_timestamp(started / 1000) as started_at,
        to_timestamp(before / 1000) as started_before
      from json_to_recordset(${JSON.stringify(usageRecords(usages))}::json)
        as given (source text, used integer, started float8, used_before integer, before float8)
    ),
    written_usage as (
      insert into abuse_rate as known (source, used, started_at) select source, used, started_at from usage
      on conflict (source) do update set used = excluded.used, started_at = excluded.started_at
      where (known.used, known.started_at) =
        (select used_before, started_before from usage where usage.source = excluded.source)
      returning 1
    ),
    reported as (${insertReports(reports, now)}),
    counted as (${addCounts(counts, lane, now)}),
    system_counted as (${addSystemCounts(systemCounts, lane, now)}),
    token_counted as (${addTokenCounts(tokenCounts, now)}),
    seen as (${markNetworksSeen(networks, now)}),
    refuted as (${insertRefutations(refutations, now)})
    select abuse_require(
      (select count(*) from written_address) = ${addresses.length}
      and (select count(*) from written_usage) = ${usages.length}
    )`
  await executePrepared('abuse.write', query, store)
}

/** Prepared once per connection, because these statements are long and the same for every group. */
async function executePrepared<Row>(
  name: string,
  query: RawBuilder<Row>,
  { db, pool }: Store,
): Promise<Row[]> {
  const { sql: text, parameters } = query.compile(db)
  const { rows } = await pool.query({ name, text, values: [...parameters] })
  return rows as Row[]
}

function usageRecords(usages: Changes['usages']): object[] {
  return usages
    .toSorted((a, b) => (a.after.source < b.after.source ? -1 : 1))
    .map(({ before, after: { source, used, startedAt } }) => ({
      source,
      used,
      started: startedAt,
      used_before: before?.used,
      before: before?.startedAt,
    }))
}

function insertReports(reports: AttackReportRow[], now: Date) {
  return sql`
    insert into abuse_report (at, address, service, port, count, network, origin, strong, counted, early, token_id)
    select ${now}::timestamptz, given.* from json_to_recordset(${JSON.stringify(reports)}::json) as given (
      address inet, service text, port integer, count integer, network text, origin text, strong boolean,
      counted boolean, early boolean, "tokenId" uuid)`
}

function addCounts(counts: Changes['counts'], lane: number, now: Date) {
  return sql`
    insert into abuse_count as kept (hour, service, lane, reports)
    select date_trunc('hour', ${now}::timestamptz, 'UTC'), service, ${lane}::integer, reports
    from json_to_recordset(${JSON.stringify(counts)}::json) as given (service text, reports bigint) order by service
    on conflict (hour, service, lane) do update set reports = kept.reports + excluded.reports`
}

function addSystemCounts(counts: Changes['systemCounts'], lane: number, now: Date) {
  return sql`
    insert into abuse_system_count as kept (day, network, name, service, lane, reports)
    select (${now}::timestamptz at time zone 'UTC')::date, network, name, service, ${lane}::integer, reports
    from json_to_recordset(${JSON.stringify(counts)}::json)
      as given (network text, name text, service text, reports bigint)
    order by network, service
    on conflict (day, network, service, lane) do update
      set reports = kept.reports + excluded.reports, name = excluded.name`
}

function addTokenCounts(counts: Changes['tokenCounts'], now: Date) {
  return sql`
    insert into abuse_token_count as kept (token_id, day, service, reports)
    select "tokenId", (${now}::timestamptz at time zone 'UTC')::date, service, reports
    from json_to_recordset(${JSON.stringify(counts)}::json) as given ("tokenId" uuid, service text, reports bigint)
    where exists (select from abuse_token where id = "tokenId")
    order by "tokenId", service
    on conflict (token_id, day, service) do update set reports = kept.reports + excluded.reports`
}

function markNetworksSeen(networks: Changes['networks'], now: Date) {
  return sql`
    insert into abuse_network (network, origin, first_seen_at, last_seen_at)
    select network, origin, ${now}::timestamptz, ${now}::timestamptz
    from json_to_recordset(${JSON.stringify(networks)}::json) as given (network text, origin text) order by network
    on conflict (network) do update set origin = excluded.origin, last_seen_at = excluded.last_seen_at`
}

/** A network is refuted once for one address. */
function insertRefutations(refutations: Refutation[], now: Date) {
  return sql`
    insert into abuse_refutation (network, address, cause, at)
    select network, address, cause, ${now}::timestamptz
    from json_to_recordset(${JSON.stringify(refutations)}::json) as given (network text, address inet, cause text)
    order by network, address
    on conflict (network, address) do nothing`
}

/**
 * Counts one request of a source in its window.
 * @returns the used part including this request
 */
export async function countSourceRequest(
  db: Db,
  source: string,
  { now, windowStart }: { now: Date; windowStart: Date },
): Promise<number> {
  const { rows } = await sql<{ used: number }>`
    insert into abuse_rate as known (source, started_at, used) values (${source}, ${now}, 1)
    on conflict (source) do update set
      used = case when known.started_at > ${windowStart} then known.used else 0 end + 1,
      started_at = case when known.started_at > ${windowStart} then known.started_at else excluded.started_at end
    returning used`.execute(db)
  return rows[0]?.used ?? 1
}

/**
 * Fails early instead of waiting for a lock on the table, because reports would queue behind it. It
 * is retried.
 */
async function waitBriefly(db: Transaction<DB>): Promise<void> {
  await sql`set local lock_timeout = '3s'`.execute(db)
}

/** Creates the partitions of these days (`2026-11-21`, UTC) that are missing. */
export async function createPartitions(db: Transaction<DB>, days: string[]): Promise<void> {
  await waitBriefly(db)
  const missing = days.filter((day) => /^\d{4}-\d\d-\d\d$/.test(day))
  await sql`select pg_advisory_xact_lock(${ADVISORY_LOCKS.reportPartitions})`.execute(db)
  for (const day of missing) {
    const name = `abuse_report_${day.replaceAll('-', '')}`
    const next = isoDay(Date.parse(day) + DAY_MS)
    const [from, to] = [`${day} 00:00:00+00`, `${next} 00:00:00+00`]
    if (await hasTable(db, name)) continue
    await sql`create table ${sql.id(name)} partition of abuse_report
      for values from (${sql.lit(from)}) to (${sql.lit(to)})`.execute(db)
    // New reports are found by time for the journal of the federation.
    await sql`create index on ${sql.id(name)} using brin (at) with (pages_per_range = 32)`.execute(
      db,
    )
  }
}

async function hasTable(db: Db, name: string): Promise<boolean> {
  const { rows } = await sql<{ exists: boolean }>`
    select to_regclass(${`public.${name}`}) is not null as exists`.execute(db)
  return rows[0]?.exists ?? false
}

/** Drops the partitions that end before a day. @returns their names */
export async function dropPartitions(db: Transaction<DB>, before: string): Promise<string[]> {
  await waitBriefly(db)
  const { rows } = await sql<{ name: string }>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = 'abuse_report'::regclass`.execute(
    db,
  )
  const last = `abuse_report_${before.replaceAll('-', '')}`
  const old = rows.map(({ name }) => name).filter((name) => name < last)
  for (const name of old) await sql`drop table ${sql.id(name)}`.execute(db)
  return old
}
