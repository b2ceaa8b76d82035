import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import { MAX_CHANNELS_PER_WORKSPACE } from '../limits.ts'
import { TEST_ALERT, TEST_RESOLVED } from '../messages.ts'
import { closeIncident } from '../incidents.sql.ts'
import { requireTimeZone } from '../quiet-hours.ts'
import type { NewChannelBody } from '../shapes.ts'
import type { AlertRow } from '../alerts.sql.ts'
import type { SendDeps, SendResult } from './channel-type.ts'
import { claimMailOf, createCode, sendFirstCode } from './confirmation/confirmation.ts'
import { Dead, Later, Rejected } from './outcomes.ts'
import { channelTypeOf } from './channel-types.ts'
import { channelIncident, type ChannelRow, type ChannelSettings } from './channel.ts'
import {
  countChannels,
  createChannelId,
  findChannel,
  insertChannel,
  updateChannel,
  updateEncryptedSettings,
} from './alert-channels.sql.ts'
import { isMemberAddress } from './confirmation/channel-confirmation.sql.ts'

/**
 * Creates a channel. An email address other than a member’s own gets a code first; where that
 * email fails the channel shows the problem, and a new code can be requested. A secret is returned
 * only here.
 * @param workspace with the address of the client
 * @throws Fault `invalid_request`, `conflict`, `target_not_allowed`; `rate_limited` when no code
 *   may be sent now
 */
export async function createChannel(
  deps: SendDeps,
  workspace: { id: string; ip: string },
  body: NewChannelBody,
): Promise<{ channel: ChannelRow; secret: string | null }> {
  const { db, secretKey } = deps
  const type = channelTypeOf(body)
  if (body.quietHours) requireTimeZone(body.quietHours)
  if ((await countChannels(db, workspace.id)) >= MAX_CHANNELS_PER_WORKSPACE) {
    throw new Fault(
      'conflict',
      `A workspace can have up to ${MAX_CHANNELS_PER_WORKSPACE} channels. Delete one first.`,
    )
  }
  const id = await createChannelId(db)
  const prepared = type.prepare(id, body, deps)
  const { target } = prepared
  const isConfirmed = !type.isEmail || (await isMemberAddress(db, workspace.id, target))
  const confirmation = isConfirmed ? null : createCode()
  const {
    label = '',
    kinds = null,
    minSeverity = null,
    criticalAnytime = false,
    actionLinks = true,
  } = body
  const channel = await insertChannel(db, {
    id,
    workspaceId: workspace.id,
    type: body.type,
    ...prepared,
    label,
    kinds,
    minSeverity,
    criticalAnytime,
    actionLinks,
    quietHours: body.quietHours ?? null,
    confirmedAt: isConfirmed ? new Date() : null,
    codeHash: confirmation && confirmation.codeHash,
  })
  if (!channel) throw new Fault('conflict', `A channel to ${type.nameOf(prepared)} already exists.`)
  const problem =
    confirmation && deps.relay
      ? await sendFirstCode(deps, channel, { code: confirmation.code, ip: workspace.ip })
      : null
  await notifyChange(db, workspace.id, 'alerts', id)
  const secret = type.secretOf(channel, secretKey)
  return { channel: { ...channel, lastError: problem && problem.message }, secret }
}

/** @throws Fault `invalid_request`, `not_found` */
export async function changeChannel(
  deps: SendDeps,
  workspaceId: string,
  id: string,
  { settings: given, ...settings }: ChannelSettings & { settings?: Record<string, string> },
): Promise<ChannelRow> {
  const { db } = deps
  if (settings.quietHours) requireTimeZone(settings.quietHours)
  if (given) await changeSettings(deps, await requireChannel(deps, workspaceId, id), given)
  const channel = (await updateChannel(db, workspaceId, id, settings)) ?? channelNotFound()
  if (settings.enabled !== undefined) await closeIncident(db, workspaceId, channelIncident(id))
  await notifyChange(db, workspaceId, 'alerts', id)
  return channel
}

