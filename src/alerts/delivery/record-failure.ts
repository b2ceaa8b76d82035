import { Fault, messageOf } from '../../errors.ts'
import { mayHaveBeenAccepted } from '../../net/handover.ts'
import { channelIncident, type ChannelRow } from '../channels/channel.ts'
import type { SendDeps } from '../channels/channel-type.ts'
import { disableChannel, recordChannelFailure } from '../channels/channel-health.sql.ts'
import { Dead, Later } from '../channels/outcomes.ts'
import { channelTypeOf } from '../channels/channel-types.ts'
import {
  DEAD_RETRY_MS,
  DEAD_WINDOW_MS,
  DISABLE_AFTER_MS,
  RETRY_AFTER_MS,
  SUMMARY_RETRY_MS,
} from '../limits.ts'
import { describeDisabledChannel, disabledReasons, gaveUp } from '../messages.ts'
import { raiseAlert } from '../raise.ts'
import type { ClaimedMessage } from './claimed-messages.sql.ts'
import { OUTBOX } from './due-messages.sql.ts'
import { giveUpMessage, markMessageEnded } from './alert-delivery.sql.ts'

/** Whether the receiver may have the message, and would not know it again. */
export function isUncertain(error: unknown, { channel }: ClaimedMessage): boolean {
  return mayHaveBeenAccepted(error) && !channelTypeOf(channel).isIdempotent
}

/**
 * Records a failed attempt: the message is attempted again, given up or ends as uncertain, and its
 * channel is disabled where it no longer works.
 */
export async function recordFailure(
  message: ClaimedMessage,
  error: unknown,
  deps: SendDeps,
): Promise<void> {
  const { db } = deps
  const { channel } = message
  const type = channelTypeOf(channel)
  if (error instanceof Fault && error.code === 'conflict') return
  const sentence = messageOf(error)
  if (type.problem(deps)) return void (await markMessageEnded(db, message, 'failed', sentence))
  const isOnlyThisMessage = isUncertain(error, message) || type.isFinal(error)
  const retryAt = isOnlyThisMessage ? null : nextAttemptAt(message, error)
  const failingSince = await recordChannelFailure(db, channel.id, sentence, {
    // A channel whose messages have an order waits as a whole.
    retryAt: type.perMinute === null ? null : retryAt,
    isDead: error instanceof Dead,
  })
  if (isUncertain(error, message)) await markMessageEnded(db, message, 'uncertain', sentence)
  else if (type.isFinal(error)) await markMessageEnded(db, message, 'failed', sentence)
  else await retryOrGiveUp(message, retryAt, sentence, deps)
  if (type.isGone(error)) await disableAndAlert(channel, disabledReasons.gone, deps)
  else if (error instanceof Dead && wasDead(channel))
    await disableAndAlert(channel, disabledReasons.dead(sentence), deps)
  else if (Date.now() - failingSince.getTime() > DISABLE_AFTER_MS) {
    await disableAndAlert(channel, disabledReasons.failing(sentence), deps)
  }
}

/** When a message is attempted again; null after its last attempt. */
function nextAttemptAt({ channel, attempts, summarises }: ClaimedMessage, error: unknown) {
  const { retryDelaysMs } = channelTypeOf(channel)
  const delayMs = delayOf(error) ?? retryDelaysMs[attempts - 1]
  if (delayMs !== undefined) return new Date(Date.now() + delayMs)
  return summarises > 0 ? new Date(Date.now() + SUMMARY_RETRY_MS) : null
}

/** Milliseconds that the service named. */
function delayOf(error: unknown): number | undefined {
  if (error instanceof Dead) return DEAD_RETRY_MS
  if (!(error instanceof Later) || error.seconds === undefined) return undefined
  const { least, most } = RETRY_AFTER_MS
  return Math.min(most, Math.max(least, error.seconds * 1000))
}

async function retryOrGiveUp(
  message: ClaimedMessage,
  retryAt: Date | null,
  error: string,
  { db }: Pick<SendDeps, 'db'>,
): Promise<void> {
  const { giveUpAfterMs } = channelTypeOf(message.channel)
  const isSummarised = giveUpAfterMs !== null && message.summarises === 0
  const waited = (retryAt?.getTime() ?? Infinity) - message.createdAt.getTime()
  const isOver = isSummarised && waited > giveUpAfterMs
  if (retryAt && !isOver) await OUTBOX.putBack(db, [message], retryAt, { error })
  else if (!isSummarised) await markMessageEnded(db, message, 'failed', error)
  else await giveUpMessage(db, message, gaveUp(error), new Date(Date.now() + SUMMARY_RETRY_MS))
}

function wasDead({ deadAt }: ChannelRow): boolean {
  return deadAt !== null && Date.now() - deadAt.getTime() < DEAD_WINDOW_MS
}

/** Disables a channel and alerts the workspace on its other channels. */
async function disableAndAlert(
  channel: ChannelRow,
  reason: string,
  { db }: Pick<SendDeps, 'db'>,
): Promise<void> {
  const { id, workspaceId } = channel
  await db.transaction().execute(async (trx) => {
    if (!(await disableChannel(trx, id, reason))) return
    await raiseAlert(trx, {
      workspaceId,
      kind: 'channel.disabled',
      key: `channel.disabled ${id} ${Date.now()}`,
      incident: channelIncident(id),
      phase: 'open',
      severity: 'error',
      ...describeDisabledChannel(channelTypeOf(channel).nameOf(channel), reason),
      path: '/alerts/channels',
      at: new Date(),
    })
  })
}
