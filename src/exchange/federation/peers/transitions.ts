import type { Kysely, Transaction } from 'kysely'
import { ADMINISTRATORS, notifyChange } from '../../../store/changes.ts'
import { notify } from '../../../store/notifications.ts'
import { PEERS_CHANGED } from '../../../abuse/peer-evidence/peer-names.ts'
import type { DB } from '../../../store/tables.ts'
import { alertAboutPeer } from '../federation-alerts.ts'
import { statusOf, type PeerStatus, type Refusal } from './peer-status.ts'
import { lockPeer, updatePeer, type PeerChange, type PeerRow } from './peers.sql.ts'

/** Tells instances and dashboards that a peer has changed. */
export async function notifyPeers(trx: Transaction<DB>): Promise<void> {
  await notify(trx, PEERS_CHANGED, null)
  await notifyChange(trx, ADMINISTRATORS, 'administration')
}

/** Changes a peer if it still has one of these states. @returns whether it had */
export async function changePeer(
  db: Kysely<DB>,
  id: string,
  from: readonly PeerStatus[],
  change: PeerChange,
  also?: (trx: Transaction<DB>, peer: PeerRow) => Promise<void>,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const peer = await lockPeer(trx, id)
    if (!peer || !from.includes(statusOf(peer))) return false
    await updatePeer(trx, id, change)
    await also?.(trx, peer)
    await notifyPeers(trx)
    return true
  })
}

/** Stops receiving from a peer until an administrator approves it again. */
export function refusePeer(
  db: Kysely<DB>,
  id: string,
  { refusal, detail }: { refusal: Refusal; detail: string },
  now: number,
): Promise<boolean> {
  const change = { refusal, refusalDetail: detail, refusedAt: new Date(now) }
  return changePeer(db, id, ['active'], change, (trx, peer) =>
    alertAboutPeer(trx, peer, { kind: 'refused', refusal, detail }, now),
  )
}

/** Records that an installation shows another key, which needs a new approval. */
export function offerKey(
  db: Kysely<DB>,
  id: string,
  publicKey: string,
  now: number,
): Promise<boolean> {
  const states = ['active', 'waiting', 'refused'] as const
  return changePeer(db, id, states, { offeredKey: publicKey }, (trx, peer) =>
    alertAboutPeer(trx, peer, { kind: 'key_changed' }, now),
  )
}

/** Records that a peer ended the peering; its evidence is deleted by the next contact. */
export function markEnded(db: Kysely<DB>, id: string, now: number): Promise<boolean> {
  const at = new Date(now)
  return changePeer(db, id, ['active'], { endedAt: at, nextContactAt: at }, (trx, peer) =>
    alertAboutPeer(trx, peer, { kind: 'ended' }, now),
  )
}
