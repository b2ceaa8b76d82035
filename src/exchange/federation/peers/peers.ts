import type { Kysely } from 'kysely'
import { Fault, messageOf, invalidField } from '../../../errors.ts'
import { parseUrl } from '../../../parse-url.ts'
import { fingerprintOf } from '../../../protocols/http-signature.ts'
import { publicUrl } from '../../../setting-values.ts'
import type { DB } from '../../../store/tables.ts'
import { nameOf } from '../../../abuse/peer-evidence/peer-names.ts'
import type { Identity } from '../identity.ts'
import { MAX_PEERS } from '../limits.ts'
import type { PeerClient } from '../protocol/client.ts'
import { statusOf } from './peer-status.ts'
import { countPeers, findPeer, insertPeer, listPeers, lockPeer, updatePeer } from './peers.sql.ts'
import type { PeerRow } from './peers.sql.ts'
import { notifyPeers } from './transitions.ts'

export type PeerDeps = {
  db: Kysely<DB>
  identity: Identity
  client: PeerClient
  clock: () => number
}

/** A peer as administrators see it. */
export type Peer = ReturnType<typeof describePeer>

function describePeer(peer: PeerRow) {
  const { id, url, problem, refusal, refusalDetail, received, withdrawn, ignored, sent } = peer
  const { requestedAt, approvedAt, lastContactAt, createdAt } = peer
  return {
    id,
    url,
    name: nameOf(url),
    status: statusOf(peer),
    fingerprint: fingerprintOf(peer.publicKey),
    offeredFingerprint: peer.offeredKey === null ? null : fingerprintOf(peer.offeredKey),
    refusal,
    refusalDetail,
    problem,
    received,
    withdrawn,
    ignored,
    sent,
    requestedAt,
    approvedAt,
    lastContactAt,
    createdAt,
  }
}

/** This installation and its peers. */
export async function readPeers({ db, identity }: Pick<PeerDeps, 'db' | 'identity'>) {
  const { url, key } = identity
  const own = { url, name: nameOf(url), fingerprint: key.fingerprint }
  return { own, peers: (await listPeers(db)).map(describePeer) }
}

/**
 * Adds an installation, with the key that it shows now. Nothing is exchanged before it is approved.
 * @throws Fault `invalid_request`, `conflict`, and those of the connection
 */
export async function addPeer(deps: PeerDeps, text: string): Promise<Peer> {
  const { db, client, identity } = deps
  const url = readPeerUrl(text)
  if (url === identity.url) throw invalidUrl('is this installation itself')
  if ((await countPeers(db)).peers >= MAX_PEERS)
    throw new Fault('conflict', `The limit of ${MAX_PEERS} peers is reached. End one first.`)
  const { publicKey } = await client.findIdentity(url)
  if (publicKey === identity.key.publicKey) throw invalidUrl('is this installation itself')
  return db.transaction().execute(async (trx) => {
    const peer = await insertPeer(trx, { url, publicKey, requestedAt: null })
    if (!peer) throw new Fault('conflict', `${nameOf(url)} is already among the peers.`)
    await notifyPeers(trx)
    return describePeer(peer)
  })
}

/**
 * Approves a peer by the fingerprint that the administrator compared: a new one, one that asked,
 * one that was refused or has ended, or a changed key.
 * @throws Fault `not_found`, `conflict` when it shows another key or needs no approval
 */
export async function approvePeer(
  { db, clock }: Pick<PeerDeps, 'db' | 'clock'>,
  id: string,
  fingerprint: string,
): Promise<Peer> {
  const now = new Date(clock())
  return db.transaction().execute(async (trx) => {
    const peer = await lockPeer(trx, id)
    if (!peer) throw notFound()
    const status = statusOf(peer)
    if (status === 'active' || status === 'waiting' || status === 'ending')
      throw new Fault('conflict', `${nameOf(peer.url)} needs no approval now.`)
    const publicKey = peer.offeredKey ?? peer.publicKey
    if (fingerprintOf(publicKey) !== normalizeFingerprint(fingerprint))
      throw new Fault('conflict', `${nameOf(peer.url)} has another fingerprint. Compare it again.`)
    // Its journal is read from the beginning where it may be another one.
    const isNew = peer.offeredKey !== null || status === 'ended'
    await updatePeer(trx, id, {
      publicKey,
      offeredKey: null,
      approvedAt: now,
      followedAt: status === 'ended' ? null : (peer.followedAt ?? peer.requestedAt),
      endedAt: null,
      refusal: null,
      refusalDetail: null,
      refusedAt: null,
      problem: null,
      failures: 0,
      dayItems: 0,
      dayStartedAt: now,
      nextContactAt: now,
      ...(isNew && { cursor: 0, sentCursor: 0 }),
    })
    await notifyPeers(trx)
    return describePeer((await findPeer(trx, id)) ?? peer)
  })
}

/**
 * Ends a peering: nothing is exchanged any more, and the evidence of the peer is deleted. A request
 * is declined, and forgotten the second time.
 * @throws Fault `not_found`
 */
export async function endPeer(
  { db, clock }: Pick<PeerDeps, 'db' | 'clock'>,
  id: string,
): Promise<void> {
  const now = new Date(clock())
  await db.transaction().execute(async (trx) => {
    const peer = await lockPeer(trx, id)
    if (!peer) throw notFound()
    const isRequest = statusOf(peer) === 'requested'
    await updatePeer(
      trx,
      id,
      isRequest ? { endedAt: now } : { endingAt: peer.endingAt ?? now, nextContactAt: now },
    )
    await notifyPeers(trx)
  })
}

const notFound = () => new Fault('not_found', 'The peer was not found.')

/** Fingerprints are compared without the spaces and capitals of their display. */
const normalizeFingerprint = (text: string) => text.replace(/[\s:]/g, '').toLowerCase()

/**
 * Parses the URL of an installation, with https. Plain http is for loopback addresses,
 * where ALLOW_PRIVATE_TARGETS decides.
 * @throws Fault `invalid_request`
 */
export function readPeerUrl(text: string): string {
  const given = text.includes('://') ? text : `https://${text}`
  const { url, problem } = parseUrl(given, ['https:', 'http:'])
  if (url === null) throw invalidUrl(problem)
  if (url.username || url.password) throw invalidUrl('must not contain a user name or a password')
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname)))
    throw invalidUrl('must begin with https://')
  try {
    return publicUrl(given)
  } catch (error) {
    throw invalidUrl(messageOf(error))
  }
}

const isLoopback = (hostname: string) =>
  /^(127\.[\d.]+|\[::1\]|([a-z0-9-]+\.)*localhost)$/.test(hostname)

function invalidUrl(message: string): Fault {
  return invalidField('url', message, 'The URL')
}
