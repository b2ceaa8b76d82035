import type { Kysely, Transaction } from 'kysely'
import { notifyChanges, type ChangeNotice } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import { newUuid } from '../../store/uuid.ts'
import { dropFilesBeyondQuota } from '../storage/report-quota.ts'
import { createStatistics } from '../statistics/statistics.ts'
import { addSums } from '../statistics/dmarc-statistics.sql.ts'
import { isWithin, reportDays } from '../statistics/tally.ts'
import {
  chooseDomains,
  indexCandidates,
  selfAndAbove,
  type CandidateIndex,
} from './choose-domains.ts'
import {
  toStorableText,
  toStorableJson,
  type ReadAggregate,
  type RecordPart,
  type ReadResult,
  type ReadTls,
} from './read-reports.ts'
import {
  MAX_SAMPLES_PER_ACCOUNT_DAY,
  MAX_SAMPLES_PER_ADDRESS_DAY,
  MAX_SAMPLES_PER_DELIVERY,
} from '../limits.ts'
import {
  addTotals,
  deleteUnusedDeliveries,
  insertRecords,
  insertReports,
  insertRejectedItems,
  insertTlsReports,
  listCandidateDomains,
  lockDomains,
  insertAddresses,
  upsertDeliveries,
  type NewReportRow,
  type NewTlsReport,
  type RejectedItem,
  type DomainTotals,
  type NewDelivery,
  type Via,
} from './report-intake.sql.ts'
import { unknownDomainReason } from './unknown-domain.ts'
import { findResponsible } from '../../store/responsible.ts'
import { claimSamples } from '../usage/report-usage.sql.ts'

/** The channel and sender of incoming files. */
export type IntakeOrigin = {
  via: Via
  /** The workspace whose domains the reports may be for; null: all workspaces. */
  workspaceId: string | null
  /** The domain whose report address received it. */
  domainId?: string | undefined
  domain?: string | undefined
  peer?: string | undefined
  sender?: string | undefined
}

/** A report or an unreadable file, with its delivery. */
export type BatchEntry = { read: ReadResult; delivery: NewDelivery }

/** Reports by result. Failure reports are only counted. */
export type IntakeOutcome = {
  stored: number
  duplicates: number
  failureReports: number
  rejected: { name: string; reason: string }[]
  /** How many of the rejected items are for an unknown domain; the others are unreadable. */
  foreign: number
  /** New aggregate reports by domain, and the days (UTC) that they cover. */
  domains: Map<string, { domain: string; reports: number; from: string; to: string }>
  /** IDs of the stored deliveries, in the order of the files. */
  deliveries: Set<string>
  /** Records of all reports, including rejected ones, and bytes unpacked from archives. */
  records: number
  unpackedBytes: number
}

/** Bounds the size of a statement for reports with 100,000 records and more. */
const PARTS_PER_INSERT = 100

type Aggregate = { row: NewReportRow; read: ReadAggregate; domain: string }

/** The entries of a batch, sorted by kind and assigned to domains. */
type Sorted = {
  aggregates: Aggregate[]
  tls: NewTlsReport[]
  failures: string[]
  refused: (BatchEntry & { reason: string })[]
}

/** Stores a batch in one transaction and adds the results to `outcome`. */
export async function storeBatch(
  db: Kysely<DB>,
  origin: IntakeOrigin,
  entries: BatchEntry[],
  outcome: IntakeOutcome,
): Promise<void> {
  const sorted = await sortOut(db, origin, entries)
  const result = await db.transaction().execute((trx) => write(trx, origin, entries, sorted))
  outcome.stored += result.stored
  outcome.duplicates += result.given - result.stored
  outcome.failureReports += sorted.failures.length
  outcome.rejected.push(
    ...sorted.refused.map(({ read, reason }) => ({ name: toStorableText(read.name), reason })),
  )
  outcome.foreign += sorted.refused.filter(({ read }) => read.kind !== 'unread').length
  for (const id of result.deliveries) outcome.deliveries.add(id)
  for (const { row, domain } of result.aggregates) {
    const days = reportDays({ begin: row.beginsAt, end: row.endsAt })
    const [from = '', to = ''] = [days[0], days.at(-1)]
    addReports(outcome.domains, row.domainId, { domain, reports: 1, from, to })
  }
}