async function changeSettings(
  deps: SendDeps,
  channel: ChannelRow,
  given: Record<string, string>,
): Promise<void> {
  const type = channelTypeOf(channel)
  if (!type.change) {
    const sentence = `A channel of type ${type.id} has no settings that can change. Create another.`
    throw new Fault('invalid_request', sentence, {
      details: [{ path: 'settings', message: 'cannot change' }],
    })
  }
  const prepared = type.change(channel, given, deps)
  if (!(await updateEncryptedSettings(deps.db, channel.id, prepared)))
    throw new Fault('conflict', `A channel to ${type.nameOf(prepared)} already exists.`)
}

/**
 * Stores settings that the service replaced. Where a member changed them meanwhile, or has a channel
 * with the same, the service says so again at the next message.
 */
export async function saveReplacedSettings(
  deps: SendDeps,
  channel: ChannelRow,
  { changed }: SendResult,
): Promise<void> {
  const prepared = changed && channelTypeOf(channel).change?.(channel, changed, deps)
  if (!prepared) return
  await updateEncryptedSettings(deps.db, channel.id, prepared, channel.settingsEncrypted)
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
export async function testChannel(deps: SendDeps, channel: ChannelRow): Promise<string[]> {
  if (!channel.confirmedAt)
    throw new Fault('conflict', 'Confirm this address first, with the code from the email.')
  const type = channelTypeOf(channel)
  const problem = type.problem(deps)
  if (problem) throw new Fault('unavailable', problem)
  if (type.isEmail) await claimMailOf(deps, 'test', channel.workspaceId, channel.target)
  const hasEnd = type.change !== undefined
  try {
    const opened = await sendTest(deps, channel, hasEnd ? { phase: 'open' } : {}, null)
    await saveReplacedSettings(deps, channel, opened)
    if (!hasEnd) return words(opened)
    const end = { ...TEST_RESOLVED, phase: 'resolved' as const }
    const closed = await sendTest(deps, channel, end, opened.ref ?? null)
    return [...words(opened), ...words(closed)]
  } catch (error) {
    throw testFault(error)
  }
}

const words = ({ words: text }: SendResult) => (text === undefined ? [] : [text])

/**
 * Sends a test with the settings of a channel that does not exist.
 * @throws Fault `invalid_request`, `target_not_allowed`, and the service’s error
 */
export async function testSettings(
  deps: SendDeps,
  workspaceId: string,
  body: NewChannelBody,
): Promise<string[]> {
  const type = channelTypeOf(body)
  if (!type.change) {
    const sentence = `A channel of type ${type.id} can be tested once it is created.`
    throw new Fault('invalid_request', sentence)
  }
  const id = randomUUID()
  const now = new Date()
  const channel: ChannelRow = {
    ...UNSAVED,
    ...type.prepare(id, body, deps),
    id,
    workspaceId,
    type: body.type,
    confirmedAt: now,
    createdAt: now,
  }
  return testChannel(deps, channel)
}

/** Settings of a channel that do not matter to a test. */
const UNSAVED = {
  label: '',
  kinds: null,
  minSeverity: null,
  criticalAnytime: false,
  quietHours: null,
  enabled: true,
  actionLinks: false,
  disabledReason: null,
  failingSince: null,
  lastError: null,
  deadAt: null,
  lastSentAt: null,
}

function sendTest(
  deps: SendDeps,
  channel: ChannelRow,
  more: Partial<AlertRow>,
  ref: string | null,
): Promise<SendResult> {
  const type = channelTypeOf(channel)
  const id = randomUUID()
  const incident = type.change ? { incident: `test/${channel.id}` } : {}
  const alerts = [{ ...TEST_ALERT, id, at: new Date(), ...incident, ...more }]
  const message = { id, channel, alerts, ref, beforeHandover: async () => {} }
  return type.send(message, deps, AbortSignal.timeout(type.testDeadlineMs))
}

/** The service’s own words, as an error of the API. */
function testFault(error: unknown): unknown {
  if (error instanceof Later) {
    const options = error.seconds === undefined ? {} : { retryAfter: Math.ceil(error.seconds) }
    return new Fault('upstream_rejected', error.message, options)
  }
  if (error instanceof Dead) {
    const details = [{ path: 'settings', message: 'are not accepted by the service' }]
    return new Fault('upstream_rejected', error.message, { details })
  }
  return error instanceof Rejected ? new Fault('upstream_rejected', error.message) : error
}
