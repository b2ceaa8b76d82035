import type { Transaction } from 'kysely'
import { adviceOnSweep } from '../../protocols/dnsbl/dnsbl-advice.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import type { ListingObservations } from '../blocklists/check-blocklists.ts'
import {
  covers,
  evaluateListings,
  zoneOf,
  type ListingUpdates,
} from '../blocklists/evaluate-blocklists.ts'
import { isImportant } from '../blocklists/modes.ts'
import { reportListingChanges } from '../blocklists/report-listing-changes.ts'
import { deleteAddress, saveAddress } from '../blocklists/listings.sql.ts'
import type { CertificateDetail } from '../certificates/check-certificates.ts'
import {
  evaluateCertificates,
  type CertificateUpdates,
} from '../certificates/evaluate-certificates.ts'
import { reportCertificateChanges } from '../certificates/report-certificate-changes.ts'
import type { Observation } from '../facts/observation.ts'
import { deleteFact, saveFact, type FactRow } from '../facts/host-facts.sql.ts'
import { beginPeriod, type Period } from '../history/host-history.sql.ts'
import { MISSED_CHECKS, type CheckIntervals } from '../limits.ts'
import type { RecordDetail } from '../records/check-records.ts'
import { evaluateRecords, type RecordUpdates } from '../records/evaluate-records.ts'
import { reportRecordChanges } from '../records/report-record-changes.ts'
import type { HostStatus } from '../hosts.sql.ts'
import type { HostCheckDeps } from './deps.ts'
import { nextDueTimes, type CheckPlan } from './plan-checks.ts'
import { saveCheck, type ClaimedHost } from './host-checks.sql.ts'
import { HOUR_MS } from '../../time.ts'

export type HostObservations = {
  plan: CheckPlan
  listings: ListingObservations
  certificates: Map<number, Observation<CertificateDetail>>
  records: Map<string, Observation<RecordDetail>>
}

type HostUpdates = {
  listings: ListingUpdates
  certificates: CertificateUpdates
  records: RecordUpdates
}

/** Records a check and raises its alerts in one transaction: all of it, or nothing. */
export async function recordCheck(
  host: ClaimedHost,
  observations: HostObservations,
  deps: HostCheckDeps,
  now = new Date(),
): Promise<void> {
  const { intervals } = deps
  const updates: HostUpdates = {
    listings: evaluateListings(host, observations.listings, now, intervals.confirmMs),
    certificates: evaluateCertificates(host, observations.certificates, now, intervals.confirmMs),
    records: evaluateRecords(host, observations.records, now, intervals.confirmMs),
  }
  const importantZones = new Set(
    observations.listings.lists.filter(isImportant).map(({ zone }) => zone),
  )
  const status = statusOf(updates.listings, observations.listings)
  await deps.db.transaction().execute(async (trx) => {
    const isOurs = await saveCheck(trx, host, {
      status,
      listedCount: updates.listings.listed.length,
      unknownCount: updates.listings.unknown.length,
      totalChecked: updates.listings.total,
      detail: describeUnknown(host, observations, updates.listings, deps),
      lastCheckAt: now,
      ...nextDueTimes(host, observations.plan, intervals, now),
      recheckAt: nextRecheck(host, updates, intervals, now),
    })
    if (!isOurs) return
    await saveUpdates(trx, host, updates)
    await recordPeriod(
      trx,
      host,
      periodOf(status, updates.listings, importantZones),
      intervals,
      now,
    )
    await reportListingChanges(trx, host, updates.listings, observations.listings.lists, now)
    await reportCertificateChanges(trx, host, updates.certificates, now)
    await reportRecordChanges(trx, host, updates.records, now)
    await notifyChange(trx, host.workspaceId, 'monitoring', host.id)
  })
  deps.onChecked?.(status)
}

/**
 * A host is clean only if every critical and major blocklist said so that answers this resolver: a
 * failed query never counts as clean. That a list refuses the resolver says nothing about a host, and
 * where all refuse it, nothing is known.
 */
