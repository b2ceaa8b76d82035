import type { Logger } from '../../log.ts'
import { messageOf } from '../../errors.ts'
import { repeatWork } from '../../jobs/repeat-work.ts'
import { contactPeer, type ContactDeps } from './contact.ts'
import { collectReports } from './evidence/collect.ts'
import { COLLECT_INTERVAL_MS, CONTACT_INTERVAL_MS, KEEP_NONCES_MS } from './limits.ts'
import { claimDuePeers, deleteOldNonces, hasApprovedPeer, updatePeer } from './peers/peers.sql.ts'

export type WorkerDeps = ContactDeps & { log: Logger }

/** Milliseconds between two runs. */
const RUN_INTERVAL_MS = 1_000

/**
 * Collects evidence for peers and reads theirs. Several instances share the peers.
 * @returns stops it
 */
export function startFederation(deps: WorkerDeps): () => Promise<void> {
  const state = { collectedAt: -Infinity }
  return repeatWork((signal) => runOnce(deps, state, signal), {
    intervalMs: RUN_INTERVAL_MS,
    log: deps.log,
    failure: 'the federation could not be updated; retrying',
  })
}

async function runOnce(
  deps: WorkerDeps,
  state: { collectedAt: number },
  signal: AbortSignal,
): Promise<void> {
  const { db, clock } = deps
  if (performance.now() - state.collectedAt >= COLLECT_INTERVAL_MS) {
    state.collectedAt = performance.now()
    if (await hasApprovedPeer(db)) await collectReports(db, clock(), signal)
    await deleteOldNonces(db, new Date(clock() - KEEP_NONCES_MS))
  }
  await contactDuePeers(deps, signal)
}

/** Contacts all peers that are due, once. */
export async function contactDuePeers(deps: WorkerDeps, signal: AbortSignal): Promise<void> {
  const { db, log, clock } = deps
  const peers = await claimDuePeers(db, new Date(clock()))
  const contacts = peers.map((peer) =>
    contactPeer(deps, peer, signal).catch(async (err: unknown) => {
      if (signal.aborted) return
      log.warn({ err, peer: peer.url }, 'a peer could not be contacted; retrying')
      const nextContactAt = new Date(clock() + CONTACT_INTERVAL_MS)
      await updatePeer(db, peer.id, { problem: messageOf(err), nextContactAt })
    }),
  )
  await Promise.all(contacts)
}
