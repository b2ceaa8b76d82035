import { isUsable } from '../../protocols/dnsbl/zone-health.ts'
import type { Listing } from '../../protocols/dnsbl/blocklists.ts'
import type { Blocklist } from '../../protocols/dnsbl/blocklist-catalogue.ts'
import { initialFact, isSameFact, applyObservation, type Fact } from '../facts/observation.ts'
import type { FactRow } from '../facts/host-facts.sql.ts'
import type { ClaimedHost } from '../checks/host-checks.sql.ts'
import { isImportant } from './modes.ts'
import { subjectOf, type ListingObservations } from './check-blocklists.ts'
import type { HostAddressRow } from './listings.sql.ts'

/** Stored part of a listing. */
export type ListingDetail = { codes: string[]; meanings: string[]; reason: string | null }

export type ListingChange = {
  ip: string
  listing: Listing
  from: 'clean' | 'listed' | 'unknown'
  to: 'clean' | 'listed'
  /** The listing before a change to clean. */
  before: ListingDetail | null
  since: Date
  /** Found by the first check. */
  baseline: boolean
}

export type ListingUpdates = {
  addresses: HostAddressRow[]
  goneIps: string[]
  save: FactRow[]
  remove: FactRow[]
  changes: ListingChange[]
  /** Confirmed listings after this check. */
  listed: FactRow[]
  unknown: { ip: string; zone: string }[]
  total: number
  /** Whether some of the unknown may answer when queried again soon. */
  hasTemporaryFailure: boolean
}

/** Compares the answers of the blocklists with the stored facts. Does not access the database. */
export function evaluateListings(
  host: ClaimedHost,
  observations: ListingObservations,
  now: Date,
  confirmMs: number,
): ListingUpdates {
  const zones = new Set(observations.lists.map(({ zone }) => zone))
  const facts = new Map(
    host.facts.flatMap((fact) => (fact.kind === 'blacklist' ? [[fact.subject, fact]] : [])),
  )
  const perAddress = observations.ips.map((ip) =>
    evaluateAddress(ip, host, observations, facts, now, confirmMs),
  )
  const goneIps = host.addresses.map(({ ip }) => ip).filter((ip) => !observations.ips.includes(ip))
  const save = perAddress.flatMap((one) => one.save)
  const remove = [...perAddress.flatMap((one) => one.remove), ...mutedFacts(host, zones)]
  for (const fact of save) facts.set(fact.subject, fact)
  for (const fact of remove) facts.delete(fact.subject)
  const addresses = perAddress.map(({ address }) => ({
    ...address,
    seen: address.seen.filter((zone) => zones.has(zone)),
    unknown: address.unknown.filter((zone) => zones.has(zone)),
  }))
  return {
    addresses,
    goneIps,
    save,
    remove,
    changes: perAddress.flatMap((one) => one.changes),
    listed: [...facts.values()].filter(
      (fact) => fact.state === 'listed' && observations.ips.includes(ipOf(fact)),
    ),
    unknown: addresses.flatMap(({ ip, unknown }) => unknown.map((zone) => ({ ip, zone }))),
    total: observations.ips.reduce(
      (sum, ip) => sum + observations.lists.filter((list) => covers(list, ip)).length,
      0,
    ),
    hasTemporaryFailure: [...observations.answers.values()].flat().some(isTemporaryFailure),
  }
}

function isTemporaryFailure({ status, health, list }: Listing): boolean {
  return (
    status === 'unknown' &&
    isUsable({ state: health, detail: null, provenBy: null }) &&
    isImportant(list)
  )
}

/** Facts of muted blocklists: removed, so that the first check after unmuting raises no alerts. */
function mutedFacts({ facts }: ClaimedHost, zones: Set<string>): FactRow[] {
  return facts.filter((fact) => fact.kind === 'blacklist' && !zones.has(zoneOf(fact)))
}

/** Whether a blocklist has addresses of this version. */
export function covers({ ipv6 }: Blocklist, ip: string): boolean {
  return ipv6 || !ip.includes(':')
}