function statusOf(
  { listed, unknown }: ListingUpdates,
  { ips, lists, refusing }: ListingObservations,
): HostStatus {
  if (listed.length > 0) return 'listed'
  const important = lists.filter((list) => isImportant(list) && ips.some((ip) => covers(list, ip)))
  const answering = important.filter(({ zone }) => !refusing.has(zone))
  const isOpen = answering.some(({ zone }) => unknown.some((one) => one.zone === zone))
  const isNothingKnown = ips.length === 0 || (important.length > 0 && answering.length === 0)
  return isNothingKnown || isOpen ? 'unknown' : 'clean'
}

function periodOf(
  status: HostStatus,
  { listed }: ListingUpdates,
  importantZones: Set<string>,
): Period {
  if (listed.some((fact) => importantZones.has(zoneOf(fact)))) return 'listed'
  return status === 'unknown' ? 'unknown' : 'clean'
}

function describeUnknown(
  host: ClaimedHost,
  { plan, listings }: HostObservations,
  { unknown }: ListingUpdates,
  { blocklists }: HostCheckDeps,
): string | null {
  if (listings.problem !== null || unknown.length === 0) return listings.problem
  if (!plan.importantLists && !plan.allLists) return host.detail
  const answers = [...listings.answers.values()].flat()
  return adviceOnSweep(answers, blocklists.resolver.servers).at(-1) ?? null
}

/** Milliseconds after which an unconfirmed change waits for the next regular check. */
const UNCONFIRMED_RECHECK_MS = HOUR_MS

function nextRecheck(
  host: ClaimedHost,
  updates: HostUpdates,
  intervals: CheckIntervals,
  now: Date,
): Date | null {
  const after = (waitMs: number) => new Date(now.getTime() + waitMs)
  const isRecent = ({ suspectAt }: FactRow) =>
    suspectAt !== null && now.getTime() - suspectAt.getTime() < UNCONFIRMED_RECHECK_MS
  if (factsAfter(host, updates).some(isRecent)) return after(intervals.confirmMs)
  return updates.listings.hasTemporaryFailure ? after(intervals.retryMs) : null
}

function factsAfter(
  { facts }: ClaimedHost,
  { listings, certificates, records }: HostUpdates,
): FactRow[] {
  const all = [listings, certificates, records]
  const keyOf = ({ kind, subject }: FactRow) => `${kind} ${subject}`
  const remaining = new Map(facts.map((fact) => [keyOf(fact), fact]))
  for (const fact of all.flatMap(({ save }) => save)) remaining.set(keyOf(fact), fact)
  for (const fact of all.flatMap(({ remove }) => remove)) remaining.delete(keyOf(fact))
  return [...remaining.values()]
}

async function saveUpdates(
  trx: Transaction<DB>,
  host: ClaimedHost,
  updates: HostUpdates,
): Promise<void> {
  const { listings, certificates, records } = updates
  for (const part of [listings, certificates, records]) {
    for (const fact of part.save) await saveFact(trx, fact)
    for (const fact of part.remove) await deleteFact(trx, fact)
  }
  for (const address of listings.addresses) {
    const known = host.addresses.find(({ ip }) => ip === address.ip)
    if (!known || !isSameAddress(known, address)) await saveAddress(trx, address)
  }
  for (const ip of listings.goneIps) await deleteAddress(trx, host.id, ip)
}

/**
 * Milliseconds by which `lastSeenAt` may lag behind: not every check of ten thousand hosts writes
 * it.
 */
const LAST_SEEN_PRECISION_MS = 6 * HOUR_MS

function isSameAddress(
  a: ListingUpdates['addresses'][number],
  b: ListingUpdates['addresses'][number],
): boolean {
  return (
    a.seen.length === b.seen.length &&
    a.unknown.join(' ') === b.unknown.join(' ') &&
    b.lastSeenAt.getTime() - a.lastSeenAt.getTime() < LAST_SEEN_PRECISION_MS
  )
}

/** Starts the period of this check; a time without checks counts as unknown. */
async function recordPeriod(
  trx: Transaction<DB>,
  host: ClaimedHost,
  period: Period,
  intervals: CheckIntervals,
  now: Date,
): Promise<void> {
  const { lastCheckAt } = host
  if (
    lastCheckAt &&
    now.getTime() - lastCheckAt.getTime() > MISSED_CHECKS * intervals.importantListsMs
  ) {
    await beginPeriod(
      trx,
      host.id,
      'unknown',
      new Date(lastCheckAt.getTime() + intervals.importantListsMs),
    )
  }
  await beginPeriod(trx, host.id, period, now)
}
