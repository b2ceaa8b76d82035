import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../log.ts'
import { messageOf } from '../../errors.ts'
import { contactPeer, type ContactDeps } from './contact.ts'
import { collectReports } from './journal/collect.ts'
import {
  COLLECT_INTERVAL_MS,
  CONTACT_INTERVAL_MS,
  CONTACT_LEASE_MS,
  KEEP_NONCES_MS,
} from './limits.ts'
import { claimDuePeers, deleteOldNonces, hasApprovedPeer, updatePeer } from './peers/store.ts'

export type WorkerDeps = ContactDeps & { log: Logger }

/** Milliseconds between two runs. */
const RUN_INTERVAL_MS = 1_000
const STOP_TIMEOUT_MS = 3_000

/** Collects evidence for peers and reads theirs. Several instances share the peers. */
export function startFederation(deps: WorkerDeps): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  const state = { collectedAt: -Infinity }
  async function run(): Promise<void> {
    while (!signal.aborted) {
      await runOnce(deps, state, signal).catch((err: unknown) => {
        if (!signal.aborted) deps.log.warn({ err }, 'the federation could not be updated; retrying')
      })
      await sleep(RUN_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => {})
    }
  }
  const running = run()
  return {
    async stop() {
      stopping.abort()
      await Promise.race([running, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })])
    },
  }
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
  const [now, until] = [new Date(clock()), new Date(clock() + CONTACT_LEASE_MS)]
  const peers = await claimDuePeers(db, { now, until })
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
