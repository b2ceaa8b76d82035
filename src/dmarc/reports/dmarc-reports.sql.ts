import { sql } from 'kysely'
import type { AggregateRecord, AggregateReport } from '../../protocols/reports/aggregate-report.ts'
import type { TlsReportPolicy } from '../../protocols/reports/tls-report.ts'
import type { Db } from '../../store/database.ts'
import { countRows } from '../../store/row.ts'
import { orderTerm, type Order } from '../../store/order.ts'
import type { Authentication } from '../../protocols/mail/mail-authentication.ts'
import type { NewReportRow, NewTlsReport, Via } from '../intake/report-intake.sql.ts'

export type PageSlice = { limit: number; offset: number }

type Arrival = { via: Via | null; authentication: Authentication | null; receivedAt: Date }

/** Columns that are not shown. */
type Internal = 'domainId' | 'deliveryId' | 'key'

export type ReportRow = Arrival &
  Omit<NewReportRow, Internal | 'detail'> & {
    detail: Omit<AggregateReport, 'orgName' | 'reportId' | 'dateRange' | 'recordCount'> & {
      disposition: { none: number; quarantine: number; reject: number }
    }
    /** The first part of its records. */
    records: AggregateRecord[]
  }

export type TlsReportRow = Arrival &
  Omit<NewTlsReport, Internal | 'policies'> & {
    policies: TlsReportPolicy[]
  }

export type RejectedRow = {
  id: string
  name: string
  reason: string
  via: Via
  receivedAt: Date
  hasContent: boolean
}

export type ReportFilter = {
  from?: Date | undefined
  to?: Date | undefined
  orgName?: string | undefined
  failing?: boolean
}

export const REPORT_ORDERS = ['receivedAt', 'orgName', 'begin', 'messages', 'fail'] as const
export type ReportOrder = Order<(typeof REPORT_ORDERS)[number]>

const ORDER_COLUMNS = {
  receivedAt: sql`r.received_at`,
  orgName: sql`lower(r.org_name)`,
  begin: sql`r.begins_at`,
  messages: sql`r.messages`,
  fail: sql`r.messages - r.aligned`,
}

/**
 * Newest first unless ordered otherwise. `from` and `to` filter by the period of the report, not by
 * its arrival.
 */
export async function listReports(
  db: Db,
  domainId: string,
  {
    order = '-receivedAt',
    records,
    ...filter
  }: ReportFilter & { order?: ReportOrder | undefined; records: boolean },
  page: PageSlice,
): Promise<ReportRow[]> {
  const { rows } = await selectReports(
    db,
    sql`${conditions(domainId, filter)}
    order by ${orderTerm(order, ORDER_COLUMNS)}, ${order === 'receivedAt' ? sql`r.id` : sql`r.id desc`} limit ${page.limit} offset ${page.offset}`,
    records,
  )
  return rows
}

export async function countReports(
  db: Db,
  domainId: string,
  filter: ReportFilter,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from dmarc_report r where ${conditions(domainId, filter)}`.execute(db)
  return rows[0]?.count ?? 0
}

export async function findReport(
  db: Db,
  domainId: string,
  id: string,
): Promise<ReportRow | undefined> {
  const { rows } = await selectReports(db, sql`r.domain_id = ${domainId} and r.id = ${id}`)
  return rows[0]
}

function selectReports(db: Db, rest: ReturnType<typeof sql>, withRecords = true) {
  // Reading the records takes longer than the rest.
  const join = withRecords
    ? sql`left join dmarc_records p on p.report_id = r.id and p.part = 0`
    : sql`cross join (select null::json as records) p`
  return sql<ReportRow>`
    select r.id, r.org_name, r.report_id, r.begins_at, r.ends_at, r.record_count, r.messages, r.aligned, r.outside,
      r.detail, r.received_at, d.via, d.authentication, coalesce(p.records, '[]') as records
    from dmarc_report r
    left join dmarc_delivery d on d.id = r.delivery_id
    ${join}
    where ${rest}`.execute(db)
}

function conditions(domainId: string, { from, to, orgName, failing }: ReportFilter) {
  const all = [
    sql`r.domain_id = ${domainId}`,
    ...(from ? [sql`r.ends_at >= ${from}`] : []),
    ...(to ? [sql`r.begins_at < ${to}`] : []),
    ...(orgName === undefined ? [] : [sql`position(lower(${orgName}) in lower(r.org_name)) > 0`]),
    ...(failing ? [sql`r.aligned < r.messages`] : []),
  ]
  return sql.join(all, sql` and `)
}

/** One part of a report's records; the first part is 0. */
export async function findRecords(
  db: Db,
  reportId: string,
  part: number,
): Promise<AggregateRecord[]> {
  const rows = db
    .selectFrom('dmarcRecords')
    .select('records')
    .where('reportId', '=', reportId)
    .where('part', '=', part)
  return ((await rows.executeTakeFirst())?.records ?? []) as AggregateRecord[]
}

/** The original file of a report or rejected item; undefined if it is not stored. */
export async function findOriginal(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<{ name: string; content: Buffer } | undefined> {
  const { rows } = await sql<{ name: string; content: Buffer }>`
    select d.name, d.content from dmarc_delivery d where d.content is not null and d.id = coalesce(
      (select r.delivery_id from dmarc_report r join dmarc_domain o on o.id = r.domain_id
        where r.id = ${id} and o.workspace_id = ${workspaceId}),
      (select s.delivery_id from dmarc_set_aside s where s.id = ${id} and s.workspace_id = ${workspaceId}))`.execute(
    db,
  )
  return rows[0]
}

/** Newest first. */
export async function listTlsReports(
  db: Db,
  domainId: string,
  page: PageSlice,
): Promise<TlsReportRow[]> {
  const { rows } = await sql<TlsReportRow>`
    select r.id, r.organization_name, r.contact_info, r.report_id, r.begins_at, r.ends_at, r.successful, r.failed,
      r.policies, r.skipped_policies, r.received_at, d.via, d.authentication
    from dmarc_tls_report r left join dmarc_delivery d on d.id = r.delivery_id
    where r.domain_id = ${domainId}
    order by r.received_at desc, r.id desc limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}

export async function countTlsReports(db: Db, domainId: string): Promise<number> {
  return countRows(db, 'dmarcTlsReport', { domainId })
}

/** Newest first. */
export async function listRejected(
  db: Db,
  workspaceId: string,
  page: PageSlice,
): Promise<RejectedRow[]> {
  const { rows } = await sql<RejectedRow>`
    select s.id, s.name, s.reason, s.via, s.received_at, d.content is not null as has_content
    from dmarc_set_aside s left join dmarc_delivery d on d.id = s.delivery_id
    where s.workspace_id = ${workspaceId}
    order by s.received_at desc, s.id desc limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}

export async function countRejected(db: Db, workspaceId: string): Promise<number> {
  return countRows(db, 'dmarcSetAside', { workspaceId })
}
