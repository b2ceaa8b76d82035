import { aliasOf } from '../../../abuse/reputation/reporter.ts'
import type { Federation } from '../federation.ts'
import { fingerprintOf } from '../../../protocols/http-signature.ts'
import {
  listJournal,
  lastPosition,
  type JournalEntry,
} from '../../../abuse/peer-evidence/evidence-journal.sql.ts'
import { PAGE_ITEMS } from '../limits.ts'
import { recordSent, type PeerRow } from '../peers/peers.sql.ts'
import { changePeer } from '../peers/transitions.ts'
import type { EvidencePage } from './shapes.ts'

/** The answer to an installation that is no peer. */
export const ENDED: EvidencePage = { state: 'ended', items: [], more: false, last: 0 }

/** Reads a page for a peer, and counts what was sent to it. */
export async function readPage(
  { db, clock }: Pick<Federation, 'db' | 'clock'>,
  peer: PeerRow,
  after: number,
): Promise<EvidencePage> {
  const last = await lastPosition(db)
  const entries = await listJournal(db, after, PAGE_ITEMS)
  const fingerprint = fingerprintOf(peer.publicKey)
  const sent = entries.filter(
    ({ kind, position }) => kind === 'evidence' && position > peer.sentCursor,
  )
  const position = entries.at(-1)?.position ?? 0
  if (sent.length > 0) await recordSent(db, peer.id, { count: sent.length, position })
  // It reads only after its administrator approved us.
  if (!peer.followedAt)
    await changePeer(db, peer.id, ['waiting'], { followedAt: new Date(clock()) })
  const items = entries.map((entry) => itemOf(entry, fingerprint))
  return { state: 'following', items, more: entries.length === PAGE_ITEMS, last }
}

function itemOf(entry: JournalEntry, fingerprint: string): EvidencePage['items'][number] {
  const { kind, position, id, address, service, network, seenAt } = entry
  if (kind === 'withdrawal') return { kind, position, id }
  const ip = address.split('/')[0] ?? address
  // Another pseudonym for each peer and address, so that no network can be followed.
  const reporter = aliasOf(network, `${fingerprint} ${address}`)
  return { kind, position, id, ip, service, at: seenAt.toISOString(), reporter }
}
