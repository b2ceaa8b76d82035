import { sql } from 'kysely'
import type { AggregateRecord } from '../../protocols/reports/aggregate-report.ts'
import type { Db } from '../../store/database.ts'
import type { PageSlice } from '../reports/store.ts'
import { COUNTS } from '../statistics/tally.ts'
import { GROUP, SUMS, type DayRow, type DayRange, type SourceRow } from '../summary/store.ts'

/** A record with its report. */
export type SeenRecord = AggregateRecord & {
  report: { id: string; orgName: string; begin: string; end: string }
}

export type RecordFilter = { result?: 'pass' | 'fail' | undefined; orgName?: string | undefined }

/** Selects the records of a domain from one address, on the days with messages from it. */
export type RecordSelection = {
  domainId: string
  domain: string
  address: string
  days: string[]
  filter: RecordFilter
}

/** Sums per day with messages from the address, in order. */
export async function sumSourceByDay(
  db: Db,
  domainId: string,
  address: string,
  range: DayRange,
): Promise<DayRow[]> {
  const { rows } = await sql<DayRow>`
    select day, 0 as reports, ${sql.raw(COUNTS.join(', '))} from ${daysOf(domainId, address, range)} order by day
  `.execute(db)
  return rows
}

/** The sums of an address; undefined without messages from it. */
export async function findSource(
  db: Db,
  domainId: string,
  address: string,
  range: DayRange,
): Promise<SourceRow | undefined> {
  const { rows } = await sql<SourceRow>`
    with summed as (
      select source, min(day) as first_day, max(day) as last_day, ${SUMS}
      from ${daysOf(domainId, address, range)} group by source)
    select host(source) as source, ${GROUP} as "group", first_day, last_day, ${sql.raw(COUNTS.join(', '))},
      a.reverse_name, coalesce(a.confirmed, false) as confirmed
    from summed left join dmarc_address a on a.address = source`.execute(db)
  return rows[0]
}

/**
 * Queries day by day: the key begins with the day, and a domain may have a million addresses per
 * day.
 */
function daysOf(domainId: string, address: string, { from, to }: DayRange) {
  return sql`generate_series(${from}::date, ${to}::date, interval '1 day') as asked (at) cross join lateral (
    select * from dmarc_source_day s
    where s.domain_id = ${domainId} and s.day = asked.at::date and s.source = ${address}::inet offset 0) as seen`
}

/** One page of the selected records, newest first, and their total. */
export async function listSelectedRecords(
  db: Db,
  wanted: RecordSelection,
  { limit, offset }: PageSlice,
): Promise<{ records: SeenRecord[]; total: number }> {
  if (wanted.days.length === 0) return { records: [], total: 0 }
  const { rows } = await sql<{ records: SeenRecord[] | null; total: number }>`
    with found as materialized (${matching(wanted)}),
    page as (select * from found order by begins_at desc, id desc, part, place limit ${limit} offset ${offset})
    select (select count(*) from found) as total,
      (select json_agg((record::jsonb || jsonb_build_object('report', jsonb_build_object(
        'id', id, 'orgName', org_name, 'begin', begins_at, 'end', ends_at)))
        order by begins_at desc, id desc, part, place) from page) as records`.execute(db)
  return { records: rows[0]?.records ?? [], total: rows[0]?.total ?? 0 }
}

/** Skips parts whose text does not contain the address: most reports on a large domain do not. */
function matching({
  domainId,
  domain,
  address,
  days,
  filter: { result, orgName },
}: RecordSelection) {
  const evaluated = (by: string) => sql`e.record -> 'policyEvaluated' ->> ${sql.lit(by)}`
  const passed = sql`coalesce(${evaluated('dkim')} = 'pass', false) or coalesce(${evaluated('spf')} = 'pass', false)`
  const from = sql`e.record -> 'identifiers' ->> 'headerFrom'`
  const conditions = [
    sql`r.domain_id = ${domainId}`,
    sql`exists (select from unnest(${days}::date[]) as seen (day) where seen.day between ${FIRST_DAY} and ${LAST_DAY})`,
    sql`position(${JSON.stringify(address)} in p.records::text) > 0`,
    sql`e.record ->> 'sourceIp' = ${address}`,
    sql`coalesce(${from} = ${domain} or right(${from}, ${domain.length + 1}) = ${`.${domain}`}, true)`,
    ...(result ? [result === 'pass' ? sql`(${passed})` : sql`not (${passed})`] : []),
    ...(orgName === undefined ? [] : [sql`lower(r.org_name) = lower(${orgName})`]),
  ]
  return sql`
    select r.id, r.org_name, r.begins_at, r.ends_at, p.part, e.place, e.record
    from dmarc_report r join dmarc_records p on p.report_id = r.id
    cross join lateral json_array_elements(p.records) with ordinality as e (record, place)
    where ${sql.join(conditions, sql` and `)}`
}

/** The days that a report counts for, as in `reportDays` of the statistics. */
const FIRST_DAY = sql`(r.begins_at at time zone 'UTC')::date`
const LAST_DAY = sql`case when r.ends_at - r.begins_at > interval '36 hours'
  then ((r.ends_at at time zone 'UTC') - interval '1 millisecond')::date else ${FIRST_DAY} end`