/** Adds reports on a domain to those that are counted already. */
export function addReports(
  domains: IntakeOutcome['domains'],
  id: string,
  { domain, reports, from, to }: { domain: string; reports: number; from: string; to: string },
): void {
  const known = domains.get(id)
  domains.set(id, {
    domain,
    reports: (known?.reports ?? 0) + reports,
    from: known && known.from < from ? known.from : from,
    to: known && known.to > to ? known.to : to,
  })
}

async function sortOut(
  db: Kysely<DB>,
  origin: IntakeOrigin,
  entries: BatchEntry[],
): Promise<Sorted> {
  const candidates = indexCandidates(
    await listCandidateDomains(db, origin.workspaceId, [...new Set(entries.flatMap(namesOf))]),
  )
  const sorted: Sorted = { aggregates: [], tls: [], failures: [], refused: [] }
  for (const entry of entries) {
    const { read } = entry
    if (read.kind === 'unread')
      sorted.refused.push({ ...entry, reason: toStorableText(read.reason) })
    else if (read.kind === 'failure') sorted.failures.push(read.name)
    else if (read.kind === 'aggregate') sortAggregate(entry, read, candidates, origin, sorted)
    else sortTls(entry, read, candidates, origin, sorted)
  }
  return sorted
}

/** Names of domains that a report could belong to. */
function namesOf({ read }: BatchEntry): string[] {
  if (read.kind === 'aggregate') return selfAndAbove(read.report.policyPublished.domain)
  return read.kind === 'tls'
    ? read.report.policies.flatMap(({ policyDomain }) => selfAndAbove(policyDomain))
    : []
}

type Candidates = CandidateIndex<Awaited<ReturnType<typeof listCandidateDomains>>[number]>

function sortAggregate(
  entry: BatchEntry,
  read: ReadAggregate,
  all: Candidates,
  origin: IntakeOrigin,
  sorted: Sorted,
): void {
  const { domain: policyDomain } = read.report.policyPublished
  const chosen = chooseDomains(all, policyDomain, read.tallies)
  if (chosen.length === 0)
    sorted.refused.push({ ...entry, reason: unknownDomainReason(policyDomain, origin.workspaceId) })
  for (const { id, domain } of chosen) {
    sorted.aggregates.push({ row: reportRow(read, id, domain, entry.delivery), read, domain })
  }
}

/** A TLS report may cover several domains: each gets its own policies. */
function sortTls(
  entry: BatchEntry,
  read: ReadTls,
  all: Candidates,
  origin: IntakeOrigin,
  sorted: Sorted,
): void {
  const { policies } = read.report
  const byDomain = Map.groupBy(
    policies.flatMap((policy) =>
      chooseDomains(all, policy.policyDomain, []).map(({ id }) => ({ id, policy })),
    ),
    ({ id }) => id,
  )
  for (const [id, own] of byDomain) {
    const theirs = own.map(({ policy }) => policy)
    sorted.tls.push(
      tlsRow({ ...read, report: { ...read.report, policies: theirs } }, id, entry.delivery),
    )
  }
  if (byDomain.size === 0) {
    sorted.refused.push({
      ...entry,
      reason: unknownDomainReason(
        policies[0]?.policyDomain ?? 'an unnamed domain',
        origin.workspaceId,
      ),
    })
  }
}

function reportRow(
  read: ReadAggregate,
  domainId: string,
  domain: string,
  { id, receivedAt }: BatchEntry['delivery'],
): NewReportRow {
  const { report, tallies } = read
  const { orgName, reportId, dateRange, recordCount, ...detail } = report
  const sum = (counts: (tally: (typeof tallies)[number]) => boolean) =>
    tallies.reduce((total, tally) => total + (counts(tally) ? tally.messages : 0), 0)
  const disposed = (word: string) => sum((tally) => tally.disposition === word)
  const disposition = {
    none: disposed('none'),
    quarantine: disposed('quarantine'),
    reject: disposed('reject'),
  }
  return {
    id: newUuid(),
    domainId,
    deliveryId: id,
    key: read.key,
    orgName: toStorableText(orgName),
    reportId: toStorableText(reportId),
    beginsAt: dateRange.begin,
    endsAt: dateRange.end,
    recordCount,
    messages: sum(() => true),
    aligned: sum((tally) => tally.dkim || tally.spf),
    outside: sum((tally) => !isWithin(tally.headerFrom, domain)),
    detail: toStorableJson({ ...detail, disposition }),
    receivedAt,
  }
}

