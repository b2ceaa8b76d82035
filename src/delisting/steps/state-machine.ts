import {
  afterExpected,
  afterRequest,
  CLAIM_TIMEOUT_MS,
  CONFIRMATION_MS,
  deadlineMs,
  FIRST_CHECK_AFTER_MAIL_MS,
  addMs,
  MAX_ATTEMPTS,
  MAX_GRACE_MS,
  BLOCKER_PAUSE_MS,
  USER_DEADLINE_MS,
  USER_PAUSE_MS,
  PROVIDER_PAUSE_MS,
  REFUSED_PAUSES_MS,
  REMINDER_AFTER_MS,
  UNKNOWN_PAUSE_MS,
} from './timing.ts'
import type { Method } from './methods.ts'

export const STEP_STATUSES = [
  'pending',
  'running',
  'email-sent',
  'waiting',
  'completed',
  'failed',
] as const
export type StepStatus = (typeof STEP_STATUSES)[number]

/**
 * The action that a person must take before the step continues: fix a blocker, state cause and fix,
 * submit the form, or send the email by hand.
 */
export const NEEDS = ['mend', 'confirm', 'submit', 'send'] as const
type Need = (typeof NEEDS)[number]

export const OUTCOMES = [
  'cleared',
  'still-listed',
  'unanswered',
  'undelivered',
  'cancelled',
] as const
type StepOutcome = (typeof OUTCOMES)[number]

/**
 * The state of the request in this attempt. `due`: the email can be sent; `claimed`: it is being
 * sent; `unsure`: it is unknown whether it arrived.
 */
export type RequestState = 'none' | 'due' | 'claimed' | 'made' | 'unsure'

/**
 * The one reminder of a mail. `open`: there may be one; `due`, `claimed`: as for the mail;
 * `settled`: there will be none.
 */
type ReminderState = 'open' | 'due' | 'claimed' | 'settled'

/** The state of one blocklist’s step in a delisting, as far as it decides the next one. */
export type StepState = {
  method: Method
  plan: {
    expectedHours?: number | undefined
    deadlineHours?: number | undefined
    last?: boolean | undefined
  }
  status: StepStatus
  attempt: number
  outcome: StepOutcome | null
  needs: Need | null
  /** The reasons why the request is not made yet, as sentences. */
  obstacles: string[]
  request: RequestState
  reminder: ReminderState
  /** The owner has stated cause and fix, which may be quoted. */
  confirmed: boolean
  /** Emails that were rejected. */
  tries: number
  /** The first of the clean answers in a row. */
  cleanAt: Date | null
  /** Milliseconds by which the deadline moved because the list did not answer. */
  grace: number
  /** When it is checked next; null when it has ended. */
  nextAt: Date | null
  deadlineAt: Date | null
  startedAt: Date | null
  requestedAt: Date | null
  endedAt: Date | null
}

/** Whether the request can be made now. */
export type RequestReadiness = {
  /** The blockers that the owner must fix first, as sentences. */
  obstacles: string[]
  /** Why it is too early, and until when. */
  wait: { until: Date; why: string } | null
  /** Whether the service can send the mail. */
  canSend: boolean
}

export type StepEvent =
  | { type: 'start' }
  | {
      /** The list has answered whether it lists the address. */
      type: 'answered'
      answer: 'listed' | 'clean' | 'unknown'
      /** Milliseconds for which resolvers cache the answer. */
      ttl: number
      /** Required where a request to the list is due, or a reminder. */
      ready: RequestReadiness | null
      /** A person is watching: one clean answer is enough. */
      atOnce?: boolean
    }
  /** The relay may have the mail from now on. */
  | { type: 'claimed' }
  | { type: 'sent' }
  /** The relay has rejected it. */
  | { type: 'refused'; forGood: boolean }
  /** It is unknown whether the relay accepted it. */
  | { type: 'unsure' }
  | { type: 'confirm' }
  | { type: 'submitted' }
  | { type: 'retry' }
  | { type: 'cancel' }

/** Whether the step still needs a request to its list. */
export function isNotRequested({ method, request }: StepState): boolean {
  return (method === 'email' || method === 'form') && (request === 'none' || request === 'due')
}

/** Whether the list is checked until it removes the address. */
function isAwaited({ status }: StepState): boolean {
  return status === 'waiting' || status === 'email-sent'
}

/** Whether the list has not acted on a mail for a week, so that a reminder may be sent. */
export function canRemind(
  { method, request, reminder, requestedAt }: StepState,
  now: Date,
): boolean {
  if (method !== 'email' || request !== 'made' || reminder !== 'open' || requestedAt === null)
    return false
  return elapsed(requestedAt, now) >= REMINDER_AFTER_MS
}

export function isFinal({ status }: { status: StepStatus }): boolean {
  return status === 'completed' || status === 'failed'
}

type Rule<Event> = (step: StepState, event: Event, now: Date) => StepState | null

