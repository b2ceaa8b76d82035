import { retryAfterMs } from '../../net/http/retry-after.ts'
import { HOUR_MS } from '../../time.ts'
import {
  BREAKER_PROBE_MS,
  DEFAULT_SCHEDULE_SECONDS,
  FAILING_ALERT_HOURS,
  MAX_BREAKER_PROBE_MS,
  MAX_DELIVERY_AGE_MS,
  MAX_RETRY_AFTER_MS,
  OFF_AFTER_MS,
  RETRY_JITTER,
} from '../limits.ts'
import type { DeliveryState } from './shapes.ts'
import type { DeliveryRow } from './deliveries.sql.ts'
import type { DestinationRow } from './destinations.sql.ts'
import type { AttemptResult } from './send-attempt.ts'

/** What follows for the delivery. */
export type Evaluated = {
  state: Extract<DeliveryState, 'delivered' | 'dead' | 'waiting'>
  attempts: number
  dueAt: number
  uncertain: boolean
  /** Until when the destination as a whole waits; null for no reason to wait. */
  pauseUntil: number | null
  /** Why the destination is turned off; null where it stays on. */
  off: string | null
}

type Evaluation = {
  delivery: Pick<DeliveryRow, 'attempts' | 'createdAt' | 'uncertain'>
  destination: Pick<DestinationRow, 'schedule' | 'finalStatuses'>
  result: AttemptResult
  /** Milliseconds since 1970. */
  now: number
  /** From 0 to 1: spreads retries. */
  random: number
}

/** Decides what follows from an attempt. */
export function evaluateAttempt({
  delivery,
  destination,
  result,
  now,
  random,
}: Evaluation): Evaluated {
  const { status, kind } = result
  const attempts = delivery.attempts + 1
  const ended = { attempts, dueAt: now, uncertain: false, pauseUntil: null, off: null }
  if (kind === null) return { ...ended, state: 'delivered' }
  const uncertain = delivery.uncertain || kind === 'unanswered'
  if (status === 410) {
    const off = 'The receiver responded 410: it wants no further requests.'
    return { ...ended, uncertain, state: 'waiting', off }
  }
  if (status !== null && destination.finalStatuses.includes(status))
    return { ...ended, uncertain, state: 'dead' }
  const asked = status === 429 || status === 503 ? parseRetryAfter(result.retryAfter, now) : null
  // No time to wait is no pause: as pauses count no attempt, attempts would follow at once, for days.
  const pause = asked === 0 ? null : asked
  const delayMs = pause ?? delayBefore(attempts, destination.schedule, random)
  const isOver =
    now + (delayMs ?? 0) - delivery.createdAt.getTime() > ageLimit(destination.schedule)
  if (delayMs === null || isOver) return { ...ended, uncertain, state: 'dead' }
  return {
    state: 'waiting',
    // Waiting because the receiver asked for it uses up no attempt.
    attempts: pause === null ? attempts : delivery.attempts,
    dueAt: now + delayMs,
    uncertain,
    pauseUntil: pause === null ? null : now + pause,
    off: null,
  }
}

/** Milliseconds before the retry after this attempt; null after the last one. Jitter only adds. */
function delayBefore(attempt: number, schedule: number[] | null, random: number): number | null {
  const seconds = (schedule ?? DEFAULT_SCHEDULE_SECONDS)[attempt - 1]
  return seconds === undefined ? null : Math.round(seconds * 1000 * (1 + RETRY_JITTER * random))
}

/** A delivery ends at the latest when its schedule would have, whatever its receiver asks for. */
function ageLimit(schedule: number[] | null): number {
  if (schedule === null) return MAX_DELIVERY_AGE_MS
  const sum = schedule.reduce((all, seconds) => all + seconds, 0) * 1000
  return Math.max(MAX_DELIVERY_AGE_MS, sum * (1 + RETRY_JITTER))
}

/**
 * Milliseconds that `Retry-After` asks for (RFC 9110, 10.2.3): seconds or a date, up to a day. Null
 * where it is missing or makes no sense.
 */
export function parseRetryAfter(text: string | null, now: number): number | null {
  const asked = retryAfterMs(text, now)
  return asked === null || asked < 0 ? null : Math.min(MAX_RETRY_AFTER_MS, asked)
}

/** Milliseconds until the next probe of a breaker that has opened so many times in a row. */
export function probeDelay(level: number): number {
  return Math.min(MAX_BREAKER_PROBE_MS, BREAKER_PROBE_MS * 2 ** Math.max(0, level - 1))
}

/** What a destination that fails for so long leads to. */
export type FailingStep = { alertedHours: number; isOff: boolean } | null

/**
 * Decides whether a failing destination is alerted about again, or turned off.
 * @param alertedHours the hours of the last alert; 0 for none
 */
export function evaluateFailing(
  failingSince: Date,
  alertedHours: number,
  now: number,
): FailingStep {
  const failingMs = now - failingSince.getTime()
  if (failingMs >= OFF_AFTER_MS) return { alertedHours, isOff: true }
  const due = FAILING_ALERT_HOURS.filter((hours) => failingMs >= hours * HOUR_MS).at(-1) ?? 0
  return due > alertedHours ? { alertedHours: due, isOff: false } : null
}
