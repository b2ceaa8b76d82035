import type { Transaction } from 'kysely'
import { raiseAlert } from '../../alerts/raise.ts'
import type { DB } from '../../store/tables.ts'
import type { SettledCertificates } from '../certificates/settle.ts'
import { certificateAlert } from '../certificates/words.ts'
import { countChanges, insertEvents, type EventRow } from '../history/store.ts'
import { RESTLESS, RESTLESS_FOR } from '../limits.ts'
import { subjectOf } from '../listings/look.ts'
import type { ListingChange } from '../listings/settle.ts'
import { isListedElsewhere, lockTelling } from '../listings/store.ts'
import { listingAlert } from '../listings/words.ts'
import { modeOf } from '../modes/modes.ts'
import type { SettledRecords } from '../records/settle.ts'
import { recordsAlert } from '../records/words.ts'
import type { ClaimedHost } from './store.ts'

/** What changed goes into the history; what a person wants to know of it becomes an alert. */
export async function tellListings(
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
  const wanted = changes.filter(
    ({ listing, baseline }) => modeOf(listing.list, host.lists, host.choices) === 'alert' && !baseline,
  )
  if (wanted.length > 0) await lockTelling(trx, host.accountId)
  for (const change of wanted) {
    const subject = subjectOf(change.ip, change.listing.list.zone)
    if (!(await isListedElsewhere(trx, host, subject))) await raiseAlert(trx, listingAlert(host, change, at))
  }
}

function listingEvent({ ip, listing, from, to, before, baseline }: ListingChange, at: Date): EventRow {
  const { list, codes, reason } = listing
  const told = to === 'listed' ? { codes, reason } : { codes: before?.codes ?? [], reason: before?.reason ?? null }
  const event = { at, kind: 'blacklist' as const, name: list.name, dnsbl: list.zone, ip }
  return { ...event, fromState: from, toState: to, ...told, baseline }
}

export async function tellCertificates(
  trx: Transaction<DB>,
  host: ClaimedHost,
  { changes }: SettledCertificates,
  at: Date,
) {
  await insertEvents(
    trx,
    host.id,
    changes.map(({ port, from, to, fact, baseline }) => ({
      ...NO_LISTING,
      at,
      kind: 'certificate' as const,
      name: `Certificate on port ${port}`,
      fromState: from,
      toState: to,
      reason: `Valid until ${fact.detail.validTo.slice(0, 10)}, issued by ${fact.detail.issuer}.`,
      baseline,
    })),
  )
  for (const change of changes) {
    if (!change.baseline) await raiseAlert(trx, certificateAlert(host, change, at))
  }
}

const NO_LISTING = { dnsbl: null, ip: null, codes: [], reason: null }

export async function tellRecords(trx: Transaction<DB>, host: ClaimedHost, { changes }: SettledRecords, at: Date) {
  const told = []
  for (const change of changes) {
    const before = await countChanges(trx, host.id, change.subject, new Date(at.getTime() - RESTLESS_FOR))
    if (before < RESTLESS) told.push({ ...change, restless: before === RESTLESS - 1 })
  }
  await insertEvents(
    trx,
    host.id,
    changes.map(({ subject, from, to }) => ({
      ...NO_LISTING,
      at,
      kind: 'dns' as const,
      name: subject,
      fromState: from,
      toState: to,
      baseline: false,
    })),
  )
  if (told.length > 0) await raiseAlert(trx, recordsAlert(host, told, at))
}