/** Applies events to a step that has not ended; null where its state does not allow the event. */
const RULES: { [Type in StepEvent['type']]: Rule<Extract<StepEvent, { type: Type }>> } = {
  start: (step, _event, now) => (step.status === 'pending' ? started(step, now) : null),
  answered: (step, event, now) => (canCheck(step) ? answered(step, event, now) : null),
  claimed: (step, _event, now) => claimed(step, now),
  sent: (step, _event, now) => sent(step, 'made', now),
  refused: (step, { forGood }, now) => refused(step, forGood, now),
  unsure: (step, _event, now) => sent(step, 'unsure', now),
  confirm: (step, _event, now) => (isNotRequested(step) ? confirmed(step, now) : null),
  submitted: (step, _event, now) =>
    isNotRequested(step) && step.status !== 'pending' ? submitted(step, now) : null,
  retry: (step, _event, now) => (isAwaited(step) ? { ...step, nextAt: now } : null),
  cancel: (step, _event, now) => ended(step, 'failed', 'cancelled', now),
}

/**
 * Applies an event to a step.
 * @returns null when its state does not allow the event; `completed` is final, and `failed` only
 *   allows `retry`
 */
export function transition(step: StepState, event: StepEvent, now: Date): StepState | null {
  if (isFinal(step)) return event.type === 'retry' ? restarted(step, now) : null
  return (RULES[event.type] as Rule<StepEvent>)(step, event, now)
}

function started(step: StepState, now: Date): StepState {
  return {
    ...step,
    status: 'running',
    startedAt: now,
    nextAt: now,
    deadlineAt: addMs(now, timeLimitMs(step)),
  }
}

/**
 * Milliseconds after which a step without events ends. Steps that come last wait for the others
 * first.
 */
function timeLimitMs(step: StepState): number {
  if (step.method === 'automatic' || step.method === 'provider') return deadlineMs(step)
  return step.plan.last ? 2 * USER_DEADLINE_MS : USER_DEADLINE_MS
}

/** A mail that is being sent must be finished first. */
function canCheck(step: StepState): boolean {
  return step.status !== 'pending' && !isClaimed(step)
}

/** The relay may have an email of this step, and it is unknown whether it accepted it. */
export function isClaimed({ request, reminder }: StepState): boolean {
  return request === 'claimed' || reminder === 'claimed'
}

type Answered = StepEvent & { type: 'answered' }

function answered(before: StepState, event: Answered, now: Date): StepState {
  // Every answer decides again whether a mail may be sent.
  const step: StepState = {
    ...before,
    request: before.request === 'due' ? 'none' : before.request,
    reminder: before.reminder === 'due' ? 'open' : before.reminder,
  }
  if (event.answer === 'clean') return clean(step, event, now)
  return event.answer === 'listed' ? listed(step, event, now) : unknown(step, now)
}

/**
 * A second clean answer is required after some time, because lists and resolvers are sometimes
 * inconsistent.
 */
function clean(step: StepState, { ttl, atOnce = false }: Answered, now: Date): StepState {
  const cleanAt = step.cleanAt ?? now
  if (atOnce || elapsed(cleanAt, now) >= CONFIRMATION_MS)
    return ended(step, 'completed', 'cleared', now)
  return { ...step, cleanAt, nextAt: latest(addMs(cleanAt, CONFIRMATION_MS), addMs(now, ttl)) }
}

/** “Unknown” is neither listed nor clean: the deadline moves, up to a limit. */
function unknown(step: StepState, now: Date): StepState {
  const grace = Math.min(step.grace + UNKNOWN_PAUSE_MS, MAX_GRACE_MS)
  const added = grace - step.grace
  const deadlineAt = addMs(
    added > 0 ? latest(deadlineOf(step, now), now) : deadlineOf(step, now),
    added,
  )
  if (deadlineAt <= now) return ended(step, 'failed', 'unanswered', now)
  return { ...step, grace, deadlineAt, nextAt: earliest(addMs(now, UNKNOWN_PAUSE_MS), deadlineAt) }
}

function listed(before: StepState, { ttl, ready }: Answered, now: Date): StepState {
  const step: StepState = { ...before, cleanAt: null }
  if (deadlineOf(step, now) <= now) return ended(step, 'failed', 'still-listed', now)
  if (isNotRequested(step)) return prepared(step, ready, now)
  const still = waiting(
    step,
    { needs: null, obstacles: [], pause: Math.max(pauseOf(step, now), ttl) },
    now,
  )
  return canRemind(step, now) && canSendNow(ready) ? { ...still, reminder: 'due' } : still
}

function canSendNow(ready: RequestReadiness | null): boolean {
  return ready !== null && ready.canSend && ready.wait === null && ready.obstacles.length === 0
}

/** Prepares the request for a listed address, or records the blockers that prevent it. */
function prepared(step: StepState, ready: RequestReadiness | null, now: Date): StepState {
  if (ready === null)
    return waiting(
      step,
      { needs: step.needs, obstacles: step.obstacles, pause: BLOCKER_PAUSE_MS },
      now,
    )
  const { obstacles, wait, canSend } = ready
  if (obstacles.length > 0)
    return waiting(step, { needs: 'mend', obstacles, pause: BLOCKER_PAUSE_MS }, now)
  if (wait) {
    const pause = Math.min(Math.max(elapsed(now, wait.until), UNKNOWN_PAUSE_MS), USER_PAUSE_MS)
    return waiting(step, { needs: null, obstacles: [wait.why], pause }, now)
  }
  if (step.method === 'email' && step.confirmed && canSend) {
    return { ...step, status: 'running', request: 'due', needs: null, obstacles: [], nextAt: now }
  }
  const needs = step.method === 'form' ? 'submit' : step.confirmed ? 'send' : 'confirm'
  return waiting(step, { needs, obstacles: [], pause: USER_PAUSE_MS }, now)
}

