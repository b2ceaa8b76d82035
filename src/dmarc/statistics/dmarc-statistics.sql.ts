import { sql, type Selectable, type Transaction } from 'kysely'
import type { DB } from '../../store/tables.ts'
import { COUNTS, type Counts } from './tally.ts'

export type SourceDay = Counts & { domainId: string; day: string; source: string }
export type ReporterDay = Counts & {
  domainId: string
  day: string
  reporter: string
  reports: number
}
export type SelectorCount = Selectable<DB['dmarcSelector']>
/** The same of the reports that begin on a day. */
export type SelectorDay = Selectable<DB['dmarcSelectorDay']>
export type SourceMonth = Counts & {
  domainId: string
  /** Its first day. */
  month: string
  source: string
  firstDay: string
  lastDay: string
}
export type Sums = {
  days: SourceDay[]
  months: SourceMonth[]
  reporters: ReporterDay[]
  selectors: SelectorCount[]
  selectorDays: SelectorDay[]
}

const NAMES = sql.raw(COUNTS.join(', '))
const TYPED = sql.raw(COUNTS.map((name) => `${name} bigint`).join(', '))
const ADDED = sql.raw(COUNTS.map((name) => `${name} = t.${name} + excluded.${name}`).join(', '))

/** Adds sums with unique keys. The caller must hold the locks of their domains. */
export async function addSums(
  trx: Transaction<DB>,
  { days, months, reporters, selectors, selectorDays }: Sums,
): Promise<void> {
  if (reporters.length > 0) await addReporterDays(trx, reporters)
  if (days.length > 0) await addSourceDays(trx, days)
  if (months.length > 0) await addSourceMonths(trx, months)
  if (selectors.length > 0) await addSelectors(trx, selectors)
  if (selectorDays.length > 0) await addSelectorDays(trx, selectorDays)
}

/** Subtracts sums and deletes rows that become empty. */
export async function subtractSums(
  trx: Transaction<DB>,
  { days, months, reporters, selectors, selectorDays }: Sums,
): Promise<void> {
  const negatives = {
    reporters: reporters.map(negative),
    selectors: selectors.map(negative),
    selectorDays: selectorDays.map(negative),
  }
  await addSums(trx, { days: days.map(negative), months: [], ...negatives })
  await deleteEmpty(trx, reporters)
  for (const one of distinctMonths(months)) await rebuildMonth(trx, one)
}

async function deleteEmpty(trx: Transaction<DB>, reporters: ReporterDay[]): Promise<void> {
  const ids = [...new Set(reporters.map(({ domainId }) => domainId))]
  const days = [...new Set(reporters.map(({ day }) => day))]
  const those = sql`domain_id = any(${ids}::uuid[]) and day = any(${days}::date[])`
  await sql`delete from dmarc_source_day where ${those} and messages <= 0`.execute(trx)
  await sql`delete from dmarc_reporter_day where ${those} and reports + messages <= 0`.execute(trx)
  await sql`delete from dmarc_selector_day where ${those} and messages <= 0`.execute(trx)
  await sql`delete from dmarc_selector where domain_id = any(${ids}::uuid[]) and messages <= 0`.execute(
    trx,
  )
}

function negative<T extends object>(row: T): T {
  const turned = Object.entries(row).map(([key, value]: [string, unknown]) => {
    return [key, typeof value === 'number' ? -value : value]
  })
  return Object.fromEntries(turned) as T
}

type Month = Pick<SourceMonth, 'domainId' | 'month'>

function distinctMonths(months: SourceMonth[]): Month[] {
  return [...new Map(months.map((one) => [`${one.domainId} ${one.month}`, one])).values()]
}

/** Rebuilds a month from its days, because a subtraction cannot tell the new first and last day. */
async function rebuildMonth(trx: Transaction<DB>, { domainId, month }: Month): Promise<void> {
  await sql`delete from dmarc_source_month where domain_id = ${domainId} and month = ${month}`.execute(
    trx,
  )
  const sums = sql.raw(COUNTS.map((name) => `sum(${name})`).join(', '))
  await sql`
    insert into dmarc_source_month (domain_id, month, source, first_day, last_day, ${NAMES})
    select domain_id, ${month}, source, min(day), max(day), ${sums} from dmarc_source_day
    where domain_id = ${domainId} and day >= ${month} and day < ${month}::date + interval '1 month'
    group by domain_id, source`.execute(trx)
}

async function addSourceDays(trx: Transaction<DB>, rows: SourceDay[]): Promise<void> {
  await sql`
    insert into dmarc_source_day as t (domain_id, day, source, ${NAMES})
    select "domainId", day, source, ${NAMES}
    from json_to_recordset(${JSON.stringify(rows)}::json) as r ("domainId" uuid, day date, source inet, ${TYPED})
    on conflict (domain_id, day, source) do update set ${ADDED}`.execute(trx)
}

