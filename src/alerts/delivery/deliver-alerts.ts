import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import { notifyChange } from '../../store/changes.ts'
import type { SendDeps, SendResult } from '../channels/channel-type.ts'
import { BURST_TYPES, channelTypeOf, MESSAGES_PER_MINUTE } from '../channels/channel-types.ts'
import { saveReplacedSettings } from '../channels/channels.ts'
import type { ChannelRow } from '../channels/channel.ts'
import {
  MAX_UNGROUPED_ALERTS,
  LEASE_SLACK_SECONDS,
  PARALLEL_MESSAGES,
  PARALLEL_MESSAGES_PER_ACCOUNT,
  POLL_INTERVAL_MS,
} from '../limits.ts'
import { unsentAlerts } from '../messages.ts'
import { quietHoursEnd } from '../quiet-hours.ts'
import { ruleQuietEnd } from '../rules/quiet.ts'
import { endOverdueSnoozes } from '../silence/snoozes/end-snooze.ts'
import { findHandled } from '../silence/handling/handling.ts'
import type { AlertRow } from '../alerts.sql.ts'
import { SECOND_MS } from '../../time.ts'
import { claimMessages, type ClaimedMessage } from './claimed-messages.sql.ts'
import {
  listDue,
  OUTBOX,
  postponeMessage,
  postponeUncritical,
  type Batching,
  type DueMessage,
} from './due-messages.sql.ts'
import { isUncertain, recordFailure } from './record-failure.ts'
import { findRef, markSent, saveRef } from './alert-delivery.sql.ts'

/** The page with all alerts and their deliveries. */
const HISTORY_PATH = '/alerts/history'

const TYPES = { bursts: BURST_TYPES, perMinute: MESSAGES_PER_MINUTE }

export type DeliveryDeps = SendDeps & {
  batching: Batching
  log: Logger
  /** The current time in milliseconds since 1970, for quiet hours. */
  clock: () => number
  /** Called after each attempt with `sent` or `failed`. */
  onAttempt?: ((channel: string, outcome: string) => void) | undefined
}

/** `stop` ends after the messages in transit; `cut` aborts those, too. */
export type StopSignals = { stop: AbortSignal; cut: AbortSignal }

/**
 * Sends all due messages, and those that become due meanwhile: none waits for the slowest one in
 * transit.
 * @param woken resolves when there may be new messages
 * @returns the number of attempts
 */
export async function deliverDue(
  deps: DeliveryDeps,
  { stop, cut }: StopSignals,
  woken: () => Promise<unknown> = () => sleep(POLL_INTERVAL_MS, undefined, { ref: false }),
): Promise<number> {
  const inTransit = new Set<Promise<void>>()
  function start(message: ClaimedMessage): void {
    const sending = deliver(message, deps, cut).finally(() => inTransit.delete(sending))
    inTransit.add(sending)
  }
  let attempts = 0
  try {
    for (;;) {
      await OUTBOX.recover(deps.db)
      await endOverdueSnoozes(deps.db)
      const count = stop.aborted
        ? 0
        : await startDue(deps, PARALLEL_MESSAGES - inTransit.size, start)
      attempts += count
      if (count > 0) continue
      if (inTransit.size === 0) return attempts
      await Promise.race([...inTransit, ...(stop.aborted ? [] : [woken()])])
    }
  } finally {
    await Promise.allSettled(inTransit)
  }
}

/**
 * Seconds for which a sender claims a message. The shorter they are, the earlier another instance
 * takes over where one died.
 */
function leaseSecondsOf(channel: ChannelRow): number {
  return channelTypeOf(channel).deadlineMs / SECOND_MS + LEASE_SLACK_SECONDS
}

