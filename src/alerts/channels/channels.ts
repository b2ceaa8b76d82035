import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import { notifyChange } from '../../store/changes.ts'
import { encrypt } from '../../store/encryption.ts'
import type { DB } from '../../store/tables.ts'
import { MAX_CHANNELS_PER_WORKSPACE } from '../limits.ts'
import { TEST_ALERT } from '../messages.ts'
import { closeIncident } from '../incidents/store.ts'
import { requireTimeZone } from '../quiet-hours.ts'
import type { NewChannelBody } from '../shapes.ts'
import type { SendDeps } from './channel-type.ts'
import { claimMailOf, createCode, sendFirstCode } from './confirmation.ts'
import { CHANNEL_TYPES } from './registry.ts'
import {
  channelIncident,
  countChannels,
  createChannelId,
  findChannel,
  insertChannel,
  isMemberAddress,
  secretContext,
  updateChannel,
  type ChannelRow,
  type ChannelSettings,
} from './store.ts'

/**
 * Creates a channel. An email address other than a member’s own gets a code first; where that
 * email fails the channel shows the problem, and a new code can be requested. A secret is returned
 * only here.
 * @throws Fault `invalid_request`, `conflict`, `target_not_allowed`; `rate_limited` when no code
 *   may be sent now
 */
export async function createChannel(
  deps: SendDeps,
  workspace: { id: string },
  body: NewChannelBody,
): Promise<{ channel: ChannelRow; secret: string | null }> {
  const { db, secretKey } = deps
  const type = CHANNEL_TYPES[body.type]
  if (body.quietHours) requireTimeZone(body.quietHours)
  if ((await countChannels(db, workspace.id)) >= MAX_CHANNELS_PER_WORKSPACE) {
    throw new Fault(
      'conflict',
      `A workspace can have up to ${MAX_CHANNELS_PER_WORKSPACE} channels. Delete one first.`,
    )
  }
  const id = await createChannelId(db)
  const target = type.parseTarget(body as never, deps)
  const secret = type.createSecret()
  const isConfirmed = !type.isEmail || (await isMemberAddress(db, workspace.id, target))
  const confirmation = isConfirmed ? null : createCode()
  const { label = '', kinds = null, quietHours = null } = body
  const channel = await insertChannel(db, {
    id,
    workspaceId: workspace.id,
    type: body.type,
    target,
    label,
    kinds,
    quietHours,
    secret: secret && encrypt(secret, secretKey, secretContext(id)),
    confirmedAt: isConfirmed ? new Date() : null,
    codeHash: confirmation && confirmation.codeHash,
  })
  if (!channel) throw new Fault('conflict', `A channel to ${target} already exists.`)
  const problem =
    confirmation && deps.relay ? await sendFirstCode(deps, channel, confirmation.code) : null
  await notifyChange(db, workspace.id, 'alerts', id)
  return { channel: { ...channel, lastError: problem && problem.message }, secret }
}

/** @throws Fault `invalid_request`, `not_found` */
export async function changeChannel(
  { db }: { db: Kysely<DB> },
  workspaceId: string,
  id: string,
  settings: ChannelSettings,
): Promise<ChannelRow> {
  if (settings.quietHours) requireTimeZone(settings.quietHours)
  const channel = (await updateChannel(db, workspaceId, id, settings)) ?? channelNotFound()
  if (settings.enabled !== undefined) await closeIncident(db, workspaceId, channelIncident(id))
  await notifyChange(db, workspaceId, 'alerts', id)
  return channel
}

/** @throws Fault `not_found` */
export async function requireChannel(
  { db }: { db: Kysely<DB> },
  workspaceId: string,
  id: string,
): Promise<ChannelRow> {
  return (await findChannel(db, workspaceId, id)) ?? channelNotFound()
}

function channelNotFound(): never {
  throw new Fault('not_found', 'Alert channel not found.')
}

/**
 * Sends a test at once, also during quiet hours.
 * @throws Fault `conflict` when the channel is not confirmed, `rate_limited`, and the receiver’s
 *   error
 */
export async function testChannel(deps: SendDeps, channel: ChannelRow): Promise<void> {
  if (!channel.confirmedAt)
    throw new Fault('conflict', 'Confirm this address first, with the code from the email.')
  const type = CHANNEL_TYPES[channel.type]
  const problem = type.problem(deps)
  if (problem) throw new Fault('unavailable', problem)
  if (type.isEmail) await claimMailOf(deps, 'test', channel.workspaceId, channel.target)
  const id = randomUUID()
  const alerts = [{ ...TEST_ALERT, id, at: new Date() }]
  const message = { id, channel, alerts, beforeHandover: async () => {} }
  await type.send(message, deps, AbortSignal.timeout(type.testDeadlineMs))
}