export function ipOf({ subject }: Pick<FactRow, 'subject'>): string {
  return subject.split(' ')[0] ?? ''
}

export function zoneOf({ subject }: Pick<FactRow, 'subject'>): string {
  return subject.split(' ')[1] ?? ''
}

function evaluateAddress(
  ip: string,
  host: ClaimedHost,
  observations: ListingObservations,
  facts: ReadonlyMap<string, FactRow>,
  now: Date,
  confirmMs: number,
) {
  const listings = observations.answers.get(ip) ?? []
  const known = host.addresses.find((address) => address.ip === ip)
  // A new address of a monitored name is no baseline: a listing of it raises an alert.
  const isBaseline = (zone: string) =>
    known ? !known.seen.includes(zone) : host.addresses.length === 0
  const result = { save: [] as FactRow[], remove: [] as FactRow[], changes: [] as ListingChange[] }
  const answered = listings.filter(({ status }) => status !== 'unknown')
  for (const listing of answered) {
    const key = {
      hostId: host.id,
      kind: 'blacklist' as const,
      subject: subjectOf(ip, listing.list.zone),
    }
    const fact = facts.get(key.subject)
    const evaluated = evaluateListing(fact, listing, {
      baseline: isBaseline(listing.list.zone),
      now,
      confirmMs,
    })
    if (evaluated.change) result.changes.push({ ip, listing, ...evaluated.change })
    if (isClean(evaluated.fact)) result.remove.push(...(fact ? [fact] : []))
    else if (!fact || !isSameFact(fact, evaluated.fact))
      result.save.push({ ...key, ...evaluated.fact })
  }
  return { ...result, address: addressAfter(ip, host, observations, known, listings, now) }
}

/** Whether the fact says nothing: neither listed nor suspected. Such facts are not stored. */
function isClean({ state, suspect }: Fact): boolean {
  return state === 'clean' && suspect === null
}

type EvaluationOptions = { baseline: boolean; now: Date; confirmMs: number }

function evaluateListing(
  fact: FactRow | undefined,
  listing: Listing,
  { baseline, now, confirmMs }: EvaluationOptions,
) {
  const status = listing.status as 'clean' | 'listed'
  const observed = { state: status, detail: detailOf(listing) }
  if (!fact && baseline) {
    const change = status === 'listed' ? changeOf('unknown', 'listed', null, now, true) : null
    return { fact: initialFact(observed, now), change }
  }
  const before = (fact ?? initialFact({ state: 'clean', detail: {} }, now)) as Fact<ListingDetail>
  const { fact: after, change } = applyObservation(before, observed, now, confirmMs)
  return {
    fact: after,
    change: change && changeOf(before.state, status, before.detail, after.since, false),
  }
}

function changeOf(
  from: string,
  to: 'clean' | 'listed',
  before: ListingDetail | null,
  since: Date,
  baseline: boolean,
) {
  return { from: from as ListingChange['from'], to, before, since, baseline }
}

function detailOf({ codes, meanings, reason }: Listing): ListingDetail {
  return { codes, meanings, reason }
}

function addressAfter(
  ip: string,
  host: ClaimedHost,
  { current, lists }: ListingObservations,
  known: HostAddressRow | undefined,
  listings: Listing[],
  now: Date,
): HostAddressRow {
  const zonesWhere = (isUnknown: boolean) =>
    listings
      .filter(({ status }) => (status === 'unknown') === isUnknown)
      .map(({ list }) => list.zone)
  const queried = new Set(listings.map(({ list }) => list.zone))
  const isNewAddress = !known && host.addresses.length > 0
  const before = known?.seen ?? (isNewAddress ? lists.map(({ zone }) => zone) : [])
  return {
    hostId: host.id,
    ip,
    seen: [...new Set([...before, ...zonesWhere(false)])],
    unknown: [...(known?.unknown ?? []).filter((zone) => !queried.has(zone)), ...zonesWhere(true)],
    lastSeenAt: current.has(ip) ? now : (known?.lastSeenAt ?? now),
  }
}