/** @returns how many messages were started or postponed, so that others may be due behind them */
async function startDue(
  deps: DeliveryDeps,
  limit: number,
  start: (message: ClaimedMessage) => void,
): Promise<number> {
  if (limit <= 0) return 0
  const due = await listDue(deps.db, deps.batching, TYPES, {
    limit,
    perAccount: PARALLEL_MESSAGES_PER_ACCOUNT,
  })
  const sendable = await postponeQuiet(due, deps)
  const claimed = await claimMessages(
    deps.db,
    sendable,
    leaseSecondsOf,
    TYPES,
    MAX_UNGROUPED_ALERTS,
  )
  claimed.forEach(start)
  return claimed.length + due.length - sendable.length
}

/**
 * Postpones the messages of channels and rules in quiet hours, apart from critical alerts where the channel
 * wants those; returns the IDs of all others.
 */
async function postponeQuiet(due: DueMessage[], { db, clock }: DeliveryDeps): Promise<string[]> {
  const sendable: string[] = []
  for (const { id, quietHours, ruleQuietHours, criticalAnytime, hasCritical } of due) {
    const now = new Date(clock())
    const heldUntil = ruleQuietHours && ruleQuietEnd(ruleQuietHours, now)
    if (heldUntil) {
      await postponeMessage(db, id, heldUntil)
      continue
    }
    const until = quietHours && quietHoursEnd(quietHours, now)
    const isSentAnyway = criticalAnytime && hasCritical
    if (until && isSentAnyway) await postponeUncritical(db, id, until)
    else if (until) await postponeMessage(db, id, until)
    if (!until || isSentAnyway) sendable.push(id)
  }
  return sendable
}

async function deliver(
  message: ClaimedMessage,
  deps: DeliveryDeps,
  signal: AbortSignal,
): Promise<void> {
  const { db, log } = deps
  const { channel } = message
  try {
    const result = await send(message, deps, signal)
    const { ref } = result
    await markSent(db, message)
    await saveReplacedSettings(deps, channel, result)
    const incidentId = incidentOf(message)
    if (ref !== undefined && incidentId !== null)
      await saveRef(db, { channelId: channel.id, incidentId, ref })
    deps.onAttempt?.(channel.type, 'sent')
  } catch (error) {
    if (signal.aborted && !isUncertain(error, message))
      return void (await OUTBOX.putBack(db, [message], new Date(), { error: 'interrupted' }))
    deps.onAttempt?.(channel.type, 'failed')
    log.warn({ channel: channel.id, err: error }, 'an alert could not be sent')
    await recordFailure(message, error, deps)
  }
  await notifyChange(db, channel.workspaceId, 'alerts')
}

async function send(
  message: ClaimedMessage,
  deps: DeliveryDeps,
  signal: AbortSignal,
): Promise<SendResult> {
  const { id, channel } = message
  const handled = message.handlingOf === null ? undefined : await findHandled(deps.db, message)
  const own = message.summarises > 0 ? [summaryOf(message)] : message.alerts
  const alerts = handled ? [handled.alert] : own
  if (alerts.length === 0) return {}
  const type = channelTypeOf(channel)
  const problem = type.problem(deps)
  if (problem) throw new Fault('unavailable', problem)
  const beforeHandover = () => OUTBOX.handOver(deps.db, [message])
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(type.deadlineMs)])
  const incidentId = incidentOf({ alerts })
  const ref = incidentId && (await findRef(deps.db, channel.id, incidentId))
  const outgoing = { id, channel, alerts, ref, beforeHandover }
  return type.send({ ...outgoing, ...(handled && { handling: handled.handling }) }, deps, deadline)
}

/** The incident of the only alert of a message. */
function incidentOf({ alerts }: Pick<ClaimedMessage, 'alerts'>): string | null {
  return alerts.length === 1 ? (alerts[0]?.incidentId ?? null) : null
}

/** The message about alerts that could not be sent, in the form of an alert. */
function summaryOf({ id, createdAt, summarises }: ClaimedMessage): AlertRow {
  return {
    id,
    kind: 'channel.unsent',
    ...unsentAlerts(summarises),
    nextStep: '',
    path: HISTORY_PATH,
    at: createdAt,
    phase: 'once',
    severity: 'warning',
    incident: null,
    incidentId: null,
  }
}
