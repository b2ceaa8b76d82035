import { sql } from 'kysely'
import type { AggregateRecord } from '../../protocols/reports/aggregate-report.ts'
import type { Db } from '../../store/database.ts'
import type { PageOf } from '../reports/store.ts'
import { COUNTS } from '../statistics/tally.ts'
import { GROUP, SUMS, type DayRow, type Range, type SourceRow } from '../summary/store.ts'

/** A record, and the report it stands in. */
export type SeenRecord = AggregateRecord & { report: { id: string; orgName: string; begin: string; end: string } }

export type RecordFilter = { result?: 'pass' | 'fail' | undefined; orgName?: string | undefined }

/** What records are looked for: those of a domain from one address, on days on which it was seen. */
export type Wanted = { domainId: string; domain: string; address: string; days: string[]; filter: RecordFilter }

/** Days on which the address was reported, in order. */
export async function sumSourceByDay(db: Db, domainId: string, address: string, range: Range): Promise<DayRow[]> {
  const { rows } = await sql<DayRow>`
    select day, 0 as reports, ${sql.raw(COUNTS.join(', '))} from ${daysOf(domainId, address, range)} order by day
  `.execute(db)
  return rows
}

/** The address as a summary names it; undefined when it was not seen. */
export async function findSource(
  db: Db,
  domainId: string,
  address: string,
  range: Range,
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

/** Looked up day by day: the key begins with the day, and a domain may have a million addresses on each. */
function daysOf(domainId: string, address: string, { from, to }: Range) {
  return sql`generate_series(${from}::date, ${to}::date, interval '1 day') as asked (at) cross join lateral (
    select * from dmarc_source_day s
    where s.domain_id = ${domainId} and s.day = asked.at::date and s.source = ${address}::inet offset 0) as seen`
}

/** The newest first, and how many there are of all. */
export async function listRecordsOf(
  db: Db,
  wanted: Wanted,
  { limit, offset }: PageOf,
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

/** Parts that do not name the address are passed over unread: most reports on a large domain have it not once. */
function matching({ domainId, domain, address, days, filter: { result, orgName } }: Wanted) {
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

/** The days that a report counts for, as `daysOf` of the statistics has them. */
const FIRST_DAY = sql`(r.begins_at at time zone 'UTC')::date`
const LAST_DAY = sql`case when r.ends_at - r.begins_at > interval '36 hours'
  then ((r.ends_at at time zone 'UTC') - interval '1 millisecond')::date else ${FIRST_DAY} end`
