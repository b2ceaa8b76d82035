import type { Transaction } from 'kysely'
import type { DB } from '../../../store/tables.ts'
import type { Ranges } from '../../../abuse/ranges/ranges.ts'
import type { Standings } from '../../../abuse/reputation/standings.ts'
import { circumstancesOf, toRowChanges } from '../../../abuse/scoring/circumstances.ts'
import {
  countReporters,
  withPeerEvidence,
  type PeerSighting,
} from '../../../abuse/scoring/peer-evidence.ts'
import { assess, assessRest, type TraitsOf } from '../../../abuse/scoring/score.ts'
import {
  insertAddresses,
  lockAddresses,
  saveAddresses,
  type AddressRow,
} from '../../../abuse/attack-list.sql.ts'
import { listSightings } from '../../../abuse/peer-evidence/peer-evidence.sql.ts'

export type ScoringDeps = {
  ranges: Pick<Ranges, 'is' | 'isWellKnown'>
  standings: Pick<Standings, 'isBootstrap'>
  traitsOf: TraitsOf
}

/** Assesses addresses again with what a peer reports about them now. */
export async function updateAddresses(
  trx: Transaction<DB>,
  peerId: string,
  addresses: readonly string[],
  deps: ScoringDeps,
  now: number,
): Promise<void> {
  const unique = [...new Set(addresses)]
  if (unique.length === 0) return
  const isShared = (address: string) => deps.ranges.is('shared', address)
  const given = unique.map((address) => ({ address, shared: isShared(address) }))
  await insertAddresses(trx, given, new Date(now))
  const rows = await lockAddresses(trx, unique)
  const sightings = await listSightings(trx, peerId, unique)
  const updated = rows.map((row) =>
    updateAddress(row, peerId, sightings.get(row.address) ?? [], deps, now),
  )
  await saveAddresses(trx, updated)
}

/** The row of an address with all that a peer reports about it now. A pure function. */
function updateAddress(
  row: AddressRow,
  peerId: string,
  sightings: PeerSighting[],
  { ranges, standings, traitsOf }: ScoringDeps,
  now: number,
): AddressRow {
  const evidence = withPeerEvidence(row.evidence, peerId, sightings, traitsOf)
  const known = { bootstrap: standings.isBootstrap(), wellKnown: ranges.isWellKnown(row.address) }
  const reassess = sightings.length === 0 ? assessRest : assess
  const result = reassess(row.state, evidence, circumstancesOf(row, known, now), now, traitsOf)
  // A row without reports of its own has the times of peers alone.
  const isOwn = row.totalReports > 0
  const last = Math.max(isOwn ? row.lastReportedAt.getTime() : 0, ...evidence.map(({ at }) => at))
  const first = Math.min(row.firstReportedAt.getTime(), ...sightings.map(({ seenAt }) => seenAt))
  return {
    ...row,
    evidence,
    ...toRowChanges(row, result),
    services: [...new Set(evidence.map(({ service }) => service))],
    networks: countReporters(evidence),
    firstReportedAt: new Date(first),
    lastReportedAt: last > 0 ? new Date(last) : row.lastReportedAt,
  }
}
