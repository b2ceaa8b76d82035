import { isUsable } from '../../protocols/dnsbl/zone-health.ts'
import type { Listing } from '../../protocols/dnsbl/blocklists.ts'
import { firstFact, isSameFact, judge, type Fact } from '../facts/judge.ts'
import type { FactRow } from '../facts/store.ts'
import type { ClaimedHost } from '../looks/store.ts'
import { isGrave } from '../modes/modes.ts'
import { subjectOf, type ListingLook } from './look.ts'
import type { AddressRow } from './store.ts'

/** What is kept of a listing. */
export type ListingDetail = { codes: string[]; meanings: string[]; reason: string | null }

export type ListingChange = {
  ip: string
  listing: Listing
  from: 'clean' | 'listed' | 'unknown'
  to: 'clean' | 'listed'
  /** What was known of it before a change to clean. */
  before: ListingDetail | null
  since: Date
  /** It was so when we first looked. */
  baseline: boolean
}

export type SettledListings = {
  addresses: AddressRow[]
  goneIps: string[]
  save: FactRow[]
  forget: FactRow[]
  changes: ListingChange[]
  /** All that is held to be true now, of the lists that count. */
  listed: FactRow[]
  unknown: { ip: string; zone: string }[]
  total: number
  /** Of the unknown, some that may answer when asked again soon. */
  hasFailedByChance: boolean
}

/** What follows from what the lists said, without a word to the database. */
export function settleListings(host: ClaimedHost, look: ListingLook, now: Date, confirm: number): SettledListings {
  const zones = new Set(look.lists.map(({ zone }) => zone))
  const facts = new Map(host.facts.flatMap((fact) => (fact.kind === 'blacklist' ? [[fact.subject, fact]] : [])))
  const per = look.ips.map((ip) => settleAddress(ip, host, look, facts, now, confirm))
  const goneIps = host.addresses.map(({ ip }) => ip).filter((ip) => !look.ips.includes(ip))
  const save = per.flatMap((one) => one.save)
  const forget = [...per.flatMap((one) => one.forget), ...mutedFacts(host, zones)]
  for (const fact of save) facts.set(fact.subject, fact)
  for (const fact of forget) facts.delete(fact.subject)
  const addresses = per.map(({ address }) => ({
    ...address,
    seen: address.seen.filter((zone) => zones.has(zone)),
    unknown: address.unknown.filter((zone) => zones.has(zone)),
  }))
  return {
    addresses,
    goneIps,
    save,
    forget,
    changes: per.flatMap((one) => one.changes),
    listed: [...facts.values()].filter((fact) => fact.state === 'listed' && look.ips.includes(ipOf(fact))),
    unknown: addresses.flatMap(({ ip, unknown }) => unknown.map((zone) => ({ ip, zone }))),
    total: look.ips.reduce((sum, ip) => sum + look.lists.filter((list) => list.ipv6 || !ip.includes(':')).length, 0),
    hasFailedByChance: [...look.told.values()].flat().some(failedByChance),
  }
}

function failedByChance({ status, health, list }: Listing): boolean {
  return status === 'unknown' && isUsable({ state: health, detail: null, provenBy: null }) && isGrave(list)
}

/** A list that counts no more is begun anew when it does again. */
function mutedFacts({ facts }: ClaimedHost, zones: Set<string>): FactRow[] {
  return facts.filter((fact) => fact.kind === 'blacklist' && !zones.has(zoneOf(fact)))
}

export function ipOf({ subject }: Pick<FactRow, 'subject'>): string {
  return subject.split(' ')[0] ?? ''
}

export function zoneOf({ subject }: Pick<FactRow, 'subject'>): string {
  return subject.split(' ')[1] ?? ''
}

function settleAddress(
  ip: string,
  host: ClaimedHost,
  look: ListingLook,
  facts: ReadonlyMap<string, FactRow>,
  now: Date,
  confirm: number,
) {
  const listings = look.told.get(ip) ?? []
  const known = host.addresses.find((address) => address.ip === ip)
  // What a watched name leads to newly has to be clean, like what it led to before.
  const isBaseline = (zone: string) => (known ? !known.seen.includes(zone) : host.addresses.length === 0)
  const result = { save: [] as FactRow[], forget: [] as FactRow[], changes: [] as ListingChange[] }
  const answered = listings.filter(({ status }) => status !== 'unknown')
  for (const listing of answered) {
    const key = { hostId: host.id, kind: 'blacklist' as const, subject: subjectOf(ip, listing.list.zone) }
    const fact = facts.get(key.subject)
    const verdict = decide(fact, listing, { baseline: isBaseline(listing.list.zone), now, confirm })
    if (verdict.change) result.changes.push({ ip, listing, ...verdict.change })
    if (isNothing(verdict.fact)) result.forget.push(...(fact ? [fact] : []))
    else if (!fact || !isSameFact(fact, verdict.fact)) result.save.push({ ...key, ...verdict.fact })
  }
  return { ...result, address: addressAfter(ip, host, look, known, listings, now) }
}

/** A listing that is not there and not suspected is not written down. */
function isNothing({ state, suspect }: Fact): boolean {
  return state === 'clean' && suspect === null
}

type Circumstances = { baseline: boolean; now: Date; confirm: number }

function decide(fact: FactRow | undefined, listing: Listing, { baseline, now, confirm }: Circumstances) {
  const status = listing.status as 'clean' | 'listed'
  const seen = { state: status, detail: detailOf(listing) }
  if (!fact && baseline) {
    const change = status === 'listed' ? changeOf('unknown', 'listed', null, now, true) : null
    return { fact: firstFact(seen, now), change }
  }
  const before = (fact ?? firstFact({ state: 'clean', detail: {} }, now)) as Fact<ListingDetail>
  const { fact: after, change } = judge(before, seen, now, confirm)
  return { fact: after, change: change && changeOf(before.state, status, before.detail, after.since, false) }
}

function changeOf(from: string, to: 'clean' | 'listed', before: ListingDetail | null, since: Date, baseline: boolean) {
  return { from: from as ListingChange['from'], to, before, since, baseline }
}

function detailOf({ codes, meanings, reason }: Listing): ListingDetail {
  return { codes, meanings, reason }
}

function addressAfter(
  ip: string,
  host: ClaimedHost,
  { current, lists }: ListingLook,
  known: AddressRow | undefined,
  listings: Listing[],
  now: Date,
): AddressRow {
  const zonesWhere = (isUnknown: boolean) =>
    listings.filter(({ status }) => (status === 'unknown') === isUnknown).map(({ list }) => list.zone)
  const asked = new Set(listings.map(({ list }) => list.zone))
  const isNewcomer = !known && host.addresses.length > 0
  const before = known?.seen ?? (isNewcomer ? lists.map(({ zone }) => zone) : [])
  return {
    hostId: host.id,
    ip,
    seen: [...new Set([...before, ...zonesWhere(false)])],
    unknown: [...(known?.unknown ?? []).filter((zone) => !asked.has(zone)), ...zonesWhere(true)],
    lastSeenAt: current.has(ip) ? now : (known?.lastSeenAt ?? now),
  }
}
