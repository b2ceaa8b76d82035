import type { Kysely } from 'kysely'
import { raiseAlert } from '../../alerts/raise.ts'
import { Fault, messageOf } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import { mayHaveBeenAccepted } from '../../net/handover.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import { DAY_MS, SECOND_MS } from '../../time.ts'
import {
  CONCURRENCY,
  LEASE_MS,
  MAX_AGE_MS,
  MAX_PAUSE_MS,
  RETRY_DELAYS_MS,
  SEND_TIMEOUT_MS,
} from './limits.ts'
import { stoppedAlert } from './messages.ts'
import { credentialsOf } from './relays.ts'
import { relayServiceOf } from './services/registry.ts'
import type { RelayOutcome, RelayService, SendDeps } from './services/relay-service.ts'
import {
  claimRelay,
  claimReports,
  endReports,
  expireReports,
  markHandedOver,
  postponeRepeated,
  recoverReports,
  releaseRelay,
  returnReports,
  type ClaimedRelay,
  type ClaimedReport,
} from './store.ts'

export type RelayDeps = Omit<SendDeps, 'beforeHandover'> & {
  db: Kysely<DB>
  log: Logger
  clock: () => number
  secretKey: string
}

/** Sends all reports that are due: a few workspaces at once, one batch of each in turn. */
export async function sendDueReports(deps: RelayDeps, signal: AbortSignal): Promise<void> {
  async function work(): Promise<void> {
    while (!signal.aborted) {
      const now = deps.clock()
      const times = {
        now: new Date(now),
        leaseUntil: new Date(now + LEASE_MS),
        dayStart: new Date(startOfDay(now)),
      }
      const relay = await claimRelay(deps.db, times)
      if (!relay) return
      await serve(deps, relay, signal)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
}

const startOfDay = (now: number) => Math.floor(now / DAY_MS) * DAY_MS

/** Sends one batch of a relay, and ends its claim. */
async function serve(deps: RelayDeps, relay: ClaimedRelay, signal: AbortSignal): Promise<void> {
  const { db } = deps
  const service = relayServiceOf(relay.service)
  const now = deps.clock()
  const at = new Date(now)
  await recoverReports(db, relay.id, at)
  await expireReports(db, relay.id, { now: at, before: new Date(now - MAX_AGE_MS) })
  const left = service.perDay - relay.sentToday
  if (left <= 0) return release(deps, relay, { until: startOfDay(now) + DAY_MS })
  const { addressSeconds: intervalSeconds } = service
  await postponeRepeated(db, relay.id, { now: at, intervalSeconds })
  const limit = Math.min(left, service.batchSize)
  const reports = await claimReports(db, relay.id, { now: at, limit })
  if (reports.length === 0) return release(deps, relay)
  const ids = reports.map(({ id }) => id)
  const timeout = AbortSignal.any([signal, AbortSignal.timeout(SEND_TIMEOUT_MS)])
  try {
    const beforeHandover = () => markHandedOver(db, ids, new Date(deps.clock()))
    const credentials = credentialsOf(relay, deps.secretKey)
    const outcome = await service.send(reports, credentials, { ...deps, beforeHandover }, timeout)
    await recordOutcome(deps, { relay, service, reports }, outcome)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    await recordFault(deps, { relay, service, reports }, error)
  }
}

type Batch = { relay: ClaimedRelay; service: RelayService; reports: ClaimedReport[] }

async function recordOutcome(deps: RelayDeps, batch: Batch, outcome: RelayOutcome): Promise<void> {
  const { relay, service, reports } = batch
  const now = deps.clock()
  const ids = reports.map(({ id }) => id)
  const { intervalSeconds, addressSeconds } = service
  switch (outcome.state) {
    case 'sent':
      await endReports(deps.db, ids, { state: 'sent', reason: '', at: new Date(now) })
      return release(deps, relay, intervalSeconds ? { until: now + intervalSeconds * SECOND_MS } : {}) // prettier-ignore
    case 'rejected':
      await endReports(deps.db, ids, { ...outcome, at: new Date(now) })
      return release(deps, relay)
    case 'too-soon': {
      const dueAt = new Date(now + addressSeconds * SECOND_MS)
      await returnReports(deps.db, ids, { reason: 'The address was reported just before.', dueAt })
      return release(deps, relay)
    }
    case 'paused': {
      const pause = outcome.seconds === null ? pauseAfter(reports) : outcome.seconds * SECOND_MS
      const until = now + Math.min(MAX_PAUSE_MS, Math.max(SECOND_MS, pause))
      await returnReports(deps.db, ids, { reason: outcome.reason, dueAt: new Date(until) })
      return release(deps, relay, { until })
    }
    case 'stopped':
      await returnReports(deps.db, ids, { reason: outcome.reason, dueAt: new Date(now) })
      return release(deps, relay, { problem: outcome.reason })
  }
}

async function recordFault(deps: RelayDeps, batch: Batch, fault: Fault): Promise<void> {
  const { relay, reports } = batch
  const ids = reports.map(({ id }) => id)
  const now = deps.clock()
  deps.log.info({ relay: relay.service, reason: fault.message }, 'reports were not relayed')
  if (fault.code === 'internal') {
    await returnReports(deps.db, ids, { reason: fault.message, dueAt: new Date(now) })
    return release(deps, relay, { problem: fault.message })
  }
  if (mayHaveBeenAccepted(fault)) {
    const reason = `No answer: ${fault.message}`
    await endReports(deps.db, ids, { state: 'uncertain', reason, at: new Date(now) })
    return release(deps, relay, { until: now + pauseAfter(reports) })
  }
  // A mail relay rejects a message for good (RFC 5321, section 4.2.1).
  if (fault.code === 'upstream_rejected') {
    await endReports(deps.db, ids, { state: 'rejected', reason: fault.message, at: new Date(now) })
    return release(deps, relay, { until: now + pauseAfter(reports) })
  }
  const until = now + pauseAfter(reports)
  await returnReports(deps.db, ids, { reason: messageOf(fault), dueAt: new Date(until) })
  return release(deps, relay, { until })
}

function pauseAfter(reports: ClaimedReport[]): number {
  const attempts = Math.max(...reports.map((report) => report.attempts))
  return RETRY_DELAYS_MS[Math.min(attempts, RETRY_DELAYS_MS.length) - 1] ?? SECOND_MS
}

/** Ends a claim, with a pause or a problem that stops the relay. */
async function release(
  { db, clock }: RelayDeps,
  { id, workspaceId, service }: ClaimedRelay,
  { until, problem = null }: { until?: number; problem?: string | null } = {},
): Promise<void> {
  const pausedUntil = until === undefined ? null : new Date(until)
  await db.transaction().execute(async (trx) => {
    await releaseRelay(trx, id, { pausedUntil, problem })
    await notifyChange(trx, workspaceId, 'attacks')
    if (problem === null) return
    const at = new Date(clock())
    const { name } = relayServiceOf(service)
    await raiseAlert(trx, {
      workspaceId,
      kind: 'relay.stopped',
      key: `relay ${id} ${at.toISOString()}`,
      incident: null,
      phase: 'once',
      severity: 'warning',
      path: '/attacks/relays',
      objects: [service],
      at,
      ...stoppedAlert(name, problem),
    })
  })
}
