import { sql, type Selectable, type Transaction, type Updateable } from 'kysely'
import type { Db } from '../../../store/database.ts'
import { claimDueRows, type DueRows } from '../../../store/due-rows.ts'
import type { DB } from '../../../store/tables.ts'
import { SECOND_MS } from '../../../time.ts'
import { CONTACT_LEASE_MS } from '../limits.ts'

export type PeerRow = Selectable<DB['federationPeer']>
export type PeerChange = Updateable<DB['federationPeer']>

/** Lists peers, those that wait for an administrator first. */
export function listPeers(db: Db): Promise<PeerRow[]> {
  return db
    .selectFrom('federationPeer')
    .selectAll()
    .orderBy(sql`approved_at is null`, 'desc')
    .orderBy('url')
    .execute()
}

export function findPeer(db: Db, id: string): Promise<PeerRow | undefined> {
  return db.selectFrom('federationPeer').selectAll().where('id', '=', id).executeTakeFirst()
}

export function findPeerByUrl(db: Db, url: string): Promise<PeerRow | undefined> {
  return db.selectFrom('federationPeer').selectAll().where('url', '=', url).executeTakeFirst()
}

/** Locks the row until the transaction ends. */
export function lockPeer(trx: Transaction<DB>, id: string): Promise<PeerRow | undefined> {
  const row = trx.selectFrom('federationPeer').selectAll().where('id', '=', id).forUpdate()
  return row.executeTakeFirst()
}

/** Inserts a peer; undefined when its URL is known. */
export function insertPeer(
  db: Db,
  peer: { url: string; publicKey: string; requestedAt: Date | null },
): Promise<PeerRow | undefined> {
  return db
    .insertInto('federationPeer')
    .values(peer)
    .onConflict((conflict) => conflict.column('url').doNothing())
    .returningAll()
    .executeTakeFirst()
}

export async function updatePeer(db: Db, id: string, change: PeerChange): Promise<void> {
  await db.updateTable('federationPeer').set(change).where('id', '=', id).execute()
}

/** Counts evidence that was sent up to a position; a page that is read again counts once. */
export async function recordSent(
  db: Db,
  id: string,
  { count, position }: { count: number; position: number },
): Promise<void> {
  await sql`
    update federation_peer set sent = sent + ${count}, sent_cursor = ${position}
    where id = ${id} and sent_cursor < ${position}`.execute(db)
}

export async function deletePeer(db: Db, id: string): Promise<void> {
  await db.deleteFrom('federationPeer').where('id', '=', id).execute()
}

export async function countPeers(db: Db): Promise<{ peers: number; requests: number }> {
  const { rows } = await sql<{ peers: number; requests: number }>`
    select count(*)::integer as peers,
      (count(*) filter (where approved_at is null and requested_at is not null))::integer as requests
    from federation_peer`.execute(db)
  return rows[0] ?? { peers: 0, requests: 0 }
}

/** Whether an administrator approved any peer that was not ended. */
export async function hasApprovedPeer(db: Db): Promise<boolean> {
  const row = await db
    .selectFrom('federationPeer')
    .select('id')
    .where('approvedAt', 'is not', null)
    .where('endingAt', 'is', null)
    .where('endedAt', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Peers that are contacted next, by the clock of the service. A claim moves the contact. */
export const DUE_PEERS: DueRows = {
  table: 'federation_peer',
  dueAt: 'next_contact_at',
  leaseSeconds: CONTACT_LEASE_MS / SECOND_MS,
  workspace: null,
  where: sql`(r.ending_at is not null or r.ended_at is not null
    or (r.approved_at is not null and r.refusal is null and r.offered_key is null))`,
}

/** Claims the peers that are due, so that no other instance contacts them meanwhile. */
export async function claimDuePeers(db: Db, now: Date): Promise<PeerRow[]> {
  return (await claimDueRows<PeerRow>(DUE_PEERS, { now }, sql`r.*`).execute(db)).rows
}

/**
 * Remembers the nonce of a signed request.
 * @returns false when it was used before
 */
export async function insertNonce(
  db: Db,
  { fingerprint, nonce, at }: { fingerprint: string; nonce: string; at: Date },
): Promise<boolean> {
  const row = await db
    .insertInto('federationNonce')
    .values({ fingerprint, nonce, at })
    .onConflict((conflict) => conflict.doNothing())
    .returning('nonce')
    .executeTakeFirst()
  return row !== undefined
}

export async function deleteOldNonces(db: Db, before: Date): Promise<void> {
  await db.deleteFrom('federationNonce').where('at', '<', before).execute()
}

/** Deletes the request that waits longest for an administrator. */
export async function deleteOldestRequest(db: Db): Promise<void> {
  const oldest = db
    .selectFrom('federationPeer')
    .select('id')
    .where('approvedAt', 'is', null)
    .where('requestedAt', 'is not', null)
    .orderBy('requestedAt')
    .limit(1)
  await db.deleteFrom('federationPeer').where('id', 'in', oldest).execute()
}
