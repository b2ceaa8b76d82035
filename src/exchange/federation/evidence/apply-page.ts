import type { Kysely, Transaction } from 'kysely'
import type { DB } from '../../../store/tables.ts'
import { DAY_MS } from '../../../time.ts'
import { insertRefutations } from '../../../abuse/reputation/reputation.sql.ts'
import { peerNetwork } from '../../../abuse/scoring/peer-evidence.ts'
import { findService } from '../../../abuse/services.ts'
import { lockAddresses } from '../../../abuse/attack-list.sql.ts'
import { readSubject } from '../../../abuse/subject.ts'
import { CONTACT_LEASE_MS, KEEP_MS, MAX_FUTURE_MS, MAX_ITEMS_PER_DAY } from '../limits.ts'
import { statusOf, type Refusal } from '../peers/peer-status.ts'
import { lockPeer, updatePeer, type PeerRow } from '../peers/peers.sql.ts'
import type { EvidenceItem, EvidencePage } from '../protocol/shapes.ts'
import {
  insertEvidence,
  listAddressesOf,
  markWithdrawn,
  type PeerEvidence,
} from '../../../abuse/peer-evidence/peer-evidence.sql.ts'
import { updateAddresses, type ScoringDeps } from './update-addresses.ts'

export type ApplyDeps = ScoringDeps & { db: Kysely<DB> }

/** What became of a page: the position after it, or why the peer is refused. */
export type Applied =
  | { result: 'applied'; cursor: number }
  | { result: 'refused'; refusal: Refusal; detail: string }
  /** Another instance applied it, or the peering is no longer active. */
  | { result: 'obsolete' }

/**
 * Applies a page of a peer’s journal: evidence, withdrawals and the new position are committed
 * together, so that each takes effect exactly once.
 * @param after the position that the page follows
 */
export async function applyPage(
  deps: ApplyDeps,
  peerId: string,
  page: Pick<EvidencePage, 'items'>,
  after: number,
  now: number,
): Promise<Applied> {
  return deps.db.transaction().execute(async (trx) => {
    const peer = await lockPeer(trx, peerId)
    if (!peer || statusOf(peer) !== 'active' || peer.cursor !== after) return { result: 'obsolete' }
    const refused = findRefusal(peer, page.items, now)
    if (refused) return { result: 'refused', ...refused }
    const { evidence, ignored } = await selectEvidence(trx, peer, page.items, deps, now)
    const withdrawals = page.items.flatMap((item) => (item.kind === 'withdrawal' ? item.id : []))
    const at = new Date(now)
    // An appeal locks the address before its evidence, too.
    const known = await listAddressesOf(trx, peerId, withdrawals)
    await lockAddresses(trx, [...known, ...evidence.map(({ address }) => address)])
    const added = await insertEvidence(trx, peerId, evidence, at)
    const withdrawn = await markWithdrawn(trx, peerId, withdrawals, at)
    await updateAddresses(trx, peerId, [...added, ...withdrawn], deps, now)
    const cursor = page.items.at(-1)?.position ?? after
    await updatePeer(trx, peerId, {
      cursor,
      nextContactAt: new Date(now + CONTACT_LEASE_MS),
      ...budgetAfter(peer, page.items.length, now),
      received: peer.received + added.length,
      withdrawn: peer.withdrawn + withdrawn.length,
      ignored: peer.ignored + ignored,
    })
    return { result: 'applied', cursor }
  })
}

function findRefusal(
  peer: PeerRow,
  items: EvidencePage['items'],
  now: number,
): { refusal: Refusal; detail: string } | null {
  let position = peer.cursor
  for (const item of items) {
    if (item.position <= position)
      return { refusal: 'malformed', detail: `Position ${item.position} follows ${position}.` }
    position = item.position
    if (item.kind === 'withdrawal') continue
    if (keyOf(item) === null)
      return { refusal: 'malformed', detail: `“${item.ip}” is not a public address.` }
    const at = Date.parse(item.at)
    if (Number.isNaN(at)) return { refusal: 'malformed', detail: `“${item.at}” is not a time.` }
    if (at > now + MAX_FUTURE_MS)
      return { refusal: 'future', detail: `Evidence is dated ${item.at}.` }
  }
  const { dayItems } = budgetAfter(peer, items.length, now)
  return dayItems > MAX_ITEMS_PER_DAY
    ? { refusal: 'flood', detail: `The limit is ${MAX_ITEMS_PER_DAY.toLocaleString('en')} items.` }
    : null
}

function budgetAfter(peer: PeerRow, items: number, now: number) {
  const isOver = Math.abs(now - peer.dayStartedAt.getTime()) >= DAY_MS
  return isOver
    ? { dayItems: items, dayStartedAt: new Date(now) }
    : { dayItems: peer.dayItems + items }
}

function keyOf({ ip }: EvidenceItem): string | null {
  try {
    return readSubject(ip).key
  } catch {
    return null
  }
}

/**
 * Leaves out what never counts here: protected addresses, services that this version does not know,
 * and what is as old as evidence that is deleted.
 */
async function selectEvidence(
  trx: Transaction<DB>,
  peer: PeerRow,
  items: EvidencePage['items'],
  { ranges }: ApplyDeps,
  now: number,
): Promise<{ evidence: PeerEvidence[]; ignored: number }> {
  const given = items.filter((item) => item.kind === 'evidence')
  const evidence: PeerEvidence[] = []
  const refuted = new Map<string, 'whitelist' | 'canary'>()
  for (const item of given) {
    const address = keyOf(item) ?? ''
    const kind = (['whitelist', 'canary'] as const).find((one) => ranges.is(one, address))
    const service = findService(item.service)?.id
    const seenAt = new Date(item.at)
    if (kind) refuted.set(address, kind)
    else if (service !== undefined && now - seenAt.getTime() < KEEP_MS)
      evidence.push({ id: item.id, address, service, network: item.reporter, seenAt })
  }
  const network = peerNetwork(peer.id)
  const refutations = [...refuted].map(([address, cause]) => ({ network, address, cause }))
  await insertRefutations(trx, refutations, new Date(now))
  return { evidence, ignored: given.length - evidence.length }
}
