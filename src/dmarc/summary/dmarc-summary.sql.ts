import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { COUNTS, type Counts } from '../statistics/tally.ts'
import type { SOURCE_GROUPS } from '../shapes.ts'
import { DAY_MS, isoDay } from '../../time.ts'

/** Days as `YYYY-MM-DD`, both inclusive. */
export type DayRange = { from: string; to: string }

export type DayRow = Counts & { day: string; reports: number }
export type ReporterRow = Counts & { reporter: string; reports: number; lastDay: string }
type SourceGroup = (typeof SOURCE_GROUPS)[number]
export type SourceRow = Counts & {
  source: string
  group: SourceGroup
  firstDay: string
  lastDay: string
  reverseName: string | null
  confirmed: boolean
}
export type GroupRow = { group: SourceGroup; sources: number; messages: number; aligned: number }
export type SelectorRow = {
  signer: string
  selector: string
  messages: number
  passed: number
  lastDay: string
}

/**
 * Sums in floating point: exact up to 2^53, as JavaScript's numbers are, and a fifth faster than
 * bigint.
 */
export const SUMS = sql.raw(
  COUNTS.map((name) => `sum(${name}::float8)::bigint as ${name}`).join(', '),
)
const NAMED = sql.raw(COUNTS.join(', '))

/** The group of a source. It is forwarder-like if at least half of its messages were forwarded. */
export const GROUP = sql`case when forwarded * 2 >= messages then 'forwarder-like' when aligned = messages then 'aligned'
  when aligned = 0 then 'failing' else 'partly-aligned' end`

/** Sums per day, in order, without days that no report covers. */
export async function sumByDay(
  db: Db,
  domainId: string,
  { from, to }: DayRange,
): Promise<DayRow[]> {
  const { rows } = await sql<DayRow>`
    select day, sum(reports)::bigint as reports, ${SUMS} from dmarc_reporter_day
    where domain_id = ${domainId} and day between ${from} and ${to} group by day order by day`.execute(
    db,
  )
  return rows
}

/** Sums per reporter, most messages first. */
export async function sumByReporter(
  db: Db,
  domainId: string,
  { from, to }: DayRange,
  limit: number,
) {
  const { rows } = await sql<ReporterRow>`
    select reporter, sum(reports)::bigint as reports, max(day) as last_day, ${SUMS} from dmarc_reporter_day
    where domain_id = ${domainId} and day between ${from} and ${to}
    group by reporter order by messages desc, reporter limit ${limit}`.execute(db)
  return rows
}

/**
 * Sums per source with its group, most failures first, and the sums of each group over all sources.
 */
export async function sumBySource(
  db: Db,
  domainId: string,
  range: DayRange,
  limit: number,
): Promise<{ sources: SourceRow[]; groups: GroupRow[] }> {
  const { rows } = await sql<{ sources: SourceRow[] | null; groups: GroupRow[] | null }>`
    with summed as (
      select source, min(first_day) as first_day, max(last_day) as last_day, ${SUMS}
      from (${daysAndMonths(domainId, range)}) as counted group by source
    ),
    grouped as materialized (
      select *, ${GROUP} as "group" from summed
    ),
    shown as (select * from grouped order by messages - aligned desc, messages desc, source limit ${limit})
    select
      (select json_agg(s) from (
        select host(source) as source, "group", first_day as "firstDay", last_day as "lastDay", ${NAMED},
          a.reverse_name as "reverseName", coalesce(a.confirmed, false) as confirmed
        from shown left join dmarc_address a on a.address = source
        order by messages - aligned desc, messages desc, source) as s) as sources,
      (select json_agg(g) from (
        select "group", count(*) as sources, sum(messages)::bigint as messages, sum(aligned)::bigint as aligned
        from grouped group by "group") as g) as groups`.execute(db)
  return { sources: rows[0]?.sources ?? [], groups: rows[0]?.groups ?? [] }
}

/**
 * Each day of the range once: as part of its month if the range contains the whole month, or all of
 * it so far.
 */
export function daysAndMonths(domainId: string, range: DayRange) {
  const months = wholeMonths(range)
  const current = currentMonth(range)
  const days = (from: string, before: string) => sql`
    select source, day as first_day, day as last_day, ${NAMED} from dmarc_source_day
    where domain_id = ${domainId} and day >= ${from} and day < ${before}`
  return sql`
    ${days(range.from, months.from)} union all
    ${days(months.before, current ?? dayAfter(range.to))} union all
    ${current === null ? sql`` : sql`${monthUntil(domainId, current, range.to)} union all`}
    select source, first_day, last_day, ${NAMED} from dmarc_source_month
    where domain_id = ${domainId} and month >= ${months.from} and month < ${months.before}`
}

/**
 * The part of a month until a day. Sources without later days, which are most where the day is
 * yesterday or today, are taken from the sums of the month.
 */