function tlsRow(
  { report, key }: ReadTls,
  domainId: string,
  { id, receivedAt }: BatchEntry['delivery'],
): NewTlsReport {
  const { organizationName, contactInfo, reportId, dateRange, policies, skippedPolicies } = report
  return {
    id: newUuid(),
    domainId,
    deliveryId: id,
    key,
    organizationName: toStorableText(organizationName),
    contactInfo: contactInfo === null ? null : toStorableText(contactInfo),
    reportId: toStorableText(reportId),
    beginsAt: dateRange.begin,
    endsAt: dateRange.end,
    successful: policies.reduce((sum, policy) => sum + policy.totalSuccessfulSessionCount, 0),
    failed: policies.reduce((sum, policy) => sum + policy.totalFailureSessionCount, 0),
    policies: toStorableJson(policies),
    skippedPolicies,
    receivedAt,
  }
}

async function write(
  trx: Transaction<DB>,
  origin: IntakeOrigin,
  entries: BatchEntry[],
  sorted: Sorted,
) {
  const { domainId } = origin
  const wanted = [
    ...sorted.aggregates.map(({ row }) => row.domainId),
    ...sorted.tls.map((row) => row.domainId),
  ]
  const there = await lockDomains(trx, [
    ...new Set(domainId === undefined ? wanted : [...wanted, domainId]),
  ])
  const aggregates = sorted.aggregates.filter(({ row }) => there.has(row.domainId))
  const tls = sorted.tls.filter((row) => there.has(row.domainId))
  const asides = await sampleOf(trx, origin, sorted.refused)
  const deliveries = await writeDeliveries(
    trx,
    entries,
    [...aggregates.map(({ row }) => row), ...tls],
    asides,
  )
  const stored = await writeAggregates(trx, aggregates)
  const storedTls = tls.length > 0 ? await insertTlsReports(trx, tls) : new Set<string>()
  if (asides.length > 0) await insertRejectedItems(trx, asides)
  const used = new Set(
    [...stored.map(({ row }) => row), ...tls.filter(({ id }) => storedTls.has(id)), ...asides].map(
      deliveryIdOf,
    ),
  )
  const unused = deliveries.filter((id) => !used.has(id))
  if (unused.length > 0) await deleteUnusedDeliveries(trx, unused)
  const failures =
    domainId !== undefined && there.has(domainId)
      ? { domainId, count: sorted.failures.length }
      : null
  const totals = totalsOf(
    stored.map(({ row }) => row.domainId),
    tls.filter(({ id }) => storedTls.has(id)),
    failures,
  )
  if (totals.length > 0) await addTotals(trx, totals)
  await notifyChanges(trx, changesOf(totals, there, asides.length > 0 ? origin.workspaceId : null))
  return {
    given: aggregates.length + tls.length,
    stored: stored.length + storedTls.size,
    aggregates: stored,
    deliveries: deliveries.filter((id) => used.has(id)),
  }
}

/** A batch may change many domains of a workspace: then one notification covers all of them. */
function changesOf(
  totals: DomainTotals[],
  workspaces: Map<string, string>,
  asideOf: string | null,
): ChangeNotice[] {
  const byWorkspace = Map.groupBy(totals, ({ domainId }) => workspaces.get(domainId) ?? '')
  if (asideOf !== null) byWorkspace.set(asideOf, [])
  return Array.from(byWorkspace, ([audience, { 0: one, length }]) => {
    return { audience, room: 'dmarc', id: one && length === 1 ? one.domainId : null }
  })
}

