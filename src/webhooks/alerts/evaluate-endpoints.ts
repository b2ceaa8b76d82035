import type { NewAlert, ResolvingAlert } from '../../alerts/raise.ts'
import { BAD_SIGNATURE_ALERT_GAP_MS, MAX_SILENCES_PER_DAY } from '../limits.ts'
import {
  describeBadSignatures,
  describeCalls,
  describeGoodSignatures,
  describeResumed,
  describeSilence,
} from '../messages.ts'
import { MINUTE_MS, isoDay } from '../../time.ts'
import type { AlertState, WatchedEndpoint } from './endpoint-alerts.sql.ts'

/** Signatures of requests that arrived since the last evaluation. */
export type VerifiedRequests = {
  /** The last request of the evaluation. */
  seenSeq: number
  /** Whether there are further ones, which the next evaluation verifies. */
  hasMore: boolean
  bad: { count: number; at: Date; reason: string } | null
  /** When the last request with a valid signature arrived; null for none. */
  goodAt: Date | null
}

export type Evaluation = {
  state: AlertState
  alerts: NewAlert[]
  ends: ResolvingAlert[]
}

/**
 * Decides which alerts an endpoint raises, and what is remembered.
 * @param now time of the pass
 * @param watchedSince since when requests were captured without a longer interruption
 */
export function evaluateEndpoint(
  endpoint: WatchedEndpoint,
  verified: VerifiedRequests,
  { now, watchedSince }: { now: Date; watchedSince: Date },
): Evaluation {
  const state: AlertState = {
    ...endpoint.state,
    checkedCount: verified.hasMore ? -1 : endpoint.requestCount,
    seenSeq: verified.seenSeq,
    lastRequestAt: endpoint.newest?.receivedAt ?? endpoint.state.lastRequestAt,
  }
  const evaluation: Evaluation = { state, alerts: [], ends: [] }
  evaluateCalls(endpoint, evaluation, now)
  evaluateSilence(endpoint, evaluation, { now, watchedSince })
  evaluateSignatures(endpoint, verified, evaluation, now)
  return evaluation
}

function evaluateCalls(endpoint: WatchedEndpoint, { state, alerts }: Evaluation, now: Date): void {
  const { calledEveryMinutes, requestCount } = endpoint
  const count = requestCount - state.calledCount
  const isDue =
    calledEveryMinutes !== null &&
    count > 0 &&
    (state.calledAt === null || minutesBetween(state.calledAt, now) >= calledEveryMinutes)
  if (isDue)
    alerts.push({
      ...alertOf(endpoint, 'webhook.called', now),
      incident: null,
      phase: 'once',
      severity: 'info',
      ...describeCalls(nameOf(endpoint), count, state.calledAt, state.lastRequestAt ?? now),
    })
  if (isDue || calledEveryMinutes === null) state.calledCount = requestCount
  if (isDue) state.calledAt = now
}

function evaluateSilence(
  endpoint: WatchedEndpoint,
  { state, alerts, ends }: Evaluation,
  { now, watchedSince }: { now: Date; watchedSince: Date },
): void {
  const { silentAfterMinutes } = endpoint
  const { lastRequestAt, silentSince, silentFrom } = state
  if (lastRequestAt === null) return
  if (silentSince !== null && lastRequestAt > silentSince) {
    state.silentSince = null
    ends.push({
      ...alertOf(endpoint, 'webhook.resumed', now),
      incident: silenceIncident(endpoint.id),
      ...describeResumed(nameOf(endpoint), silentSince, lastRequestAt),
    })
  }
  if (silentAfterMinutes === null || state.silentSince !== null) return
  const from = new Date(Math.max(Number(lastRequestAt), Number(silentFrom), Number(watchedSince)))
  if (minutesBetween(from, now) < silentAfterMinutes || !countSilence(state, now)) return
  state.silentSince = lastRequestAt
  alerts.push({
    ...alertOf(endpoint, 'webhook.silent', now),
    incident: silenceIncident(endpoint.id),
    phase: 'open',
    severity: 'error',
    ...describeSilence(nameOf(endpoint), lastRequestAt, silentAfterMinutes),
  })
}

/** @returns false where there were too many on this day; one that lasts is raised on the next */
function countSilence(state: AlertState, now: Date): boolean {
  const day = isoDay(now)
  const count = state.silentDay === day ? state.silentCount : 0
  if (count >= MAX_SILENCES_PER_DAY) return false
  state.silentDay = day
  state.silentCount = count + 1
  return true
}

/** The first alert is raised at once, further ones with the requests of an hour. */
function evaluateSignatures(
  endpoint: WatchedEndpoint,
  { bad, goodAt }: VerifiedRequests,
  { state, alerts, ends }: Evaluation,
  now: Date,
): void {
  if (goodAt) state.goodAt = goodAt
  if (bad) {
    state.badCount += bad.count
    state.badAt = bad.at
    state.badReason = bad.reason
  }
  const { badAlertAt, badAt, badCount } = state
  const isDue =
    badAlertAt === null || Number(now) - Number(badAlertAt) >= BAD_SIGNATURE_ALERT_GAP_MS
  if (badCount > 0 && badAt !== null && isDue) {
    state.badCount = 0
    state.badAlertAt = now
    alerts.push({
      ...alertOf(endpoint, 'webhook.bad-signature', now),
      incident: signatureIncident(endpoint.id),
      phase: 'open',
      severity: 'warning',
      ...describeBadSignatures(nameOf(endpoint), badCount, badAt, state.badReason ?? ''),
    })
  }
  const isValidSince = state.goodAt !== null && badAt !== null && state.goodAt > badAt
  if (badCount > 0 || badAlertAt === null || !isDue || !isValidSince) return
  state.badAlertAt = null
  ends.push({
    ...alertOf(endpoint, 'webhook.good-signature', now),
    incident: signatureIncident(endpoint.id),
    ...describeGoodSignatures(nameOf(endpoint)),
  })
}

/** The incident of an endpoint without requests. */
export const silenceIncident = (id: string) => `webhook/silent/${id}`

/** The incident of an endpoint that gets requests without a valid signature. */
export const signatureIncident = (id: string) => `webhook/bad-signature/${id}`

const nameOf = ({ label, token }: WatchedEndpoint) => label || token

const minutesBetween = (from: Date, to: Date) => (Number(to) - Number(from)) / MINUTE_MS

function alertOf({ id, workspaceId }: WatchedEndpoint, kind: string, at: Date) {
  return { workspaceId, kind, key: `${kind} ${id} ${at.toISOString()}`, path: `/hooks/${id}`, at }
}
