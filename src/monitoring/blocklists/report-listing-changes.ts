import type { Transaction } from 'kysely'
import { closeIncident, isIncidentOpen } from '../../alerts/incidents.sql.ts'
import { raiseAlert } from '../../alerts/raise.ts'
import type { Blocklist } from '../../protocols/dnsbl/blocklist-catalogue.ts'
import type { DB } from '../../store/tables.ts'
import type { ClaimedHost } from '../checks/host-checks.sql.ts'
import type { FactRow } from '../facts/host-facts.sql.ts'
import { insertEvents, type EventRow } from '../history/host-history.sql.ts'
import { subjectOf } from './check-blocklists.ts'
import { ipOf, zoneOf, type ListingChange, type ListingUpdates } from './evaluate-blocklists.ts'
import {
  alreadyListedAlert,
  initialIncidentOf,
  listingAlert,
  listingIncidentOf,
} from './messages.ts'
import { modeOf } from './modes.ts'
import { isListedElsewhere, lockListingAlerts } from './listings.sql.ts'

/**
 * Inserts all changes into the history, and raises alerts for those on blocklists with mode
 * `alert`: one for all that the first check found, and one for each later change.
 * @param lists the blocklists that are not muted for this host
 */
export async function reportListingChanges(
  trx: Transaction<DB>,
  host: ClaimedHost,
  { changes, listed }: Pick<ListingUpdates, 'changes' | 'listed'>,
  lists: readonly Blocklist[],
  at: Date,
): Promise<void> {
  await insertEvents(
    trx,
    host.id,
    changes.map((change) => listingEvent(change, at)),
  )
  const candidates = changes.filter(
    (change) =>
      raisesAlert(change.listing.list, host) && (!change.baseline || isFirst(change, host)),
  )
  if (candidates.length === 0) return
  await lockListingAlerts(trx, host.workspaceId)
  const toAlert = await withoutListedElsewhere(trx, host, candidates)
  const initial = toAlert.filter(({ baseline }) => baseline)
  if (initial.length > 0) await raiseAlert(trx, alreadyListedAlert(host, initial, at))
  const later = toAlert.filter(({ baseline }) => !baseline)
  const endsInitial = await hasInitialEnded(trx, host, listed, lists)
  for (const change of later)
    await raiseAlert(trx, await alertOf(trx, host, change, endsInitial, at))
  // Without an alert of this host: another host of the workspace has the same listing.
  if (endsInitial) await closeIncident(trx, host.workspaceId, initialIncidentOf(host))
}

function raisesAlert(list: Blocklist, { lists, workspaceModes }: ClaimedHost): boolean {
  return modeOf(list, lists, workspaceModes) === 'alert'
}

/** Whether the listing was there when the host was added: not one of a list that was muted. */
function isFirst({ ip, listing }: ListingChange, { lastCheckAt, addresses }: ClaimedHost): boolean {
  if (lastCheckAt === null) return true
  return addresses.some((known) => known.ip === ip && known.unknown.includes(listing.list.zone))
}

async function withoutListedElsewhere(
  trx: Transaction<DB>,
  host: ClaimedHost,
  changes: ListingChange[],
): Promise<ListingChange[]> {
  const remaining: ListingChange[] = []
  for (const change of changes) {
    const subject = subjectOf(change.ip, change.listing.list.zone)
    if (!(await isListedElsewhere(trx, host, subject))) remaining.push(change)
  }
  return remaining
}

/** Whether the incident of the first check is open, but each of its listings was removed. */
async function hasInitialEnded(
  trx: Transaction<DB>,
  host: ClaimedHost,
  listed: FactRow[],
  lists: readonly Blocklist[],
): Promise<boolean> {
  const { workspaceId } = host
  if (!(await isIncidentOpen(trx, workspaceId, initialIncidentOf(host)))) return false
  for (const fact of listed) {
    const list = lists.find(({ zone }) => zone === zoneOf(fact))
    if (!list || !raisesAlert(list, host)) continue
    if (!(await isIncidentOpen(trx, workspaceId, listingIncidentOf(ipOf(fact), list)))) return false
  }
  return true
}

/** The removal of the last listing of the first check resolves its incident. */
async function alertOf(
  trx: Transaction<DB>,
  host: ClaimedHost,
  change: ListingChange,
  endsInitial: boolean,
  at: Date,
) {
  const alert = listingAlert(host, change, at)
  const endsOwn = await isIncidentOpen(trx, host.workspaceId, alert.incident)
  return alert.phase === 'resolved' && endsInitial && !endsOwn
    ? { ...alert, incident: initialIncidentOf(host) }
    : alert
}

function listingEvent(
  { ip, listing, from, to, before, baseline }: ListingChange,
  at: Date,
): EventRow {
  const { list, codes, reason } = listing
  const answer =
    to === 'listed'
      ? { codes, reason }
      : { codes: before?.codes ?? [], reason: before?.reason ?? null }
  const event = { at, kind: 'blacklist' as const, name: list.name, dnsbl: list.zone, ip }
  return { ...event, fromState: from, toState: to, ...answer, baseline }
}
