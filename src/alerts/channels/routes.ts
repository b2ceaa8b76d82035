import { Type } from 'typebox'
import { callerOf, type Caller } from '../../http/auth.ts'
import type { Role } from '../../http/access.ts'
import { Done, responses, Success, Uuid } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { notifyChange } from '../../store/changes.ts'
import { closeIncident } from '../incidents.sql.ts'
import {
  Channel,
  ChannelChanges,
  ChannelTypeInfo,
  Confirmation,
  CreatedChannel,
  NewChannel,
  TestResult,
} from '../shapes.ts'
import { presentChannel, presentChannelTypes } from '../alert-view.ts'
import type { SendDeps } from './channel-type.ts'
import { channelNameOf } from './channel-name.ts'
import {
  changeChannel,
  createChannel,
  requireChannel,
  testChannel,
  testSettings,
} from './channels.ts'
import { confirmWithCode, sendNewCode } from './confirmation/confirmation.ts'
import { channelIncident, type ChannelRow } from './channel.ts'
import {
  countWaiting,
  deleteChannel,
  insertFirstChannel,
  listChannels,
} from './alert-channels.sql.ts'

const params = Type.Object({ id: Uuid })

/** `/api/v1/alerts/channels…`: the channels of a workspace, their tests and confirmation. */
export function channelRoutes(app: App, deps: SendDeps): void {
  managementRoutes(app, deps)
  testRoutes(app, deps)
  confirmationRoutes(app, deps)
}

function managementRoutes(app: App, deps: SendDeps): void {
  const { db } = deps
  const present = (row: ChannelRow, role: Role) => presentOne(deps, row, role)
  app.get(
    '/api/v1/alerts/channels',
    {
      schema: {
        summary: 'List alert channels',
        description: 'The first channel is the email address of the owner.',
        response: responses(Success(Type.Array(Channel))),
      },
    },
    async (request) => {
      const caller = callerOf(request)
      await insertFirstChannel(db, caller.workspaceId)
      return { success: true, data: await presentAll(deps, caller) }
    },
  )
  app.get(
    '/api/v1/alerts/channel-types',
    {
      schema: {
        summary: 'List the types of alert channels',
        description: 'Each with the fields of its settings, for a form.',
        response: responses(Success(Type.Array(ChannelTypeInfo))),
      },
    },
    async () => ({ success: true, data: presentChannelTypes() }),
  )
  app.post(
    '/api/v1/alerts/channels',
    {
      schema: {
        summary: 'Create an alert channel',
        description:
          'An email address other than a member’s own gets a code first. If the email fails, `problem` says why; request a new code at `…/code`. Webhook requests are signed as in Standard Webhooks; the secret is shown only once.',
        body: NewChannel,
        response: responses(Success(CreatedChannel), 201),
      },
    },
    async (request, reply) => {
      const { workspaceId, role } = callerOf(request)
      await insertFirstChannel(db, workspaceId)
      const { channel, secret } = await createChannel(
        deps,
        { id: workspaceId, ip: request.ip },
        request.body,
      )
      return reply
        .code(201)
        .send({ success: true, data: { ...(await present(channel, role)), secret } })
    },
  )
  app.patch(
    '/api/v1/alerts/channels/:id',
    {
      schema: {
        summary: 'Update an alert channel',
        description:
          'Settings that are not given keep their values. `enabled: true` also turns on a channel that was disabled after a week of failures.',
        params,
        body: ChannelChanges,
        response: responses(Success(Channel)),
      },
    },
    async (request) => {
      const { workspaceId, role } = callerOf(request)
      const channel = await changeChannel(deps, workspaceId, request.params.id, request.body)
      return { success: true, data: await present(channel, role) }
    },
  )
  app.delete(
    '/api/v1/alerts/channels/:id',
    {
      schema: {
        summary: 'Delete an alert channel',
        description: 'Its deliveries stay in the list of alerts. What waits is not sent.',
        params,
        response: responses(Done),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const channel = await requireChannel(deps, workspaceId, request.params.id)
      const { id } = channel
      await deleteChannel(db, channel, channelNameOf(channel))
      await closeIncident(db, workspaceId, channelIncident(id))
      await notifyChange(db, workspaceId, 'alerts', id)
      return { success: true }
    },
  )
}

async function presentAll(deps: SendDeps, { workspaceId, role }: Caller) {
  const channels = await listChannels(deps.db, workspaceId)
  const ids = channels.map(({ id }) => id)
  const waiting = await countWaiting(deps.db, ids)
  return channels.map((row) =>
    presentChannel(row, deps, { role, waiting: waiting.get(row.id) ?? 0 }),
  )
}

async function presentOne(deps: SendDeps, row: ChannelRow, role: Role) {
  const waiting = await countWaiting(deps.db, [row.id])
  return presentChannel(row, deps, { role, waiting: waiting.get(row.id) ?? 0 })
}

function testRoutes(app: App, deps: SendDeps): void {
  app.post(
    '/api/v1/alerts/channels/test',
    {
      config: { limit: 'alert tests', unaudited: true },
      schema: {
        operationId: 'testNewAlertChannel',
        summary: 'Test a new alert channel',
        description:
          'Sends a test with these settings and stores nothing. Not for `email`, whose address may need a code, and `webhook`, whose key does not exist yet.',
        body: NewChannel,
        response: responses(Success(TestResult)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      return {
        success: true,
        data: { responses: await testSettings(deps, workspaceId, request.body) },
      }
    },
  )
  app.post(
    '/api/v1/alerts/channels/:id/test',
    {
      config: { limit: 'alert tests', unaudited: true },
      schema: {
        summary: 'Send a test alert',
        description:
          'Responds when the test was accepted, else with the error of the relay or the receiver. Chat and push services get a problem that begins and ends.',
        params,
        response: responses(Success(TestResult)),
      },
    },
    async (request) => {
      const channel = await requireChannel(deps, callerOf(request).workspaceId, request.params.id)
      return { success: true, data: { responses: await testChannel(deps, channel) } }
    },
  )
}

function confirmationRoutes(app: App, deps: SendDeps): void {
  app.post(
    '/api/v1/alerts/channels/:id/code',
    {
      config: { unaudited: true },
      schema: {
        summary: 'Send a new confirmation code',
        params,
        response: responses(Done),
      },
    },
    async (request) => {
      await sendNewCode(
        deps,
        await requireChannel(deps, callerOf(request).workspaceId, request.params.id),
        request.ip,
      )
      return { success: true }
    },
  )
  app.post(
    '/api/v1/alerts/channels/:id/confirm',
    {
      schema: {
        summary: 'Confirm an email address',
        params,
        body: Confirmation,
        response: responses(Success(Channel)),
      },
    },
    async (request) => {
      const { workspaceId, role } = callerOf(request)
      const channel = await requireChannel(deps, workspaceId, request.params.id)
      await confirmWithCode(deps, channel, request.body.code)
      const confirmed = await requireChannel(deps, workspaceId, channel.id)
      return { success: true, data: await presentOne(deps, confirmed, role) }
    },
  )
}
