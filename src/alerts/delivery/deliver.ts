import { setTimeout as sleep } from 'node:timers/promises'
import { Fault, messageOf } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import { mayHaveBeenAccepted } from '../../net/smtp.ts'
import { notifyChange } from '../../store/changes.ts'
import type { SendDeps } from '../channels/channel-type.ts'
import { CHANNEL_TYPES } from '../channels/registry.ts'
import {
  channelIncident,
  disableChannel,
  recordChannelFailure,
  type ChannelRow,
} from '../channels/store.ts'
import {
  DISABLE_AFTER_MS,
  MESSAGE_LEASE_SECONDS,
  PARALLEL_MESSAGES,
  PARALLEL_MESSAGES_PER_WORKSPACE,
  POLL_INTERVAL_MS,
  RETRY_DELAYS_MS,
} from '../limits.ts'
import { describeDisabledChannel, disabledReasons } from '../messages.ts'
import { quietHoursEnd } from '../quiet-hours.ts'
import { raiseAlert } from '../raise.ts'
import {
  claimMessages,
  listDue,
  markMessageEnded,
  markHandedOver,
  markPostponed,
  markSent,
  postponeMessage,
  recoverMessages,
  type Batching,
  type ClaimedMessage,
} from './store.ts'

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
      await recoverMessages(deps.db)
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

/** @returns how many messages were started or postponed, so that others may be due behind them */
async function startDue(
  deps: DeliveryDeps,
  limit: number,
  start: (message: ClaimedMessage) => void,
): Promise<number> {
  if (limit <= 0) return 0
  const due = await listDue(deps.db, deps.batching, {
    limit,
    perWorkspace: PARALLEL_MESSAGES_PER_WORKSPACE,
  })
  const sendable = await postponeQuiet(due, deps)
  const claimed = await claimMessages(deps.db, sendable, MESSAGE_LEASE_SECONDS)
  claimed.forEach(start)
  return claimed.length + due.length - sendable.length
}

/** Postpones the messages of channels in quiet hours; returns the IDs of all others. */
async function postponeQuiet(
  due: Awaited<ReturnType<typeof listDue>>,
  { db, clock }: DeliveryDeps,
): Promise<string[]> {
  const sendable: string[] = []
  for (const { id, quietHours } of due) {
    const until = quietHours && quietHoursEnd(quietHours, new Date(clock()))
    if (until) await postponeMessage(db, id, until)
    else sendable.push(id)
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
    await send(message, deps, signal)
    await markSent(db, message)
    deps.onAttempt?.(channel.type, 'sent')
  } catch (error) {
    if (signal.aborted && !mayHaveBeenAccepted(error))
      return markPostponed(db, message, new Date(), 'interrupted')
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
): Promise<void> {
  const { id, channel, alerts } = message
  if (alerts.length === 0) return
  const type = CHANNEL_TYPES[channel.type]
  const problem = type.problem(deps)
  if (problem) throw new Fault('unavailable', problem)
  const beforeHandover = async () => {
    if (!(await markHandedOver(deps.db, message)))
      throw new Fault('conflict', 'Another sender has this message.')
  }
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(type.deadlineMs)])
  await type.send({ id, channel, alerts, beforeHandover }, deps, deadline)
}

async function recordFailure(
  message: ClaimedMessage,
  error: unknown,
  deps: DeliveryDeps,
): Promise<void> {
  const { db } = deps
  const { channel, attempts } = message
  const type = CHANNEL_TYPES[channel.type]
  if (error instanceof Fault && error.code === 'conflict') return
  const sentence = messageOf(error)
  if (type.problem(deps)) return markMessageEnded(db, message, 'failed', sentence)
  const failingSince = await recordChannelFailure(db, channel.id, sentence)
  const delayMs = RETRY_DELAYS_MS[attempts - 1]
  if (mayHaveBeenAccepted(error)) await markMessageEnded(db, message, 'uncertain', sentence)
  else if (delayMs === undefined || type.isFinal(error))
    await markMessageEnded(db, message, 'failed', sentence)
  else await markPostponed(db, message, new Date(Date.now() + delayMs), sentence)
  if (type.isGone(error)) await disableAndAlert(channel, disabledReasons.gone, deps)
  else if (Date.now() - failingSince.getTime() > DISABLE_AFTER_MS) {
    await disableAndAlert(channel, disabledReasons.failing(sentence), deps)
  }
}

/** Disables a channel and alerts the workspace on its other channels. */
async function disableAndAlert(
  { id, workspaceId, type, target }: ChannelRow,
  reason: string,
  { db }: DeliveryDeps,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await disableChannel(trx, id, reason))) return
    await raiseAlert(trx, {
      workspaceId,
      kind: 'channel.disabled',
      key: `channel.disabled ${id} ${Date.now()}`,
      incident: channelIncident(id),
      phase: 'open',
      severity: 'error',
      ...describeDisabledChannel(CHANNEL_TYPES[type].describeTarget(target), reason),
      path: '/alerts/channels',
      at: new Date(),
    })
  })
}
