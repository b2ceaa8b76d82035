import type { Blocklist } from '../protocols/dnsbl/blocklist-catalogue.ts'
import type { Blocklists } from '../protocols/dnsbl/blocklists.ts'
import type { CertificateDetail } from './certificates/check-certificates.ts'
import { daysLeft } from './certificates/messages.ts'
import type { HostSummary } from './history/summaries.ts'
import type { FactRow } from './facts/host-facts.sql.ts'
import type { EventRow, PeriodRow } from './history/host-history.sql.ts'
import { ipOf, zoneOf, type ListingDetail } from './blocklists/evaluate-blocklists.ts'
import type { HostAddressRow } from './blocklists/listings.sql.ts'
import { defaultMode, type ListModes } from './blocklists/modes.ts'
import type { RecordDetail } from './records/check-records.ts'
import type { HostRow } from './hosts.sql.ts'

function presentHost(row: HostRow, summary: HostSummary) {
  const times = [row.graveDueAt, row.fullDueAt, row.recheckAt ?? row.graveDueAt]
  return { ...row, nextCheckAt: new Date(Math.min(...times.map(Number))), ...summary }
}

/** Presents a host with its addresses, facts and periods. */
export function presentHostDetail(
  row: HostRow,
  summary: HostSummary,
  known: { addresses: HostAddressRow[]; facts: FactRow[]; periods: PeriodRow[] },
  { lists }: Blocklists,
) {
  const { addresses, facts, periods } = known
  const of = (kind: FactRow['kind']) => facts.filter((fact) => fact.kind === kind)
  return {
    ...presentHost(row, summary),
    listedIps: listedIps(of('blacklist')),
    addresses: addresses.map(({ ip, unknown }) => ({ ip, unknownLists: unknown })),
    listings: of('blacklist').flatMap((fact) => presentListing(fact, lists)),
    certificates: of('certificate').map(presentCertificate),
    records: of('dns').map(presentRecord),
    periods,
  }
}

function listedIps(facts: FactRow[]): string[] {
  const listed = facts.filter(({ state }) => state === 'listed')
  return [...new Set(listed.map(ipOf))].toSorted().slice(0, 8)
}

export function presentListing(fact: FactRow, lists: readonly Blocklist[]) {
  const list = lists.find(({ zone }) => zone === zoneOf(fact))
  if (!list) return []
  const { codes = [], meanings = [], reason = null } = fact.detail as Partial<ListingDetail>
  const { name, zone: dnsbl, category } = list
  const ip = ipOf(fact)
  const delistUrl = (list.delisting.url ?? list.lookupUrl)?.replace('{ip}', ip) ?? null
  const state =
    fact.suspect === null ? 'listed' : fact.state === 'listed' ? 'clearing' : 'suspected'
  return [
    {
      ip,
      name,
      dnsbl,
      category,
      state,
      codes,
      meanings,
      reason,
      delistUrl,
      since: fact.suspectAt ?? fact.since,
    },
  ]
}

function presentCertificate({ subject, state, detail, since }: FactRow) {
  const certificate = detail as CertificateDetail
  const daysRemaining = daysLeft(certificate, new Date())
  return { ...certificate, port: Number(subject), state, daysRemaining, since }
}

function presentRecord({ subject, detail, since }: FactRow) {
  const [name = '', type = ''] = subject.split(' ')
  return { name, type, values: (detail as RecordDetail).values, since }
}

export function presentEvent({ fromState, toState, ...event }: EventRow) {
  return { ...event, from: fromState, to: toState }
}

export function presentList(list: Blocklist, modes: ListModes) {
  const chosen = modes[list.zone]
  const { name, zone: dnsbl, category } = list
  return {
    name,
    dnsbl,
    category,
    mode: chosen ?? defaultMode(list),
    isDefault: chosen === undefined,
  }
}
