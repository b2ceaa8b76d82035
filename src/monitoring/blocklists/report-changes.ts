import type { Transaction } from 'kysely'
import { raiseAlert } from '../../alerts/raise.ts'
import type { DB } from '../../store/tables.ts'
import type { ClaimedHost } from '../checks/store.ts'
import { insertEvents, type EventRow } from '../history/store.ts'
import { subjectOf } from './check.ts'
import type { ListingChange } from './evaluate.ts'
import { listingAlert } from './messages.ts'
import { modeOf } from './modes.ts'
import { isListedElsewhere, lockListingAlerts } from './store.ts'

/**
 * Inserts all changes into the history, and raises alerts for those on blocklists with mode
 * `alert`.
 */
export async function reportListingChanges(
  trx: Transaction<DB>,
  host: ClaimedHost,
  changes: ListingChange[],
  at: Date,
): Promise<void> {
  await insertEvents(
    trx,
    host.id,
    changes.map((change) => listingEvent(change, at)),
  )
  const toAlert = changes.filter(
    ({ listing, baseline }) =>
      modeOf(listing.list, host.lists, host.workspaceModes) === 'alert' && !baseline,
  )
  if (toAlert.length > 0) await lockListingAlerts(trx, host.workspaceId)
  for (const change of toAlert) {
    const subject = subjectOf(change.ip, change.listing.list.zone)
    if (!(await isListedElsewhere(trx, host, subject)))
      await raiseAlert(trx, listingAlert(host, change, at))
  }
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