type Waiting = { needs: Need | null; obstacles: string[]; pause: number }

function waiting(step: StepState, { needs, obstacles, pause }: Waiting, now: Date): StepState {
  const nextAt = earliest(addMs(now, pause), deadlineOf(step, now))
  return { ...step, status: 'waiting', needs, obstacles, nextAt }
}

/** Milliseconds until the next check of a blocklist that needs no request. */
function pauseOf(step: StepState, now: Date): number {
  if (step.method === 'provider') return PROVIDER_PAUSE_MS
  if (step.requestedAt) return afterRequest(elapsed(step.requestedAt, now))
  return afterExpected(elapsed(step.startedAt ?? now, now), step.plan.expectedHours)
}

/** The list’s deadline starts with the request. */
function asked(step: StepState, request: 'made' | 'unsure', now: Date): StepState {
  const deadlineAt = addMs(now, deadlineMs(step))
  return { ...step, request, requestedAt: now, deadlineAt, needs: null, obstacles: [] }
}

function sent(step: StepState, request: 'made' | 'unsure', now: Date): StepState | null {
  if (step.reminder === 'claimed') return afterMail({ ...step, reminder: 'settled' }, now)
  if (step.request !== 'claimed') return null
  return afterMail({ ...asked(step, request, now), status: 'email-sent' }, now)
}

function afterMail(step: StepState, now: Date): StepState {
  return { ...step, nextAt: earliest(addMs(now, FIRST_CHECK_AFTER_MAIL_MS), deadlineOf(step, now)) }
}

/** A user who made the request also sends the reminder. */
function submitted(step: StepState, now: Date): StepState {
  const next: StepState = { ...asked(step, 'made', now), reminder: 'settled' }
  return waiting(next, { needs: null, obstacles: [], pause: afterRequest(0) }, now)
}

function confirmed(step: StepState, now: Date): StepState {
  return {
    ...step,
    confirmed: true,
    needs: step.needs === 'confirm' ? null : step.needs,
    nextAt: now,
  }
}

function claimed(step: StepState, now: Date): StepState | null {
  const nextAt = addMs(now, CLAIM_TIMEOUT_MS)
  if (step.request === 'due') return { ...step, request: 'claimed', nextAt }
  return step.reminder === 'due' ? { ...step, reminder: 'claimed', nextAt } : null
}

function isOnItsWay(state: RequestState | ReminderState): boolean {
  return state === 'due' || state === 'claimed'
}

function refused(step: StepState, forGood: boolean, now: Date): StepState | null {
  // A reminder that is not accepted is sent again at the next check, and ends nothing.
  if (isOnItsWay(step.reminder))
    return afterMail({ ...step, reminder: forGood ? 'settled' : 'open' }, now)
  if (!isOnItsWay(step.request)) return null
  const next: StepState = { ...step, request: 'none', tries: step.tries + 1 }
  const pause = REFUSED_PAUSES_MS[step.tries]
  if (forGood || pause === undefined) return ended(next, 'failed', 'undelivered', now)
  return { ...next, nextAt: earliest(addMs(now, pause), deadlineOf(next, now)) }
}

function restarted(step: StepState, now: Date): StepState | null {
  if (step.status !== 'failed' || step.attempt >= MAX_ATTEMPTS) return null
  // A request that did not convince the blocklist is not sent a second time unchanged.
  const mayRepeat = step.outcome === 'undelivered'
  return {
    ...step,
    ...INITIAL_STATE,
    attempt: step.attempt + 1,
    confirmed: step.confirmed && mayRepeat,
    nextAt: now,
  }
}

/** A new step, besides its blocklist. */
export const INITIAL_STATE = {
  status: 'pending',
  outcome: null,
  needs: null,
  obstacles: [],
  request: 'none',
  reminder: 'open',
  tries: 0,
  cleanAt: null,
  grace: 0,
  deadlineAt: null,
  startedAt: null,
  requestedAt: null,
  endedAt: null,
} satisfies Partial<StepState>

function ended(
  step: StepState,
  status: 'completed' | 'failed',
  outcome: StepOutcome,
  now: Date,
): StepState {
  return { ...step, status, outcome, needs: null, obstacles: [], nextAt: null, endedAt: now }
}

function deadlineOf(step: StepState, now: Date): Date {
  return step.deadlineAt ?? now
}

function elapsed(from: Date, to: Date): number {
  return to.getTime() - from.getTime()
}

function earliest(a: Date, b: Date): Date {
  return a < b ? a : b
}

function latest(a: Date, b: Date): Date {
  return a > b ? a : b
}
