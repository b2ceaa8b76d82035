import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../../../errors.ts'
import type { SignedRequest } from '../../../protocols/http-signature.ts'
import type { Federation } from '../federation.ts'
import { IDENTITY_TIMEOUT_MS, MAX_PEERS, MAX_REQUESTS } from '../limits.ts'
import { statusOf } from '../peers/peer-status.ts'
import {
  countPeers,
  deleteOldestRequest,
  findPeerByUrl,
  insertPeer,
  type PeerRow,
} from '../peers/peers.sql.ts'
import { changePeer, notifyPeers, offerKey } from '../peers/transitions.ts'
import { isRecent, requireFresh, verifyPeerRequest } from './authenticate.ts'
import type { FollowAnswer } from './shapes.ts'

/**
 * Accepts the request of an installation to exchange evidence. Its key is the one that it shows at
 * its URL, so that nobody asks in the name of another. Strangers make this service connect, so that
 * the rest of the request is checked before, and every failure has the same answer.
 * @throws Fault `unauthenticated`
 */
export async function acceptFollow(
  federation: Federation,
  url: string,
  request: SignedRequest,
): Promise<FollowAnswer> {
  const { db, clock } = federation
  const known = await findPeerByUrl(db, url)
  const verification = await verifyPeerRequest(request, known ? [known.publicKey] : [])
  if (known && verification.result !== 'unknown_key') {
    await requireFresh(db, verification, clock())
    return answerKnown(federation, known)
  }
  if (
    verification.result !== 'unknown_key' ||
    !isRecent(verification.parameters.created, clock()) ||
    url === federation.identity.url ||
    !(known || mayBeStranger(url, federation))
  )
    throw notVerified()
  const publicKey = await findKey(federation, url)
  const verified = await verifyPeerRequest(request, [publicKey])
  if (verified.result !== 'valid') throw notVerified()
  await requireFresh(db, verified, clock())
  if (known) await offerKey(db, known.id, publicKey, clock())
  else await recordRequest(federation, url, publicKey)
  return { state: 'waiting' }
}

/** Port 443, unless private targets are allowed, which have any. */
function mayBeStranger(url: string, { allowsPrivate }: Federation): boolean {
  const { protocol, port } = new URL(url)
  return allowsPrivate || (protocol === 'https:' && port === '')
}

/** The key that an installation shows, within a time that says nothing about the host. */
async function findKey({ client, identityTimeoutMs }: Federation, url: string): Promise<string> {
  const timeoutMs = identityTimeoutMs ?? IDENTITY_TIMEOUT_MS
  const isOver = sleep(timeoutMs, undefined, { ref: false })
  try {
    return (await client.findIdentity(url, AbortSignal.timeout(timeoutMs))).publicKey
  } catch {
    await isOver
    throw notVerified()
  }
}

const notVerified = () =>
  new Fault(
    'unauthenticated',
    'The request could not be verified. It needs a recent signature by the key that the installation shows at its URL, with https on port 443.',
  )

async function answerKnown({ db, clock }: Federation, peer: PeerRow): Promise<FollowAnswer> {
  const status = statusOf(peer)
  const at = new Date(clock())
  if (status === 'proposed') await changePeer(db, peer.id, [status], { requestedAt: at })
  if (status === 'waiting')
    await changePeer(db, peer.id, [status], { followedAt: at, nextContactAt: at })
  const follows = status === 'waiting' || status === 'active' || status === 'refused'
  return { state: follows ? 'following' : 'waiting' }
}

/** The oldest request makes room, so that strangers cannot keep others from asking. */
async function recordRequest(
  { db, clock }: Federation,
  url: string,
  publicKey: string,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const { peers, requests } = await countPeers(trx)
    if (requests >= MAX_REQUESTS) await deleteOldestRequest(trx)
    else if (peers >= MAX_PEERS + MAX_REQUESTS)
      throw new Fault('unavailable', 'This installation has as many peers as it can have.')
    await insertPeer(trx, { url, publicKey, requestedAt: new Date(clock()) })
    await notifyPeers(trx)
  })
}
