import type { PeerRow } from './peers.sql.ts'

export const PEER_STATUSES = [
  'proposed',
  'requested',
  'waiting',
  'active',
  'refused',
  'key_changed',
  'ended',
  'declined',
  'ending',
] as const
export type PeerStatus = (typeof PEER_STATUSES)[number]

/** Why nothing is received from a peer. */
export const REFUSALS = ['flood', 'malformed', 'bad_signature', 'future'] as const
export type Refusal = (typeof REFUSALS)[number]

/** Where a peering is: see docs/federation.md. */
export function statusOf(peer: PeerRow): PeerStatus {
  if (peer.endingAt) return 'ending'
  if (peer.endedAt) return peer.approvedAt ? 'ended' : 'declined'
  if (!peer.approvedAt) return peer.requestedAt ? 'requested' : 'proposed'
  if (peer.offeredKey) return 'key_changed'
  if (peer.refusal) return 'refused'
  return peer.followedAt ? 'active' : 'waiting'
}

/** Whether the peer may read our evidence: we follow it, and its key is the approved one. */
export function isServed(peer: PeerRow): boolean {
  const status = statusOf(peer)
  return status === 'active' || status === 'waiting' || status === 'refused'
}
