import type { Kysely } from 'kysely'
import { raiseAlert, raiseResolved } from '../../alerts/raise.ts'
import type { Logger } from '../../log.ts'
import type { DB } from '../../store/tables.ts'
import {
  MAX_EVALUATED_ENDPOINTS,
  MAX_PASS_GAP_SECONDS,
  MAX_VERIFIED_BYTES_PER_ACCOUNT,
} from '../limits.ts'
import { evaluateEndpoint, type Evaluation, type VerifiedRequests } from './evaluate-endpoints.ts'
import {
  claimWatched,
  recordPass,
  requeueWatched,
  saveAlertState,
  type WatchedEndpoint,
} from './endpoint-alerts.sql.ts'
import { verifyNewRequests } from './verify-requests.ts'

export type WatchDeps = { db: Kysely<DB>; secretKey: string; log: Logger }

type Pass = {
  now: Date
  watchedSince: Date
  /** Bytes of bodies that were verified, by account. */
  verifiedBytes: Map<string, number>
}

/**
 * Raises the alerts of webhook endpoints: one pass over those that have any. Captures do nothing for
 * it. Several instances share the endpoints.
 */
export async function watchEndpoints(deps: WatchDeps, signal: AbortSignal): Promise<void> {
  const { db, log } = deps
  const pass = { ...(await recordPass(db, MAX_PASS_GAP_SECONDS)), verifiedBytes: new Map() }
  for (let some = 1; some > 0 && !signal.aborted;) {
    const claimed = await claimWatched(db, pass.now, MAX_EVALUATED_ENDPOINTS)
    for (const endpoint of claimed)
      await watchEndpoint(deps, endpoint, pass).catch((error: unknown) =>
        log.warn({ endpoint: endpoint.id, err: error }, 'alerts of an endpoint were not evaluated'),
      )
    some = claimed.length
  }
}

async function watchEndpoint(
  deps: WatchDeps,
  endpoint: WatchedEndpoint,
  pass: Pass,
): Promise<void> {
  const verified = await verifyWithin(deps, endpoint, pass)
  const evaluation = evaluateEndpoint(endpoint, verified, pass)
  await deps.db.transaction().execute(async (trx) => {
    if (await saveAlertState(trx, endpoint, evaluation.state)) await raiseAll(trx, evaluation)
  })
}

/** Leaves requests for the next pass where those of the account are too large for one. */
async function verifyWithin(
  deps: WatchDeps,
  endpoint: WatchedEndpoint,
  { now, verifiedBytes }: Pass,
): Promise<VerifiedRequests> {
  const { responsibleId, state } = endpoint
  const before = verifiedBytes.get(responsibleId) ?? 0
  if (endpoint.badSignature && before >= MAX_VERIFIED_BYTES_PER_ACCOUNT) {
    // After this pass, which would claim it again.
    await requeueWatched(deps.db, endpoint, new Date(now.getTime() + 1))
    return { seenSeq: state.seenSeq, hasMore: true, bad: null, goodAt: null }
  }
  const { bytes, ...verified } = await verifyNewRequests(deps, endpoint)
  verifiedBytes.set(responsibleId, before + bytes)
  return verified
}

async function raiseAll(db: Kysely<DB>, { alerts, ends }: Evaluation): Promise<void> {
  for (const end of ends) await raiseResolved(db, end)
  for (const alert of alerts) await raiseAlert(db, alert)
}
