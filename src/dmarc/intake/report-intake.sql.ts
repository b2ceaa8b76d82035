import { sql, type Kysely, type Selectable, type Transaction } from 'kysely'
import type { Db } from '../../store/database.ts'
import { findRow } from '../../store/row.ts'
import type { DB } from '../../store/tables.ts'
import type { DomainRow } from '../domains/dmarc-domains.sql.ts'
import { DOMAIN_OF_REASON } from './unknown-domain.ts'
import { MAX_SAMPLE_BYTES } from '../limits.ts'

const INTAKE_CHANNELS = ['smtp', 'upload', 'mailbox', 'import'] as const
export type Via = (typeof INTAKE_CHANNELS)[number]

export type NewDelivery = {
  id: string
  workspaceId: string | null
  via: Via
  name: string
  peer: string | null
  sender: string | null
  /** Null if it must not be stored. */
  content: Uint8Array | null
  /** Whether it contained a report: then it is stored completely, else as a sample. */
  holdsReport: boolean
  /** Rejected items of it that are listed so far. */
  samples: number
  receivedAt: Date
}

/** `detail` and `records` are JSON texts. */
export type NewReportRow = Omit<Selectable<DB['dmarcReport']>, 'detail' | 'selectorsByDay'> & {
  deliveryId: string
  detail: string
}
export type NewRecords = {
  reportId: string
  part: number
  records: string
  /** Null for a record that lies outside the domain. */
  sources: (string | null)[]
  passed: string
}
export type NewTlsReport = Omit<Selectable<DB['dmarcTlsReport']>, 'policies'> & {
  deliveryId: string
  policies: string
}
export type RejectedItem = {
  id: string
  workspaceId: string
  deliveryId: string
  name: string
  reason: string
  via: Via
  receivedAt: Date
}
export type DomainTotals = {
  domainId: string
  reports: number
  tlsReports: number
  failureReports: number
}

/** The domains of an account; without an account, all domains with one of these names. */
export async function listCandidateDomains(db: Db, workspaceId: string | null, names: string[]) {
  const rows = db.selectFrom('dmarcDomain').select(['id', 'workspaceId', 'domain', 'verifiedAt'])
  const some =
    workspaceId === null
      ? rows.where('domain', '=', sql<string>`any(${names})`)
      : rows.where('workspaceId', '=', workspaceId)
  return (await some.orderBy('id').execute()) as Pick<
    DomainRow,
    'id' | 'workspaceId' | 'domain' | 'verifiedAt'
  >[]
}

/**
 * Locks domains until the transaction ends, so that their sums change in one place only.
 * @returns the workspaces of the domains that still exist
 */
export async function lockDomains(
  trx: Transaction<DB>,
  ids: string[],
): Promise<Map<string, string>> {
  const rows = await trx
    .selectFrom('dmarcDomain')
    .select(['id', 'workspaceId'])
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .orderBy('id')
    .forUpdate()
    .execute()
  return new Map(rows.map(({ id, workspaceId }) => [id, workspaceId]))
}

/**
 * Stores original files and emails; no other function does. Their contents are one binary
 * parameter, which costs a tenth of one text literal each.
 */
export async function upsertDeliveries(
  trx: Transaction<DB>,
  deliveries: NewDelivery[],
): Promise<void> {
  let start = 0
  const kept = deliveries.map(keptContent)
  const described = deliveries.map(
    ({ content: _content, holdsReport: _holdsReport, samples: _samples, ...row }, index) => {
      const length = kept[index]?.length ?? null
      start += length ?? 0
      return { ...row, start: start - (length ?? 0), kept: length }
    },
  )
  const contents = Buffer.concat(kept.map((content) => content ?? new Uint8Array()))
  await sql`
    insert into dmarc_delivery (id, workspace_id, via, name, peer, sender, content, received_at)
    select id, "workspaceId", via, name, peer, sender,
      case when kept is not null then substring(${contents}::bytea from start + 1 for kept) end, "receivedAt"
    from json_to_recordset(${JSON.stringify(described)}::json) as r (id uuid, "workspaceId" uuid, via text, name text,
      peer inet, sender text, start int, kept int, "receivedAt" timestamptz)
    on conflict (id) do update set content = excluded.content`.execute(trx)
}

/** The stored content of a delivery. Anyone can send junk, so only its beginning is stored. */
function keptContent({ content, holdsReport }: NewDelivery): Uint8Array | null {
  return holdsReport ? content : (content?.subarray(0, MAX_SAMPLE_BYTES) ?? null)
}

/** Deletes deliveries without stored reports, because all their reports were duplicates. */
export async function deleteUnusedDeliveries(trx: Transaction<DB>, ids: string[]): Promise<void> {
  await sql`
    delete from dmarc_delivery d where id = any(${ids}::uuid[])
      and not exists (select 1 from dmarc_report where delivery_id = d.id)
      and not exists (select 1 from dmarc_tls_report where delivery_id = d.id)
      and not exists (select 1 from dmarc_set_aside where delivery_id = d.id)`.execute(trx)
}