function asideRow(
  { read, delivery, reason }: Sorted['refused'][number],
  workspaceId: string,
): RejectedItem {
  const { id: deliveryId, via, receivedAt } = delivery
  const name = toStorableText(read.name).slice(0, 255)
  return { id: newUuid(), workspaceId, deliveryId, name, reason, via, receivedAt }
}

/** Rows for the rejected items within the limits per delivery and day. All are counted. */
async function sampleOf(
  trx: Transaction<DB>,
  origin: IntakeOrigin,
  refused: Sorted['refused'],
): Promise<RejectedItem[]> {
  const { workspaceId, domainId } = origin
  if (workspaceId === null || refused.length === 0) return []
  const [scope, most] =
    domainId === undefined
      ? [await findResponsible(trx, workspaceId), MAX_SAMPLES_PER_ACCOUNT_DAY]
      : [domainId, MAX_SAMPLES_PER_ADDRESS_DAY]
  const some = firstOfEach(refused, MAX_SAMPLES_PER_DELIVERY)
  const count = await claimSamples(trx, scope, some.length, most)
  return some.slice(0, count).map((each) => asideRow(each, workspaceId))
}

/** The first items of each delivery, over all its batches. */
function firstOfEach(refused: Sorted['refused'], most: number): Sorted['refused'] {
  return refused.filter(({ delivery }) => (delivery.samples += 1) <= most)
}

const deliveryIdOf = ({ deliveryId }: { deliveryId: string }) => deliveryId

/** Writes the deliveries that reports or rejected items refer to. */
async function writeDeliveries(
  trx: Transaction<DB>,
  entries: BatchEntry[],
  reports: { deliveryId: string }[],
  asides: { deliveryId: string }[],
): Promise<string[]> {
  const withReports = new Set(reports.map(deliveryIdOf))
  const needed = new Set([...withReports, ...asides.map(deliveryIdOf)])
  const deliveries = [...new Set(entries.map(({ delivery }) => delivery))].filter(({ id }) =>
    needed.has(id),
  )
  for (const delivery of deliveries) delivery.holdsReport ||= withReports.has(delivery.id)
  if (deliveries.length > 0)
    await upsertDeliveries(trx, await dropFilesBeyondQuota(trx, deliveries))
  return deliveries.map(({ id }) => id)
}

async function writeAggregates(
  trx: Transaction<DB>,
  aggregates: Aggregate[],
): Promise<Aggregate[]> {
  if (aggregates.length === 0) return []
  const ids = await insertReports(
    trx,
    aggregates.map(({ row }) => row),
  )
  const stored = aggregates.filter(({ row }) => ids.has(row.id))
  const statistics = createStatistics()
  for (const { row, read, domain } of stored) statistics.add(row.domainId, domain, read)
  const records = stored.flatMap(({ row, read, domain }) =>
    read.parts.map((part, index) => ({
      reportId: row.id,
      part: index,
      ...indexPart(part, domain),
    })),
  )
  for (let at = 0; at < records.length; at += PARTS_PER_INSERT) {
    await insertRecords(trx, records.slice(at, at + PARTS_PER_INSERT))
  }
  const { addresses, ...sums } = statistics.all()
  await addSums(trx, sums)
  if (addresses.length > 0) await insertAddresses(trx, addresses)
  return stored
}

function indexPart({ json, records, passed }: RecordPart, domain: string) {
  const sources = records.map(({ source, headerFrom }) =>
    isWithin(headerFrom, domain) ? source : null,
  )
  return { records: json, sources, passed }
}

function totalsOf(
  reports: string[],
  tls: { domainId: string }[],
  failures: { domainId: string; count: number } | null,
): DomainTotals[] {
  const totals = new Map<string, DomainTotals>()
  const of = (domainId: string) => {
    const known = totals.get(domainId) ?? { domainId, reports: 0, tlsReports: 0, failureReports: 0 }
    totals.set(domainId, known)
    return known
  }
  for (const domainId of reports) of(domainId).reports += 1
  for (const { domainId } of tls) of(domainId).tlsReports += 1
  if (failures && failures.count > 0) of(failures.domainId).failureReports += failures.count
  return [...totals.values()]
}
