import { sql, type RawBuilder } from 'kysely'
import type { AggregateRecord } from '../../protocols/reports/aggregate-report.ts'
import type { Db } from '../../store/database.ts'
import type { PageSlice } from '../reports/dmarc-reports.sql.ts'
import { COUNTS } from '../statistics/tally.ts'
import {
  GROUP,
  SUMS,
  type DayRow,
  type DayRange,
  type SourceRow,
} from '../summary/dmarc-summary.sql.ts'

/** A record with its report. */
export type SeenRecord = AggregateRecord & {
  report: {
    id: string
    orgName: string
    begin: string
    end: string
    /** The alignment that it says was published. */
    adkim: string | null
    aspf: string | null
  }
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
    with report as materialized (${reportsOf(wanted)}),
    found as materialized (${indexed(wanted)} union all ${searched(wanted)}),
    page as (select * from found order by begins_at desc, id desc, part, place limit ${limit} offset ${offset}),
    parts as (select id, part, array_agg(place) as places from page group by id, part)
    select (select count(*) from found) as total,
      (select json_agg((e.record || jsonb_build_object('report', jsonb_build_object(
        'id', r.id, 'orgName', r.org_name, 'begin', r.begins_at, 'end', r.ends_at,
        'adkim', r.detail -> 'policyPublished' -> 'adkim', 'aspf', r.detail -> 'policyPublished' -> 'aspf')))
        order by r.begins_at desc, r.id desc, p.part, place)
      from parts join dmarc_report r using (id) join dmarc_records p on p.report_id = parts.id and p.part = parts.part
      cross join lateral (select string_to_array(p.records::text, ${NEXT_RECORD}) as texts offset 0) as split
      cross join lateral unnest(parts.places) as place
      cross join lateral (select ${RECORD} as record offset 0) as e) as records`.execute(db)
  return { records: rows[0]?.records ?? [], total: rows[0]?.total ?? 0 }
}

/** How a record begins in the JSON of a part. In a string, its quotes would be escaped. */
const RECORD_START = '{"sourceIp":'
const NEXT_RECORD = sql.lit(`,${RECORD_START}`)

/**
 * The record at a place. A part is split as text, because reading all of its 500 records as JSON
 * takes some 1.5 ms; only if that does not give as many records as there are, it is read as JSON.
 */
const RECORD = sql`case when cardinality(split.texts) = cardinality(p.sources)
  then ((case when place > 1 then ${sql.lit(RECORD_START)} else '' end) || btrim(split.texts[place], '[]'))::jsonb
  else (p.records -> (place - 1)::int)::jsonb end`

function reportsOf({ domainId, days, filter: { orgName } }: RecordSelection) {
  const reporter =
    orgName === undefined ? sql`` : sql`and position(lower(${orgName}) in lower(r.org_name)) > 0`
  return sql`
    select r.id, r.org_name, r.begins_at, r.ends_at from dmarc_report r
    where r.domain_id = ${domainId} ${reporter} and exists (
      select from unnest(${days}::date[]) as seen (day) where seen.day between ${FIRST_DAY} and ${LAST_DAY})`
}

/** Records in parts whose addresses are indexed. */
function indexed({ address, filter: { result } }: RecordSelection) {
  const wanted = result
    ? sql`and substr(p.passed, place, 1) = ${result === 'pass' ? '1' : '0'}`
    : sql``
  return sql`
    select r.id, r.begins_at, p.part, place::bigint from report r join dmarc_records p on p.report_id = r.id
    cross join lateral unnest(array_positions(p.sources, ${address}::inet)) as place
    where p.sources is not null ${wanted}`
}

/** Records in parts of an earlier version, which a job has not indexed yet. */
function searched({ domain, address, filter: { result } }: RecordSelection) {
  const wanted = result ? sql`and ${result === 'pass' ? PASSED : sql`not ${PASSED}`}` : sql``
  return sql`
    select r.id, r.begins_at, p.part, e.place from report r join dmarc_records p on p.report_id = r.id
    cross join lateral json_array_elements(p.records) with ordinality as e (record, place)
    where p.sources is null and position(${JSON.stringify(address)} in p.records::text) > 0
      and e.record ->> 'sourceIp' = ${address} and ${isInside(sql`${domain}::text`)} ${wanted}`
}

const PASSED = sql`(coalesce(e.record -> 'policyEvaluated' ->> 'dkim' = 'pass', false)
  or coalesce(e.record -> 'policyEvaluated' ->> 'spf' = 'pass', false))`

/** The same as `isWithin`. */
function isInside(domain: RawBuilder<unknown>) {
  const from = sql`e.record -> 'identifiers' ->> 'headerFrom'`
  return sql`coalesce(${from} = ${domain} or right(${from}, length(${domain}) + 1) = '.' || ${domain}, true)`
}

/**
 * Indexes the addresses in records that an earlier version has stored.
 * @returns the number of indexed parts; 0 when all are
 */
export async function indexRecords(db: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    update dmarc_records as part set sources = found.sources, passed = found.passed from (
      select p.report_id, p.part,
        array_agg(case when ${isInside(sql`p.domain`)} then (e.record ->> 'sourceIp')::inet end order by e.place) as sources,
        string_agg(case when ${PASSED} then '1' else '0' end, '' order by e.place) as passed
      from (
        select p.report_id, p.part, p.records, d.domain from dmarc_records p
        join dmarc_report r on r.id = p.report_id join dmarc_domain d on d.id = r.domain_id
        where p.sources is null limit ${limit} for update of p skip locked) as p
      cross join lateral json_array_elements(p.records) with ordinality as e (record, place)
      group by p.report_id, p.part) as found
    where part.report_id = found.report_id and part.part = found.part`.execute(db)
  return Number(numAffectedRows ?? 0n)
}

/** The days that a report counts for, as in `reportDays` of the statistics. */
const FIRST_DAY = sql`(r.begins_at at time zone 'UTC')::date`
const LAST_DAY = sql`case when r.ends_at - r.begins_at > interval '36 hours'
  then ((r.ends_at at time zone 'UTC') - interval '1 millisecond')::date else ${FIRST_DAY} end`