async function addSourceMonths(trx: Transaction<DB>, rows: SourceMonth[]): Promise<void> {
  await sql`
    insert into dmarc_source_month as t (domain_id, month, source, first_day, last_day, ${NAMES})
    select "domainId", month, source, "firstDay", "lastDay", ${NAMES}
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as r ("domainId" uuid, month date, source inet, "firstDay" date, "lastDay" date, ${TYPED})
    on conflict (domain_id, month, source) do update set first_day = least(t.first_day, excluded.first_day),
      last_day = greatest(t.last_day, excluded.last_day), ${ADDED}`.execute(trx)
}

async function addReporterDays(trx: Transaction<DB>, rows: ReporterDay[]): Promise<void> {
  await sql`
    insert into dmarc_reporter_day as t (domain_id, day, reporter, reports, ${NAMES})
    select "domainId", day, reporter, reports, ${NAMES}
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as r ("domainId" uuid, day date, reporter text, reports bigint, ${TYPED})
    on conflict (domain_id, day, reporter) do update set reports = t.reports + excluded.reports, ${ADDED}
  `.execute(trx)
}

async function addSelectors(trx: Transaction<DB>, rows: SelectorCount[]): Promise<void> {
  await sql`
    insert into dmarc_selector as t (domain_id, signer, selector, messages, passed, last_day)
    select "domainId", signer, selector, messages, passed, "lastDay"
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as r ("domainId" uuid, signer text, selector text, messages bigint, passed bigint, "lastDay" date)
    on conflict (domain_id, signer, selector) do update set messages = t.messages + excluded.messages,
      passed = t.passed + excluded.passed, last_day = greatest(t.last_day, excluded.last_day)`.execute(
    trx,
  )
}

/** Adds the selectors of reports by day. The caller must hold the locks of their domains. */
export async function addSelectorDays(trx: Transaction<DB>, rows: SelectorDay[]): Promise<void> {
  await sql`
    insert into dmarc_selector_day as t (domain_id, day, signer, selector, messages, passed)
    select "domainId", day, signer, selector, messages, passed
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as r ("domainId" uuid, day date, signer text, selector text, messages bigint, passed bigint)
    on conflict (domain_id, day, signer, selector) do update set messages = t.messages + excluded.messages,
      passed = t.passed + excluded.passed`.execute(trx)
}

export type StoredReport = {
  id: string
  domainId: string
  domain: string
  orgName: string
  begin: Date
  end: Date
  /** Whether its selectors are counted by day. */
  selectorsByDay: boolean
}

/**
 * Reports received before a time, oldest first. Their domains are locked until the transaction
 * ends.
 */
export async function lockReportsBefore(
  trx: Transaction<DB>,
  before: Date,
  limit: number,
): Promise<StoredReport[]> {
  const { rows: due } = await sql<DueReport>`
    select id, domain_id from dmarc_report where received_at < ${before} order by received_at limit ${limit}`.execute(
    trx,
  )
  return lockReports(trx, due)
}

type DueReport = { id: string; domainId: string }

/** Reports whose selectors an earlier version has not counted by day, with their domains locked. */
export async function lockReportsWithoutDays(
  trx: Transaction<DB>,
  limit: number,
): Promise<StoredReport[]> {
  const { rows: due } = await sql<DueReport>`
    select id, domain_id from dmarc_report where not selectors_by_day order by id limit ${limit}`.execute(
    trx,
  )
  return lockReports(trx, due)
}

export async function markCountedByDay(trx: Transaction<DB>, ids: string[]): Promise<void> {
  await sql`update dmarc_report set selectors_by_day = true where id = any(${ids}::uuid[])`.execute(
    trx,
  )
}

async function lockReports(trx: Transaction<DB>, due: DueReport[]): Promise<StoredReport[]> {
  await sql`
    select from dmarc_domain where id = any(${due.map(({ domainId }) => domainId)}::uuid[]) order by id for update
  `.execute(trx)
  const { rows } = await sql<StoredReport>`
    select r.id, r.domain_id, d.domain, r.org_name, r.begins_at as begin, r.ends_at as "end",
      r.selectors_by_day
    from dmarc_report r join dmarc_domain d on d.id = r.domain_id
    where r.id = any(${due.map(({ id }) => id)}::uuid[])`.execute(trx)
  return rows
}

/** One part of a report's records: a report may have half a million, too many to load at once. */
export async function findPart<T>(
  trx: Transaction<DB>,
  reportId: string,
  part: number,
): Promise<T[] | null> {
  const { rows } = await sql<{ records: T[] }>`
    select records from dmarc_records where report_id = ${reportId} and part = ${part}`.execute(trx)
  return rows[0]?.records ?? null
}

export async function deleteReports(trx: Transaction<DB>, ids: string[]): Promise<void> {
  await sql`delete from dmarc_report where id = any(${ids}::uuid[])`.execute(trx)
}
