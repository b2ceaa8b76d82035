import { setTimeout as sleep } from 'node:timers/promises'
import { applyPage, type Applied, type ApplyDeps } from './evidence/apply-page.ts'
import { removeEvidence } from './evidence/remove-evidence.ts'
import { CONTACT_INTERVAL_MS, MAX_PAUSE_MS, PAGES_PER_CONTACT } from './limits.ts'
import type { PeerDeps } from './peers/peers.ts'
import { statusOf, type Refusal } from './peers/peer-status.ts'
import { deletePeer, updatePeer, type PeerRow } from './peers/peers.sql.ts'
import { changePeer, markEnded, notifyPeers, offerKey, refusePeer } from './peers/transitions.ts'
import type { Answer } from './protocol/client.ts'
import type { EvidencePage } from './protocol/shapes.ts'

export type ContactDeps = PeerDeps & ApplyDeps

const CONFLICT_SQLSTATES = new Set(['40001', '40P01'])
const MAX_TRIES = 5

/** Does what is due for a claimed peer: asks for approval, reads its journal, or deletes its evidence. */
export async function contactPeer(
  deps: ContactDeps,
  peer: PeerRow,
  signal: AbortSignal,
): Promise<void> {
  const status = statusOf(peer)
  if (status === 'waiting') await follow(deps, peer)
  else if (status === 'active') await readJournal(deps, peer, signal)
  else await removePeerEvidence(deps, peer, signal)
}

async function follow(deps: ContactDeps, peer: PeerRow): Promise<void> {
  const { db, client, clock } = deps
  const answer = await client.follow(peer)
  if (answer.result !== 'answered') return recordProblem(deps, peer, answer)
  const now = new Date(clock())
  if (answer.data.state === 'following')
    await changePeer(db, peer.id, ['waiting'], { followedAt: now, ...contacted(now) })
  // Asked again at growing intervals: the peer follows us once its administrator approves.
  else await updatePeer(db, peer.id, { ...contacted(now), ...pauseAfter(peer.failures, clock()) })
}

/** Reads pages until the journal ends, up to a number of them. */
async function readJournal(deps: ContactDeps, peer: PeerRow, signal: AbortSignal): Promise<void> {
  const { db, client, clock } = deps
  let { cursor } = peer
  for (let page = 0; page < PAGES_PER_CONTACT && !signal.aborted; page++) {
    const answer = await client.pull(peer, cursor)
    if (answer.result !== 'answered') return recordProblem(deps, peer, answer)
    if (answer.data.state === 'ended') return void (await markEnded(db, peer.id, clock()))
    const applied = await applyWithRetries(deps, peer.id, answer.data, cursor)
    if (applied.result === 'obsolete') return
    if (applied.result === 'refused') return void (await refusePeer(db, peer.id, applied, clock()))
    // A peer that was restored from a backup has a shorter journal.
    const isShorter = answer.data.last < cursor
    cursor = isShorter ? 0 : applied.cursor
    if (isShorter) await updatePeer(db, peer.id, { cursor })
    if (!answer.data.more && !isShorter) break
  }
  await updatePeer(db, peer.id, contacted(new Date(clock())))
}

/** Reports about the same addresses may be stored meanwhile. */
async function applyWithRetries(
  deps: ContactDeps,
  peerId: string,
  page: EvidencePage,
  after: number,
): Promise<Applied> {
  for (let tries = 1; ; tries++) {
    try {
      return await applyPage(deps, peerId, page, after, deps.clock())
    } catch (error) {
      const { code = '' } = error as { code?: string }
      if (!CONFLICT_SQLSTATES.has(code) || tries === MAX_TRIES) throw error
      await sleep(Math.random() * 20 * tries)
    }
  }
}

async function removePeerEvidence(
  deps: ContactDeps,
  peer: PeerRow,
  signal: AbortSignal,
): Promise<void> {
  const { db, clock } = deps
  await removeEvidence(deps, peer.id, clock(), signal)
  if (signal.aborted) return
  if (peer.endingAt)
    await db.transaction().execute(async (trx) => {
      await deletePeer(trx, peer.id)
      await notifyPeers(trx)
    })
  else await updatePeer(db, peer.id, { nextContactAt: new Date(clock() + MAX_PAUSE_MS) })
}

type Problem = Exclude<Answer<unknown>, { result: 'answered' }>

const REFUSED: Record<'bad_signature' | 'malformed', string> = {
  bad_signature: 'The signature of a response is wrong.',
  malformed: 'A signed response is not valid.',
}

async function recordProblem(deps: ContactDeps, peer: PeerRow, problem: Problem): Promise<void> {
  const { db, client, clock } = deps
  if (problem.result === 'key_changed') {
    const { publicKey } = await client.findIdentity(peer.url)
    if (publicKey !== peer.publicKey) return void (await offerKey(db, peer.id, publicKey, clock()))
    return recordFailure(deps, peer, 'A response was signed with another key than the peer shows.')
  }
  if (problem.result === 'failed') return recordFailure(deps, peer, problem.problem)
  const refusal: Refusal = problem.result
  await refusePeer(db, peer.id, { refusal, detail: REFUSED[problem.result] }, clock())
}

async function recordFailure(deps: ContactDeps, peer: PeerRow, problem: string): Promise<void> {
  const { db, clock } = deps
  await updatePeer(db, peer.id, { problem, ...pauseAfter(peer.failures, clock()) })
}

function contacted(now: Date) {
  const next = new Date(now.getTime() + CONTACT_INTERVAL_MS)
  return { lastContactAt: now, problem: null, failures: 0, nextContactAt: next }
}

function pauseAfter(failures: number, now: number) {
  const pause = Math.min(MAX_PAUSE_MS, CONTACT_INTERVAL_MS * 2 ** Math.min(failures, 10))
  return { failures: failures + 1, nextContactAt: new Date(now + pause) }
}
