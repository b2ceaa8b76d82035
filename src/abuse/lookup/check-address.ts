import type { Kysely } from 'kysely'
import type { DB } from '../../store/tables.ts'
import { circumstancesOf } from '../scoring/circumstances.ts'
import { createKeyedGroupCommit } from '../intake/report-commits.ts'
import type { PeerNames } from '../peer-evidence/peer-names.ts'
import type { Ranges } from '../ranges/ranges.ts'
import { aliasOf } from '../reputation/reporter.ts'
import {
  assess,
  FORGET_AFTER_MS,
  type Confidence,
  type Evidence,
  type State,
  type TraitsOf,
} from '../scoring/score.ts'
import { peerOf } from '../scoring/peer-evidence.ts'
import type { Standings } from '../reputation/standings.ts'
import { findAddressRows, type AddressRow } from '../attack-list.sql.ts'
import type { Subject } from '../subject.ts'
import { HOUR_MS } from '../../time.ts'

export type LookupDeps = {
  ranges: Ranges
  standings: Standings
  traitsOf: TraitsOf
  peerNames: Pick<PeerNames, 'of'>
}

/** The public information on an address. */
export type AddressDescription = {
  ip: string
  network: string
  listed: boolean
  listingState: State | 'expired'
  score: number
  confidenceLevel: Confidence
  totalReports: number
  distinctReporters: number
  firstReportedAt: Date | null
  lastReportedAt: Date | null
  services: { service: string; count: number }[]
  evidence: { service: string; port: number | null; count: number; at: Date; reporter: string }[]
  peers: { name: string; networks: number; services: string[]; lastReportedAt: Date }[]
}

/** Finds rows of addresses. Concurrent lookups share a query. */
export function createLookup(db: Kysely<DB>): (address: string) => Promise<AddressRow | undefined> {
  const lookups = createKeyedGroupCommit<string, AddressRow | undefined>({
    async commit(addresses) {
      const rows = new Map(
        (await findAddressRows(db, [...new Set(addresses)])).map((row) => [row.address, row]),
      )
      return addresses.map((address) => rows.get(address))
    },
    sizeOf: () => 1,
    keysOf: () => [],
    most: 500,
    patience: 50_000,
  })
  return (address) => lookups.submit(address)
}

/** Computes the present state of an address: its evidence fades between two writes of its row. */
export function describeAddress(
  subject: Subject,
  row: AddressRow | undefined,
  { ranges, standings, traitsOf, peerNames }: LookupDeps,
  now: number,
): AddressDescription {
  if (ranges.is('whitelist', subject.key))
    return { ...nothing(subject), listingState: 'whitelisted' }
  if (!row || ranges.is('canary', subject.key)) return nothing(subject)
  if (now - row.lastReportedAt.getTime() > FORGET_AFTER_MS)
    return { ...nothing(subject), listingState: 'expired' }
  const known = { bootstrap: standings.isBootstrap(), wellKnown: ranges.isWellKnown(subject.key) }
  const circumstances = circumstancesOf(row, known, now)
  const own = row.evidence.filter((entry) => peerOf(entry) === null)
  const { state, score, confidence } = assess(row.state, row.evidence, circumstances, now, traitsOf)
  return {
    ip: subject.ip,
    network: subject.key,
    listed: state === 'listed',
    listingState: state,
    score,
    confidenceLevel: confidence,
    totalReports: row.totalReports,
    distinctReporters: row.networks,
    firstReportedAt: hourOf(row.firstReportedAt.getTime()),
    lastReportedAt: hourOf(row.lastReportedAt.getTime()),
    services: countServices(own),
    evidence: own.toSorted((a, b) => b.at - a.at).map((entry) => anonymous(entry, subject.key)),
    peers: describePeers(row.evidence, peerNames),
  }
}

function nothing({ ip, key }: Subject): AddressDescription {
  return {
    ip,
    network: key,
    listed: false,
    listingState: 'none',
    score: 0,
    confidenceLevel: 'none',
    totalReports: 0,
    distinctReporters: 0,
    firstReportedAt: null,
    lastReportedAt: null,
    services: [],
    evidence: [],
    peers: [],
  }
}

/** The exact time of a report would identify a line of a server’s log. */
function hourOf(time: number): Date {
  const hour = HOUR_MS
  return new Date(Math.floor(time / hour) * hour)
}

function countServices(evidence: Evidence[]): { service: string; count: number }[] {
  const counts = Map.groupBy(evidence, (e) => e.service)
  return [...counts]
    .map(([service, entries]) => ({
      service,
      count: entries.reduce((sum, e) => sum + e.reports, 0),
    }))
    .toSorted((a, b) => b.count - a.count || (a.service < b.service ? -1 : 1))
}

/** The peers that report an address, by name. A network may be at several services. */
function describePeers(
  evidence: Evidence[],
  names: LookupDeps['peerNames'],
): AddressDescription['peers'] {
  const byPeer = Map.groupBy(evidence, (entry) => names.of(peerOf(entry) ?? '') ?? null)
  byPeer.delete(null)
  return [...byPeer]
    .map(([name, entries]) => ({
      name: name ?? '',
      networks: Math.max(...entries.map(({ events }) => events)),
      services: entries.map(({ service }) => service).toSorted(),
      lastReportedAt: hourOf(Math.max(...entries.map(({ at }) => at))),
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function anonymous({ service, port, events, at, network }: Evidence, subject: string) {
  return { service, port, count: events, at: hourOf(at), reporter: aliasOf(network, subject) }
}
