import { Fault } from '../../../errors.ts'
import type { SignedRequest } from '../../../protocols/http-signature.ts'
import type { Federation } from '../federation.ts'
import { MAX_PEERS, MAX_REQUESTS } from '../limits.ts'
import { statusOf } from '../peers/status.ts'
import {
  countPeers,
  deleteOldestRequest,
  findPeerByUrl,
  insertPeer,
  type PeerRow,
} from '../peers/store.ts'
import { changePeer, notifyPeers, offerKey } from '../peers/transitions.ts'
import { requireFresh, verifyPeerRequest } from './authenticate.ts'
import type { FollowAnswer } from './shapes.ts'

/**
 * Accepts the request of an installation to exchange evidence. Its key is the one that it shows at
 * its URL, so that nobody asks in the name of another.
 * @throws Fault `unauthenticated`, and those of the connection
 */
export async function acceptFollow(
  federation: Federation,
  url: string,
  request: SignedRequest,
): Promise<FollowAnswer> {
  const { db, client, clock } = federation
  const known = await findPeerByUrl(db, url)
  const verification = known
    ? await verifyPeerRequest(request, [known.publicKey])
    : ({ result: 'unknown_key', keyId: '' } as const)
  if (known && verification.result !== 'unknown_key') {
    await requireFresh(db, verification, clock())
    return answerKnown(federation, known)
  }
  const { publicKey } = await client.findIdentity(url)
  await requireFresh(db, await verifyPeerRequest(request, [publicKey]), clock())
  if (known) await offerKey(db, known.id, publicKey, clock())
  else await recordRequest(federation, url, publicKey)
  return { state: 'waiting' }
}

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