/** @returns the IDs of new reports, without duplicates */
export async function insertReports(
  trx: Transaction<DB>,
  reports: NewReportRow[],
): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    insert into dmarc_report (id, domain_id, delivery_id, key, org_name, report_id, begins_at, ends_at, record_count,
      messages, aligned, outside, detail, received_at, selectors_by_day)
    select id, "domainId", "deliveryId", key, "orgName", "reportId", "beginsAt", "endsAt", "recordCount",
      messages, aligned, outside, detail, "receivedAt", true
    from json_to_recordset(${withJson(reports, 'detail')}::json) as r (id uuid, "domainId" uuid, "deliveryId" uuid,
      key text, "orgName" text, "reportId" text, "beginsAt" timestamptz, "endsAt" timestamptz, "recordCount" int,
      messages bigint, aligned bigint, outside bigint, detail jsonb, "receivedAt" timestamptz)
    on conflict (domain_id, key) do nothing returning id`.execute(trx)
  return new Set(rows.map(({ id }) => id))
}

export async function insertRecords(trx: Transaction<DB>, records: NewRecords[]): Promise<void> {
  await sql`
    insert into dmarc_records (report_id, part, records, sources, passed)
    select "reportId", part, records, sources, passed
    from json_to_recordset(${withJson(records, 'records')}::json)
      as r ("reportId" uuid, part int, records json, sources inet[], passed text)
  `.execute(trx)
}

/** A JSON array of rows that inserts a column that is JSON already without encoding it again. */
function withJson<K extends string>(rows: ({ [key in K]: string } & object)[], column: K): string {
  const texts = rows.map((row) => {
    const rest = JSON.stringify({ ...row, [column]: undefined })
    return `${rest.slice(0, -1)},"${column}":${row[column]}}`
  })
  return `[${texts.join(',')}]`
}

/** Inserts in one order, so that concurrent transactions cannot deadlock. */
export async function insertAddresses(trx: Transaction<DB>, addresses: string[]): Promise<void> {
  await sql`
    insert into dmarc_address (address) select address from unnest(${addresses}::inet[]) as a (address) order by address
    on conflict do nothing`.execute(trx)
}

/** @returns the IDs of new reports, without duplicates */
export async function insertTlsReports(
  trx: Transaction<DB>,
  reports: NewTlsReport[],
): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    insert into dmarc_tls_report (id, domain_id, delivery_id, key, organization_name, contact_info, report_id, begins_at,
      ends_at, successful, failed, policies, skipped_policies, received_at)
    select id, "domainId", "deliveryId", key, "organizationName", "contactInfo", "reportId", "beginsAt", "endsAt",
      successful, failed, policies, "skippedPolicies", "receivedAt"
    from json_to_recordset(${withJson(reports, 'policies')}::json) as r (id uuid, "domainId" uuid, "deliveryId" uuid,
      key text, "organizationName" text, "contactInfo" text, "reportId" text, "beginsAt" timestamptz,
      "endsAt" timestamptz, successful bigint, failed bigint, policies jsonb,
      "skippedPolicies" integer, "receivedAt" timestamptz)
    on conflict (domain_id, key) do nothing returning id`.execute(trx)
  return new Set(rows.map(({ id }) => id))
}

export async function insertRejectedItems(
  trx: Transaction<DB>,
  rows: RejectedItem[],
): Promise<void> {
  await trx.insertInto('dmarcSetAside').values(rows).execute()
}

/**
 * The whole stored files of rejected reports on these domains, or on names below them, oldest first.
 * Of larger files, only the beginning is stored.
 */
export async function listRejectedFor(
  db: Db,
  { workspaceId, domains, before }: { workspaceId: string; domains: string[]; before: Date },
  limit: number,
): Promise<{ id: string; name: string; via: Via }[]> {
  const { rows } = await sql<{ id: string; name: string; via: Via }>`
    select d.id, d.name, d.via from dmarc_delivery d
    where octet_length(d.content) < ${MAX_SAMPLE_BYTES} and d.received_at < ${before} and d.id in (
      select s.delivery_id from dmarc_set_aside s
      where s.workspace_id = ${workspaceId} and exists (
        select from unnest(${domains}::text[]) as added (domain)
        where ${DOMAIN_OF_REASON} = domain or ${DOMAIN_OF_REASON} like '%.' || domain))
    order by d.received_at limit ${limit}`.execute(db)
  return rows
}

export async function findContent(db: Db, deliveryId: string): Promise<Buffer | null> {
  const row = await findRow(db, 'dmarcDelivery', ['content'], { id: deliveryId })
  return row?.content ?? null
}

/** Deletes the rejected items of files that were read again, and files without other reports. */
export async function deleteRejectedOf(
  db: Kysely<DB>,
  workspaceId: string,
  deliveryIds: string[],
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx
      .deleteFrom('dmarcSetAside')
      .where('workspaceId', '=', workspaceId)
      .where('deliveryId', 'in', deliveryIds)
      .execute()
    await deleteUnusedDeliveries(trx, deliveryIds)
  })
}

export async function addTotals(trx: Transaction<DB>, totals: DomainTotals[]): Promise<void> {
  await sql`
    update dmarc_domain d set total_reports = d.total_reports + t.reports,
      total_tls_reports = d.total_tls_reports + t."tlsReports",
      total_failure_reports = d.total_failure_reports + t."failureReports",
      last_report_at = case when t.reports > 0 then now() else d.last_report_at end
    from json_to_recordset(${JSON.stringify(totals)}::json)
      as t ("domainId" uuid, reports bigint, "tlsReports" bigint, "failureReports" bigint)
    where d.id = t."domainId"`.execute(trx)
}

/** Stores the SPF, DKIM and DMARC results of an email. */
export async function setAuthentication(
  db: Db,
  deliveryId: string,
  authentication: object,
): Promise<void> {
  await db
    .updateTable('dmarcDelivery')
    .set({ authentication: JSON.stringify(authentication) })
    .where('id', '=', deliveryId)
    .execute()
}
