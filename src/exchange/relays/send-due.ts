import type { Kysely, Transaction } from 'kysely'
import { raiseAlert } from '../../alerts/raise.ts'
import { Fault, messageOf } from '../../errors.ts'
import { failureOf } from '../../jobs/outbox.ts'
import type { Logger } from '../../log.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import { DAY_MS, SECOND_MS, startOfDay } from '../../time.ts'
import {
  CONCURRENCY,
  MAX_AGE_MS,
  MAX_PAUSE_MS,
  RETRY_DELAYS_MS,
  SEND_TIMEOUT_MS,
} from './limits.ts'
import { stoppedAlert } from './messages.ts'
import { credentialsOf } from './relays.ts'
import { relayServiceOf } from './services/relay-services.ts'
import type { RelayOutcome, RelayService, SendDeps } from './services/relay-service.ts'
import {
  claimRelay,
  claimReports,
  endReports,
  expireReports,
  handOverReports,
  lockRelay,
  postponeRepeated,
  putBackReports,
  recoverReports,
  releaseRelay,
  type ClaimedRelay,
  type ClaimedReport,
} from './relays.sql.ts'

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
      const times = { now: new Date(now), dayStart: new Date(startOfDay(now)) }
      const relay = await claimRelay(deps.db, times)
      if (!relay) return
      await serve(deps, relay, signal)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
}

/** Sends one batch of a relay, and ends its claim. */
async function serve(deps: RelayDeps, relay: ClaimedRelay, signal: AbortSignal): Promise<void> {
  const { db } = deps
  const service = relayServiceOf(relay.service)
  const now = deps.clock()
  const left = service.perDay - relay.sentToday
  const reports = await db
    .transaction()
    .execute((trx) => claimBatch(trx, relay, service, { now, left }))
  if (reports.length === 0)
    return release(deps, relay, left > 0 ? {} : { until: startOfDay(now) + DAY_MS })
  const timeout = AbortSignal.any([signal, AbortSignal.timeout(SEND_TIMEOUT_MS)])
  const beforeHandover = () => handOverReports(db, reports, new Date(deps.clock()))
  let outcome: Outcome | null
  try {
    const credentials = credentialsOf(relay, deps.secretKey)
    outcome = await service.send(reports, credentials, { ...deps, beforeHandover }, timeout)
  } catch (error) {
    outcome = outcomeOf(deps, relay, reports, error)
  }
  if (outcome) await recordOutcome(deps, { relay, service, reports }, outcome)
}

/** Recovers what an earlier sender of the relay left, and claims what is due. */
async function claimBatch(
  trx: Transaction<DB>,
  relay: ClaimedRelay,
  { addressSeconds: intervalSeconds, batchSize }: RelayService,
  { now: at, left }: { now: number; left: number },
): Promise<ClaimedReport[]> {
  const now = new Date(at)
  if (!(await lockRelay(trx, relay))) return []
  await recoverReports(trx, relay.id, now)
  await expireReports(trx, relay.id, { now, before: new Date(at - MAX_AGE_MS) })
  if (left <= 0) return []
  await postponeRepeated(trx, relay.id, { now, intervalSeconds })
  return claimReports(trx, relay.id, { now, limit: Math.min(left, batchSize) })
}

type Batch = { relay: ClaimedRelay; service: RelayService; reports: ClaimedReport[] }

/** `pauses`: the relay waits before its next report. */
type Outcome =
  | (RelayOutcome & { pauses?: boolean })
  | { state: 'uncertain'; reason: string; pauses: true }

/** What follows from a failure; null where another sender has the reports. */
function outcomeOf(
  { log, clock }: RelayDeps,
  relay: ClaimedRelay,
  reports: ClaimedReport[],
  error: unknown,
): Outcome | null {
  if (!(error instanceof Fault)) throw error
  log.info({ relay: relay.service, reason: error.message }, 'reports were not relayed')
  const { message: reason } = error
  if (error.code === 'internal') return { state: 'stopped', reason }
  const attempt = { attempts: 1, retryDelaysMs: [pauseAfter(reports)], now: clock() }
  switch (failureOf(error, attempt)?.state) {
    case 'uncertain':
      return { state: 'uncertain', reason: `No answer: ${reason}`, pauses: true }
    case 'failed':
      return { state: 'rejected', reason, pauses: true }
    case 'waiting':
      return { state: 'paused', reason: messageOf(error), seconds: null }
    default:
      return null
  }
}

async function recordOutcome(deps: RelayDeps, batch: Batch, outcome: Outcome): Promise<void> {
  const { relay, service, reports } = batch
  const { db } = deps
  const now = deps.clock()
  const endedAt = new Date(now)
  const { intervalSeconds, addressSeconds } = service
  switch (outcome.state) {
    case 'sent':
      await endReports(db, reports, 'sent', { reason: '', endedAt })
      return release(deps, relay, intervalSeconds ? { until: now + intervalSeconds * SECOND_MS } : {}) // prettier-ignore
    case 'rejected':
    case 'uncertain': {
      const { state, reason, pauses } = outcome
      await endReports(db, reports, state, { reason, endedAt })
      return release(deps, relay, pauses ? { until: now + pauseAfter(reports) } : {})
    }
    case 'too-soon': {
      const dueAt = new Date(now + addressSeconds * SECOND_MS)
      await putBackReports(db, reports, dueAt, { reason: 'The address was reported just before.' })
      return release(deps, relay)
    }
    case 'paused': {
      const { reason, seconds } = outcome
      const pause = seconds === null ? pauseAfter(reports) : seconds * SECOND_MS
      const until = now + Math.min(MAX_PAUSE_MS, Math.max(SECOND_MS, pause))
      await putBackReports(db, reports, new Date(until), { reason })
      return release(deps, relay, { until })
    }
    case 'stopped': {
      const { reason } = outcome
      await putBackReports(db, reports, endedAt, { reason })
      return release(deps, relay, { problem: reason })
    }
  }
}

function pauseAfter(reports: ClaimedReport[]): number {
  const attempts = Math.max(...reports.map((report) => report.attempts))
  return RETRY_DELAYS_MS[Math.min(attempts, RETRY_DELAYS_MS.length) - 1] ?? SECOND_MS
}

/** Ends a claim, with a pause or a problem that stops the relay. */
async function release(
  { db, clock }: RelayDeps,
  relay: ClaimedRelay,
  { until, problem = null }: { until?: number; problem?: string | null } = {},
): Promise<void> {
  const { id, workspaceId, service } = relay
  const pausedUntil = until === undefined ? null : new Date(until)
  await db.transaction().execute(async (trx) => {
    if (!(await releaseRelay(trx, relay, { pausedUntil, problem }))) return
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
