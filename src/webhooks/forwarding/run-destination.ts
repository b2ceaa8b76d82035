import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Logger } from '../../log.ts'
import type { GuardDeps } from '../../net/http/guarded-request.ts'
import { onAbort } from '../../net/abort.ts'
import { KeptConnections } from '../../net/http/kept-connections.ts'
import type { DB } from '../../store/tables.ts'
import {
  DELIVERY_LEASE_RENEWAL_MS,
  DESTINATION_TURN_MS,
  MAX_CONCURRENCY,
  MAX_SENDING_BYTES,
} from '../limits.ts'
import {
  claimDeliveries,
  nextDueAt,
  recoverDeliveries,
  returnDeliveries,
  saveResults,
  type ClaimedDelivery,
  type DeliveryResult,
} from './deliveries.sql.ts'
import { recordFailing, recordSuccess, turnOff } from './destination-health.ts'
import { tryUnseal, type SealedSettings } from './destination-settings.ts'
import {
  releaseDestination,
  renewClaim,
  updateClaimed,
  type ClaimedDestination,
} from './destinations.sql.ts'
import { evaluateAttempt, probeDelay, type Evaluated } from './evaluate-attempt.ts'
import { changeRequest } from './change-request.ts'
import { PatchError } from './json-patch.ts'
import type { DeliveryState } from './shapes.ts'
import type { RequestRow } from '../requests/captured-request.ts'
import { markOf } from './forwarding-marks.ts'
import { buildRequest, messageIdOf, type Repeat } from './outgoing-request.ts'
import { RecentResults } from './recent-results.ts'
import { sendAttempt, type AttemptResult, type FailureKind } from './send-attempt.ts'

export type ForwardingDeps = {
  db: Kysely<DB>
  guard: GuardDeps
  secretKey: string
  /** The address of this service, which each request names. */
  baseUrl: string
  log: Logger
  /** Called with the result of each attempt, for metrics: what went wrong, or null. */
  onAttempt?: ((kind: FailureKind | null, durationMs: number) => void) | undefined
  /** Called with the state of each delivery that has ended, for metrics. */
  onEnd?: ((state: DeliveryState) => void) | undefined
}

type Signals = { stop: AbortSignal; cut: AbortSignal }

/** What all destinations of an instance share. */
export type ForwardingLoad = {
  /** Bytes of the bodies that are being sent. */
  bytes: number
  /** Whether further destinations may wait for a place. */
  isCrowded(): boolean
  /** Whether there are places for destinations that have nothing to send at the moment. */
  hasRoom(): boolean
}

/** Deliveries that are due soon are waited for, so that a claim is not given up for moments. */
const WAIT_MS = 2_000

/** Milliseconds for which a destination stays claimed that has nothing more to send. */
const LINGER_MS = 1_000

/** How many times its concurrency a destination claims in advance, and how many at least. */
const CLAIMED_AHEAD = 4
const MIN_CLAIMED_AHEAD = 20

/** Milliseconds between two rounds of statements: results and claims of a round share one each. */
const ROUND_INTERVAL_MS = 10

const bytesOf = ({ request }: ClaimedDelivery) => request?.body.length ?? 0

/** Two successes close a breaker: one may have been luck. */
const PROBES_TO_CLOSE = 2

/**
 * Sends the due deliveries of a claimed destination, and releases it when none is left.
 * @returns `wake`, called when deliveries were added, and `reload`, when the destination was changed
 */
export function runDestination(
  deps: ForwardingDeps,
  claimed: ClaimedDestination,
  signals: Signals,
  load: ForwardingLoad,
): { done: Promise<void>; wake: () => void; reload: () => void } {
  const run = new DestinationRun(deps, claimed, signals, load)
  return { done: run.work(), wake: () => run.wake(), reload: () => run.reload() }
}

class DestinationRun {
  readonly #deps: ForwardingDeps
  readonly #signals: Signals
  readonly #load: ForwardingLoad
  readonly #startedAt = performance.now()
  readonly #mark: string
  readonly #kept = new KeptConnections(MAX_CONCURRENCY)
  #destination: ClaimedDestination
  #settings: SealedSettings | null
  #sending = 0
  /** Claimed in advance, so that no request waits for the database while others are sent. */
  #queue: ClaimedDelivery[] = []
  #results: DeliveryResult[] = []
  readonly #recent = new RecentResults()
  #probes = 0
  /** When the next request may be sent at the rate of the destination. */
  #nextSlotAt = 0
  #renewAt = Date.now() + DELIVERY_LEASE_RENEWAL_MS
  /** Ends the run: another instance has the destination, or it is paused. */
  #isLost = false
  /** Whether a result was not stored: the next claim recovers its delivery. */
  #hasLeft = false
  #woken = Promise.withResolvers<boolean>()
  #roundAt = 0