function monthUntil(domainId: string, month: string, to: string) {
  const ofMonth = sql`from dmarc_source_month where domain_id = ${domainId} and month = ${month}`
  return sql`
    select source, first_day, last_day, ${NAMED} ${ofMonth} and last_day <= ${to} union all
    select source, day as first_day, day as last_day, ${NAMED} from dmarc_source_day
    where domain_id = ${domainId} and day >= ${month} and day <= ${to}
      and source in (select source ${ofMonth} and last_day > ${to})`
}

/** The month in which a range ends, if the range contains all of it until yesterday or later; else null. */
function currentMonth({ from, to }: DayRange): string | null {
  const month = `${to.slice(0, 7)}-01`
  const yesterday = isoDay(Date.now() - DAY_MS)
  const isWhole = dayAfter(to) === monthAfter(month)
  return from <= month && to >= yesterday && !isWhole ? month : null
}

/**
 * The whole months of a range: the first day of the first month, and the first day after the last
 * month. Without a whole month, both are the start of the range.
 */
export function wholeMonths({ from, to }: DayRange): { from: string; before: string } {
  const first = from.endsWith('-01') ? from : monthAfter(from)
  const last = `${dayAfter(to).slice(0, 7)}-01`
  return first < last ? { from: first, before: last } : { from, before: from }
}

function dayAfter(day: string): string {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number)
  return isoDay(Date.UTC(year, month - 1, date + 1))
}

function monthAfter(day: string): string {
  const [year = 0, month = 0] = day.split('-').map(Number)
  return isoDay(Date.UTC(year, month, 1))
}

/** The first and last day that the stored reports of a domain cover; null without reports. */
export async function findReportedDays(db: Db, domainId: string): Promise<DayRange | null> {
  return (await listReportedDays(db, [domainId])).get(domainId) ?? null
}

/** The same of several domains, without those that have no reports. */
export async function listReportedDays(
  db: Db,
  domainIds: string[],
): Promise<Map<string, DayRange>> {
  const { rows } = await sql<DayRange & { id: string }>`
    select id, "from", "to" from unnest(${domainIds}::uuid[]) as given (id)
    cross join lateral (
      select min(day) as "from", max(day) as "to" from dmarc_reporter_day where domain_id = id) as seen
    where "from" is not null`.execute(db)
  return new Map(rows.map(({ id, from, to }) => [id, { from, to }]))
}

/** What the reports of several domains say about the days from this one on, and about the policy. */
export async function sumRecent(
  db: Db,
  domainIds: string[],
  from: string,
): Promise<Map<string, RecentMail>> {
  const { rows } = await sql<RecentMail & { id: string }>`
    select id, policy, messages, aligned from unnest(${domainIds}::uuid[]) as given (id)
    cross join lateral (
      select detail -> 'policyPublished' ->> 'p' as policy from dmarc_report where domain_id = given.id
      order by received_at desc, dmarc_report.id desc limit 1) as newest
    cross join lateral (
      select coalesce(sum(messages), 0)::bigint as messages, coalesce(sum(aligned), 0)::bigint as aligned
      from dmarc_reporter_day where domain_id = given.id and day >= ${from}) as recent`.execute(db)
  return new Map(rows.map(({ id, ...recent }) => [id, recent]))
}

/** `policy` is null where the newest report names none. */
export type RecentMail = Pick<Counts, 'messages' | 'aligned'> & { policy: string | null }

/** The published policy according to the newest report; null without reports. */
export async function findPublishedPolicy(db: Db, domainId: string): Promise<string | null> {
  const { rows } = await sql<{ p: string | null }>`
    select detail -> 'policyPublished' ->> 'p' as p from dmarc_report where domain_id = ${domainId}
    order by received_at desc, id desc limit 1`.execute(db)
  return rows[0]?.p ?? null
}

/** The keys in reports that begin within the range, most messages first. */
export async function listSelectors(
  db: Db,
  domainId: string,
  { from, to }: DayRange,
  limit: number,
): Promise<SelectorRow[]> {
  const { rows } = await sql<SelectorRow>`
    select signer, selector, sum(messages)::bigint as messages, sum(passed)::bigint as passed, max(day) as last_day
    from dmarc_selector_day where domain_id = ${domainId} and day between ${from} and ${to}
    group by signer, selector order by messages desc, selector, signer limit ${limit}`.execute(db)
  return rows
}

/** Selectors that a domain signs with according to the workspace's reports, most messages first. */
export async function listWorkspaceSelectors(
  db: Db,
  workspaceId: string,
  signer: string,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('dmarcSelector')
    .innerJoin('dmarcDomain', 'dmarcDomain.id', 'dmarcSelector.domainId')
    .select('selector')
    .where('dmarcDomain.workspaceId', '=', workspaceId)
    .where('signer', '=', signer)
    .groupBy('selector')
    .orderBy(({ fn }) => fn.sum('messages'), 'desc')
    .orderBy('selector')
    .limit(limit)
    .execute()
  return rows.map(({ selector }) => selector)
}
