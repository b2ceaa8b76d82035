import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { Fault, messageOf } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import { mayHaveBeenAccepted } from '../../net/smtp.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import { mailAlerts, NO_RELAY, type MailDeps } from '../channels/email.ts'
import { disableChannel, noteFailure, type ChannelRow } from '../channels/store.ts'
import { isGone, postAlert, secretOf, type WebhookDeps } from '../channels/webhook.ts'
import {
  AT_ONCE,
  AT_ONCE_PER_ACCOUNT,
  FAILING_FOR,
  LEASE,
  LOOK_EVERY,
  MAIL_DEADLINE,
  RETRY_AFTER,
  WEBHOOK_DEADLINE,
} from '../limits.ts'
import { endOfQuiet } from '../quiet.ts'
import { raiseAlert } from '../raise.ts'
import {
  claimMessages,
  listDue,
  markEnded,
  markHandedOver,
  markPutOff,
  markSent,
  postponeMessage,
  recoverMessages,
  type ClaimedMessage,
  type Patience,
} from './store.ts'

export type DeliverDeps = MailDeps &
  WebhookDeps & {
    db: Kysely<DB>
    secretKey: string
    patience: Patience
    log: Logger
    /** What time it is, in milliseconds since 1970, for quiet hours. */
    clock: () => number
    /** Hears of each try: `sent` or `failed`. */
    onTry?: ((channel: string, outcome: string) => void) | undefined
  }

/** `stop` ends with what is being sent, `cut` cuts that off too. */
export type Ending = { stop: AbortSignal; cut: AbortSignal }

/**
 * Sends all that is due now, and what comes due meanwhile: nothing waits for the slowest of those on their way.
 * @param nudged resolves when there may be something new
 * @returns how many messages were tried
 */
export async function deliverDue(
  deps: DeliverDeps,
  { stop, cut }: Ending,
  nudged: () => Promise<unknown> = () => sleep(LOOK_EVERY, undefined, { ref: false }),
): Promise<number> {
  const onTheWay = new Set<Promise<void>>()
  function begin(message: ClaimedMessage): void {
    const sending = deliver(message, deps, cut).finally(() => onTheWay.delete(sending))
    onTheWay.add(sending)
  }
  let tried = 0
  try {
    for (;;) {
      await recoverMessages(deps.db)
      const count = stop.aborted ? 0 : await beginDue(deps, AT_ONCE - onTheWay.size, begin)
      tried += count
      if (count > 0) continue
      if (onTheWay.size === 0) return tried
      await Promise.race([...onTheWay, ...(stop.aborted ? [] : [nudged()])])
    }
  } finally {
    await Promise.allSettled(onTheWay)
  }
}

/** @returns how many were begun, or put off so that others may be due behind them */
async function beginDue(deps: DeliverDeps, limit: number, begin: (message: ClaimedMessage) => void): Promise<number> {
  if (limit <= 0) return 0
  const due = await listDue(deps.db, deps.patience, { limit, perAccount: AT_ONCE_PER_ACCOUNT })
  const loud = await keepQuiet(due, deps)
  const claimed = await claimMessages(deps.db, loud, LEASE)
  claimed.forEach(begin)
  return claimed.length + due.length - loud.length
}

/** Puts off what falls into quiet hours; the others' ids. */
async function keepQuiet(due: Awaited<ReturnType<typeof listDue>>, { db, clock }: DeliverDeps): Promise<string[]> {
  const loud: string[] = []
  for (const { id, quietHours } of due) {
    const until = quietHours && endOfQuiet(quietHours, new Date(clock()))
    if (until) await postponeMessage(db, id, until)
    else loud.push(id)
  }
  return loud
}

async function deliver(message: ClaimedMessage, deps: DeliverDeps, signal: AbortSignal): Promise<void> {
  const { db, log } = deps
  try {
    await send(message, deps, signal)
    await markSent(db, message)
    deps.onTry?.(message.channel.type, 'sent')
  } catch (error) {
    if (signal.aborted && !mayHaveBeenAccepted(error)) return markPutOff(db, message, new Date(), 'interrupted')
    deps.onTry?.(message.channel.type, 'failed')
    log.warn({ channel: message.channel.id, err: error }, 'an alert could not be sent')
    await settleFailure(message, error, deps)
  }
  await notifyChange(db, message.channel.accountId, 'alerts')
}

async function send(message: ClaimedMessage, deps: DeliverDeps, signal: AbortSignal): Promise<void> {
  const { id, channel, alerts } = message
  const [first] = alerts
  if (!first) return
  if (channel.type === 'webhook') {
    const secret = secretOf(channel, deps.secretKey)
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(WEBHOOK_DEADLINE)])
    return postAlert({ url: channel.target, secret, id, alert: first }, deps, deadline)
  }
  const { relay, baseUrl, db } = deps
  if (!relay) throw new Fault('unavailable', NO_RELAY)
  const beforeMessage = async () => {
    if (!(await markHandedOver(db, message))) throw new Fault('conflict', 'Somebody else sends this mail.')
  }
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(MAIL_DEADLINE)])
  await mailAlerts({ relay, baseUrl }, { to: channel.target, id, alerts, beforeMessage }, deadline)
}

async function settleFailure(message: ClaimedMessage, error: unknown, deps: DeliverDeps): Promise<void> {
  const { db, relay } = deps
  const { channel, attempts } = message
  if (error instanceof Fault && error.code === 'conflict') return
  const sentence = messageOf(error)
  if (channel.type === 'email' && !relay) return markEnded(db, message, 'failed', sentence)
  const failingSince = await noteFailure(db, channel.id, sentence)
  const wait = RETRY_AFTER[attempts - 1]
  if (mayHaveBeenAccepted(error)) await markEnded(db, message, 'uncertain', sentence)
  else if (wait === undefined || isFinal(channel, error)) await markEnded(db, message, 'failed', sentence)
  else await markPutOff(db, message, new Date(Date.now() + wait), sentence)
  if (isGone(error)) await switchOff(channel, 'The receiver said that it wants no more (410).', deps)
  else if (Date.now() - failingSince.getTime() > FAILING_FOR) {
    await switchOff(channel, `Every try has failed for a week, the last with: ${sentence}`, deps)
  }
}

/** A relay’s no is final; a web server that says no may only be under repair. */
function isFinal({ type }: ChannelRow, error: unknown): boolean {
  return isGone(error) || (type === 'email' && error instanceof Fault && error.code === 'upstream_rejected')
}

/** The account hears of it by its other channels. */
async function switchOff(
  { id, accountId, type, target }: ChannelRow,
  reason: string,
  { db }: DeliverDeps,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await disableChannel(trx, id, reason))) return
    const name = type === 'email' ? target : new URL(target).host
    await raiseAlert(trx, {
      accountId,
      kind: 'channel.disabled',
      key: `channel.disabled ${id} ${Date.now()}`,
      title: `Alerts are not sent to ${name} any longer`,
      text: reason,
      nextStep: 'Mend the receiver, then switch the channel on again; “send test” shows whether it works.',
      path: '/alerts/channels',
      at: new Date(),
    })
  })
}