  constructor(
    deps: ForwardingDeps,
    claimed: ClaimedDestination,
    signals: Signals,
    load: ForwardingLoad,
  ) {
    this.#deps = deps
    this.#signals = signals
    this.#load = load
    this.#destination = claimed
    this.#settings = tryUnseal(claimed, deps.secretKey)
    this.#mark = markOf(claimed.endpointId, deps.secretKey)
  }

  wake(): void {
    this.#woken.resolve(true)
  }

  /** Reads the destination again: it may be paused. */
  reload(): void {
    this.#renewAt = 0
    this.wake()
  }

  async work(): Promise<void> {
    const { db } = this.#deps
    try {
      await recoverDeliveries(db, this.#destination)
      while (await this.#step());
    } catch (error) {
      this.#hasLeft = true
      throw error
    } finally {
      await this.#finishSending()
      this.#kept.destroy()
      const hasLeft = this.#hasLeft || this.#signals.cut.aborted
      await releaseDestination(db, this.#destination, hasLeft)
    }
  }

  /** @returns whether there may be more to do */
  async #step(): Promise<boolean> {
    await this.#startRound()
    await this.#saveResults()
    if (Date.now() >= this.#renewAt) await this.#renew()
    if (this.#isLost || this.#signals.stop.aborted || this.#mustWait()) return false
    if (this.#hasHadItsTurn()) return false
    const claimed = await this.#claim()
    this.#sendQueued()
    if (claimed > 0 && this.#freeSlots() > 0) return true
    if (this.#sending > 0 || this.#results.length > 0) {
      await this.#wokenWithin(this.#slotDelay() ?? DELIVERY_LEASE_RENEWAL_MS)
      return true
    }
    return this.#waitForNext()
  }

  /** Leaves time between two rounds, except where each request waits for the result before. */
  async #startRound(): Promise<void> {
    const rest = this.#roundAt + ROUND_INTERVAL_MS - performance.now()
    if (rest > 1 && this.#isUnordered()) await sleep(rest)
    this.#roundAt = performance.now()
  }

  #isUnordered(): boolean {
    const { orderMode, breakerLevel, perMinute } = this.#destination
    return orderMode === 'none' && breakerLevel === 0 && perMinute === null
  }

  /** Claims what can be sent now, and some more. @returns how many */
  async #claim(): Promise<number> {
    const wanted = this.#freeSlots() + this.#ahead()
    if (wanted <= this.#queue.length) return 0
    const limit = wanted - this.#queue.length
    const deliveries = await claimDeliveries(this.#deps.db, this.#destination, limit)
    for (const delivery of deliveries) this.#load.bytes += bytesOf(delivery)
    this.#queue.push(...deliveries)
    return deliveries.length
  }

  /** How many are claimed in advance: none where each depends on the result before. */
  #ahead(): number {
    const most = Math.max(MIN_CLAIMED_AHEAD, this.#destination.concurrency * CLAIMED_AHEAD)
    const isLow = this.#queue.length < most / 2
    const hasRoom = this.#load.bytes < MAX_SENDING_BYTES
    return this.#isUnordered() && isLow && hasRoom ? most : 0
  }

  #sendQueued(): void {
    while (this.#queue.length > 0 && this.#canSend()) {
      const delivery = this.#queue.shift() as ClaimedDelivery
      void this.#send(delivery)
    }
  }

  #canSend(): boolean {
    if (this.#isLost || this.#signals.stop.aborted || this.#mustWait()) return false
    return this.#freeSlots() > 0 && !this.#hasHadItsTurn()
  }

  /** Waits for the next delivery where it is due soon. @returns false where it is not */
  async #waitForNext(): Promise<boolean> {
    const slot = this.#slotDelay()
    if (slot !== null && slot > WAIT_MS) {
      await updateClaimed(this.#deps.db, this.#destination, { dueAt: new Date(this.#nextSlotAt) })
      return false
    }
    if (slot !== null) {
      await this.#wokenWithin(slot)
      return true
    }
    const dueAt = await nextDueAt(this.#deps.db, this.#destination)
    const delay = dueAt === null ? Infinity : dueAt.getTime() - Date.now()
    // The next requests of a busy endpoint need no new claim.
    if (delay > WAIT_MS) return this.#load.hasRoom() && (await this.#wokenWithin(LINGER_MS))
    // Due, and yet not claimed: a user has changed the destination.
    if (delay <= 0) this.reload()
    await this.#wokenWithin(Math.max(10, delay))
    return true
  }

  /** @returns false where the time passed */
  async #wokenWithin(milliseconds: number): Promise<boolean> {
    const timer = setTimeout(() => this.#woken.resolve(false), milliseconds)
    const isWoken = await this.#woken.promise
    clearTimeout(timer)
    this.#woken = Promise.withResolvers()
    return isWoken
  }

  /** Slow receivers with full queues would keep all others waiting. */
  #hasHadItsTurn(): boolean {
    return performance.now() - this.#startedAt > DESTINATION_TURN_MS && this.#load.isCrowded()
  }

  #freeSlots(): number {
    if (this.#sending > 0 && this.#load.bytes > MAX_SENDING_BYTES) return 0
    const { concurrency, orderMode, breakerLevel, perMinute } = this.#destination
    const most = orderMode === 'strict' || breakerLevel > 0 ? 1 : concurrency
    if (perMinute === null) return most - this.#sending
    return this.#slotDelay() === null ? Math.min(1, most - this.#sending) : 0
  }

  /** Milliseconds until the rate allows the next request; null for now. */
  #slotDelay(): number | null {
    const delay = this.#nextSlotAt - Date.now()
    return this.#destination.perMinute === null || delay <= 0 ? null : delay
  }

  /** Whether the destination as a whole waits: for its breaker, or as its receiver asked. */
  #mustWait(): boolean {
    return this.#destination.dueAt.getTime() > Date.now()
  }

  async #renew(): Promise<void> {
    this.#renewAt = Date.now() + DELIVERY_LEASE_RENEWAL_MS
    const row = await renewClaim(this.#deps.db, this.#destination)
    if (!row) return void (this.#isLost = true)
    const { claims } = this.#destination
    this.#destination = { ...row, claims }
    this.#settings = tryUnseal(row, this.#deps.secretKey)
  }

  async #send(delivery: ClaimedDelivery): Promise<void> {
    this.#sending++
    const { perMinute } = this.#destination
    if (perMinute !== null)
      this.#nextSlotAt = Math.max(this.#nextSlotAt, Date.now()) + 60_000 / perMinute
    try {
      const result = await this.#attempt(delivery)
      // Cut off as the service stops: the next instance repeats it, marked as a repetition.
      if (result && !this.#signals.cut.aborted) await this.#evaluate(delivery, result)
    } catch (error) {
      this.#deps.log.warn({ delivery: delivery.id, err: error }, 'a delivery was interrupted')
      this.#isLost = true
      this.#hasLeft = true
    } finally {
      this.#sending--
      this.#load.bytes -= bytesOf(delivery)
      this.#sendQueued()
      this.wake()
    }
  }

  /** @returns null where nothing was sent, and the delivery has ended or waits again */
  async #attempt(delivery: ClaimedDelivery): Promise<AttemptResult | null> {
    const { id, request, made, uncertain, replayId, edited } = delivery
    const { log, guard, baseUrl } = this.#deps
    if (!request) return this.#end(delivery, 'dead', 'The request was deleted before it was sent.')
    if (this.#settings === null) {
      log.warn({ destination: this.#destination.id }, 'a destination cannot be decrypted')
      const reason = 'The destination cannot be decrypted with this SECRET_KEY. Enter it again.'
      return this.#end(delivery, 'dead', reason)
    }
    const { timeoutSeconds, sign } = this.#destination
    const repeat: Repeat = uncertain
      ? 'maybe-delivered'
      : replayId !== null
        ? 'replay'
        : made > 0
          ? 'retry'
          : 'no'
    const mark = this.#mark
    const outgoing = {
      settings: this.#settings,
      sign,
      messageId: messageIdOf(request.id, edited ? id : null),
      isEdited: edited,
      attempt: made + 1,
      repeat,
      baseUrl,
      mark,
    }
    const changed = this.#change(request)
    if (typeof changed === 'string') return this.#end(delivery, 'unsendable', changed)
    const sent = await buildRequest(changed, { ...outgoing, now: Date.now() })
    const { signal, end } = abortAfter(timeoutSeconds * 1000, this.#signals.cut)
    return sendAttempt(sent, guard, signal, this.#kept).finally(end)
  }

  /** The request as the destination wants it, or why its change does not fit. */
  #change(request: RequestRow): RequestRow | string {
    try {
      return changeRequest(request, this.#destination.change)
    } catch (error) {
      if (error instanceof PatchError) return error.message
      throw error
    }
  }

  #end(delivery: ClaimedDelivery, state: 'dead' | 'unsendable', error: string): null {
    const { id, attempts, uncertain, status } = delivery
    const dueAt = new Date()
    this.#results.push({ id, state, attempts, dueAt, uncertain, status, error, attempt: null })
    return null
  }

  async #evaluate(delivery: ClaimedDelivery, result: AttemptResult): Promise<void> {
    const now = Date.now()
    const destination = this.#destination
    const random = Math.random()
    const evaluated = evaluateAttempt({ delivery, destination, result, now, random })
    const { status, kind, error, retryAfter: _retryAfter, ...measured } = result
    this.#deps.onAttempt?.(kind, measured.durationMs)
    // First: the delivery waits again, and nobody may send it meanwhile.
    if (evaluated.off !== null) await this.#turnOff(evaluated.off)
    this.#results.push({
      id: delivery.id,
      state: evaluated.state,
      attempts: evaluated.attempts,
      dueAt: new Date(evaluated.dueAt),
      uncertain: evaluated.uncertain,
      status,
      error,
      attempt: {
        number: delivery.made + 1,
        at: new Date(now - measured.durationMs),
        ...measured,
        status,
        kind,
        error,
      },
    })
    if (evaluated.off === null) await this.#recordHealth(evaluated, result, now)
  }

  async #turnOff(reason: string): Promise<void> {
    this.#isLost = true
    await turnOff(this.#deps.db, this.#destination, reason)
  }

  /** Opens and closes the breaker, and turns off a destination that has failed for long. */
  async #recordHealth(evaluated: Evaluated, result: AttemptResult, now: number): Promise<void> {
    const { db } = this.#deps
    const destination = this.#destination
    const isFailure = result.kind !== null && evaluated.pauseUntil === null
    if (evaluated.pauseUntil !== null) {
      destination.dueAt = new Date(Math.max(destination.dueAt.getTime(), evaluated.pauseUntil))
      await updateClaimed(db, destination, { dueAt: destination.dueAt, lastError: result.error })
      return
    }
    this.#recent.add(isFailure, now)
    if (!isFailure) {
      this.#probes = destination.breakerLevel > 0 ? this.#probes + 1 : 0
      const closes = this.#probes >= PROBES_TO_CLOSE
      if (closes) destination.breakerLevel = 0
      return recordSuccess(db, destination, closes)
    }
    this.#probes = 0
    if (destination.breakerLevel > 0 || this.#recent.shouldOpen(now)) this.#open(now)
    if (await recordFailing(db, destination, result.error ?? '', now)) this.#isLost = true
  }

  #open(now: number): void {
    const destination = this.#destination
    const waits = destination.dueAt.getTime() > now
    // Requests that were on their way when it opened tell nothing new.
    if (waits && destination.breakerLevel > 0) return
    destination.breakerLevel++
    destination.dueAt = new Date(now + probeDelay(destination.breakerLevel))
    this.#recent.clear()
  }

  async #returnQueued(): Promise<void> {
    const queued = this.#queue.splice(0)
    if (queued.length === 0) return
    for (const delivery of queued) this.#load.bytes -= bytesOf(delivery)
    await returnDeliveries(
      this.#deps.db,
      this.#destination,
      queued.map(({ id }) => id),
    )
  }

  /** Results that arrive while a statement runs share the next one. */
  async #saveResults(): Promise<void> {
    if (this.#results.length === 0) return
    const results = this.#results
    this.#results = []
    await saveResults(this.#deps.db, this.#destination, results)
    for (const { state } of results) if (state !== 'waiting') this.#deps.onEnd?.(state)
  }

  async #finishSending(): Promise<void> {
    await this.#returnQueued()
    while (this.#sending > 0) {
      await this.#wokenWithin(DELIVERY_LEASE_RENEWAL_MS)
      if (Date.now() >= this.#renewAt) await this.#renew()
    }
    await this.#saveResults()
  }
}

/** As `AbortSignal.any` with a timeout, which costs several times as much. */
function abortAfter(milliseconds: number, cut: AbortSignal) {
  const controller = new AbortController()
  const abort = () => controller.abort()
  const timer = setTimeout(abort, milliseconds)
  const leave = onAbort([cut], abort)
  return {
    signal: controller.signal,
    end: () => {
      clearTimeout(timer)
      leave()
    },
  }
}
