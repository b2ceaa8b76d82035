import { sql, type Transaction } from 'kysely'
import type { Db } from '../../store/database.ts'
import { updateRows } from '../../store/row.ts'
import type { DB } from '../../store/tables.ts'
import type { PeerSighting } from '../scoring/peer-evidence.ts'

/** Evidence as it is stored of a peer. */
export type PeerEvidence = {
  id: string
  address: string
  service: string
  network: string
  seenAt: Date
}

/** Stores evidence that is not known yet. @returns the addresses of new evidence, one each */
export async function insertEvidence(
  trx: Transaction<DB>,
  peerId: string,
  evidence: PeerEvidence[],
  now: Date,
): Promise<string[]> {
  if (evidence.length === 0) return []
  const { rows } = await sql<{ address: string }>`
    insert into federation_evidence (peer_id, id, address, service, network, seen_at, received_at)
    select ${peerId}, id, address, service, network, "seenAt", ${now}
    from json_to_recordset(${JSON.stringify(evidence)}::json)
      as given (id uuid, address inet, service text, network text, "seenAt" timestamptz)
    on conflict (peer_id, id) do nothing returning address`.execute(trx)
  return rows.map(({ address }) => address)
}

/** The addresses that evidence of a peer is about. */
export async function listAddressesOf(db: Db, peerId: string, ids: string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('federationEvidence')
    .select('address')
    .distinct()
    .where('peerId', '=', peerId)
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .execute()
  return rows.map(({ address }) => address)
}

/** Marks evidence of this peer as withdrawn. @returns the addresses, one for each evidence */
export async function markWithdrawn(
  trx: Transaction<DB>,
  peerId: string,
  ids: string[],
  now: Date,
): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await trx
    .updateTable('federationEvidence')
    .set({ withdrawnAt: now })
    .where('peerId', '=', peerId)
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .where('withdrawnAt', 'is', null)
    .returning('address')
    .execute()
  return rows.map(({ address }) => address)
}

/** Marks what all peers reported about an address: it does not count again. */
export async function discardEvidence(
  trx: Transaction<DB>,
  address: string,
  now: Date,
): Promise<void> {
  await updateRows(trx, 'federationEvidence', { address, withdrawnAt: null }, { withdrawnAt: now })
}

/** What a peer reports about addresses, by address. */
export async function listSightings(
  db: Db,
  peerId: string,
  addresses: string[],
): Promise<Map<string, PeerSighting[]>> {
  const { rows } = await sql<{
    address: string
    service: string
    networks: number
    seenAt: Date
    receivedAt: Date
  }>`
    select address, service, count(distinct network)::integer as networks, 
      max(least(seen_at, received_at)) as seen_at, min(received_at) as received_at
    from federation_evidence
    where peer_id = ${peerId} and address = any(${addresses}::inet[]) and withdrawn_at is null
    group by address, service order by address, service`.execute(db)
  const byAddress = Map.groupBy(rows, ({ address }) => address)
  return new Map([...byAddress].map(([address, those]) => [address, those.map(sightingOf)]))
}

function sightingOf({
  service,
  networks,
  seenAt,
  receivedAt,
}: Omit<PeerSighting, 'seenAt' | 'receivedAt'> & Record<'seenAt' | 'receivedAt', Date>) {
  return { service, networks, seenAt: seenAt.getTime(), receivedAt: receivedAt.getTime() }
}

/** Addresses that a peer reported, up to a number of them. */
export async function listReportedAddresses(
  db: Db,
  peerId: string,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('federationEvidence')
    .select('address')
    .distinct()
    .where('peerId', '=', peerId)
    .limit(limit)
    .execute()
  return rows.map(({ address }) => address)
}

export async function deleteEvidence(
  trx: Transaction<DB>,
  peerId: string,
  addresses: string[],
): Promise<void> {
  await trx
    .deleteFrom('federationEvidence')
    .where('peerId', '=', peerId)
    .where('address', '=', sql<string>`any(${addresses}::inet[])`)
    .execute()
}

/** Names the peers whose evidence may count, by id. */
export async function listPeerUrls(db: Db): Promise<{ id: string; url: string }[]> {
  return db
    .selectFrom('federationPeer')
    .select(['id', 'url'])
    .where('approvedAt', 'is not', null)
    .execute()
}
