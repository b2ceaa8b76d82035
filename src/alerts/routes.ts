import { Type } from 'typebox'
import { Fault } from '../errors.ts'
import { callerOf } from '../http/auth.ts'
import type { Role } from '../http/access.ts'
import { responses, Done, paginationOf, sliceOf, Success, Uuid } from '../http/schema.ts'
import type { App } from '../http/server.ts'
import { notifyChange } from '../store/changes.ts'
import type { SendDeps } from './channels/channel-type.ts'
import { changeChannel, createChannel, requireChannel, testChannel } from './channels/channels.ts'
import { confirmWithCode, sendNewCode } from './channels/confirmation.ts'
import {
  channelIncident,
  deleteChannel,
  insertFirstChannel,
  listChannels,
  type ChannelRow,
} from './channels/store.ts'
import { listDeliveries } from './delivery/store.ts'
import { closeIncident, countIncidents, findIncident, listIncidents } from './incidents/store.ts'
import {
  AlertPage,
  AlertQuery,
  Channel,
  ChannelChanges,
  ChannelTypeInfo,
  Confirmation,
  CreatedChannel,
  Incident,
  IncidentPage,
  IncidentQuery,
  NewChannel,
  TestResult,
} from './shapes.ts'
import { silenceRoutes } from './silence/routes.ts'
import { listHandling } from './silence/store.ts'
import { countAlerts, listAlerts } from './store.ts'
import { presentAlerts, presentChannel, presentChannelTypes, presentIncident } from './view.ts'

const tags = ['Alerts']
const params = Type.Object({ id: Uuid })

/** `/api/v1/alerts…`: the alerts of a workspace and its channels. */
export function alertRoutes(app: App, deps: SendDeps): void {
  listRoute(app, deps)
  incidentRoutes(app, deps)
  channelRoutes(app, deps)
  confirmationRoutes(app, deps)
  silenceRoutes(app, deps)
}

function listRoute(app: App, { db, relay, baseUrl }: SendDeps): void {
  app.get(
    '/api/v1/alerts',
    {
      schema: {
        summary: 'List alerts',
        tags,
        querystring: AlertQuery,
        response: responses(Success(AlertPage)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { page, limit, ...filter } = request.query
      const total = await countAlerts(db, workspaceId, filter)
      const rows = await listAlerts(db, workspaceId, filter, sliceOf({ page, limit }))
      const deliveries = await listDeliveries(
        db,
        rows.map(({ id }) => id),
      )
      const pagination = paginationOf({ page, limit }, total)
      return {
        success: true,
        data: {
          alerts: presentAlerts(rows, deliveries, baseUrl),
          pagination,
          mail: relay !== null,
        },
      }
    },
  )
}

function incidentRoutes(app: App, { db, baseUrl }: SendDeps): void {
  app.get(
    '/api/v1/alerts/incidents',
    {
      schema: {
        summary: 'List incidents',
        description:
          'A problem from its first alert to the one that resolves it. Open ones first, then the newest.',
        tags,
        querystring: IncidentQuery,
        response: responses(Success(IncidentPage)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { page, limit, ...filter } = request.query
      const total = await countIncidents(db, workspaceId, filter)
      const rows = await listIncidents(db, workspaceId, filter, sliceOf({ page, limit }))
      const handling = await listHandling(
        db,
        rows.map(({ id }) => id),
      )
      const byId = new Map(handling.map((row) => [row.id, row]))
      const incidents = rows.map((row) => presentIncident(row, byId.get(row.id), baseUrl))
      return {
        success: true,
        data: { incidents, pagination: paginationOf({ page, limit }, total) },
      }
    },
  )
  app.get(
    '/api/v1/alerts/incidents/:id',
    {
      schema: {
        summary: 'Show an incident',
        description: 'Its alerts are those of `GET /api/v1/alerts?incidentId=`.',
        tags,
        params,
        response: responses(Success(Incident)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const row = await findIncident(db, workspaceId, request.params.id)
      if (!row) throw new Fault('not_found', 'Incident not found.')
      const [handling] = await listHandling(db, [row.id])
      return { success: true, data: presentIncident(row, handling, baseUrl) }
    },
  )
}

function channelRoutes(app: App, deps: SendDeps): void {
  const { db } = deps
  const present = (row: ChannelRow, role: Role) => presentChannel(row, deps, role)
  app.get(
    '/api/v1/alerts/channels',
    {
      schema: {
        summary: 'List alert channels',
        description: 'The first channel is the email address of the owner.',
        tags,
        response: responses(Success(Type.Array(Channel))),
      },
    },
    async (request) => {
      const caller = callerOf(request)
      await insertFirstChannel(db, caller.workspaceId)
      const channels = await listChannels(db, caller.workspaceId)
      return { success: true, data: channels.map((channel) => present(channel, caller.role)) }
    },
  )
  app.get(
    '/api/v1/alerts/channel-types',
    {
      schema: {
        summary: 'List the types of alert channels',
        description: 'Each with the fields of its settings, for a form.',
        tags,
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
        tags,
        body: NewChannel,
        response: responses(Success(CreatedChannel), 201),
      },
    },
    async (request, reply) => {
      const { workspaceId, role } = callerOf(request)
      await insertFirstChannel(db, workspaceId)
      const { channel, secret } = await createChannel(deps, { id: workspaceId }, request.body)
      return reply.code(201).send({ success: true, data: { ...present(channel, role), secret } })
    },
  )
  app.patch(
    '/api/v1/alerts/channels/:id',
    {
      schema: {
        summary: 'Update an alert channel',
        description:
          'Settings that are not given keep their values. `enabled: true` also turns on a channel that was disabled after a week of failures.',
        tags,
        params,
        body: ChannelChanges,
        response: responses(Success(Channel)),
      },
    },
    async (request) => {
      const { workspaceId, role } = callerOf(request)
      const channel = await changeChannel(deps, workspaceId, request.params.id, request.body)
      return { success: true, data: present(channel, role) }
    },
  )
  app.delete(
    '/api/v1/alerts/channels/:id',
    {
      schema: {
        summary: 'Delete an alert channel',
        tags,
        params,
        response: responses(Done),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { id } = await requireChannel(deps, workspaceId, request.params.id)
      await deleteChannel(db, workspaceId, id)
      await closeIncident(db, workspaceId, channelIncident(id))
      await notifyChange(db, workspaceId, 'alerts', id)
      return { success: true }
    },
  )
}

function confirmationRoutes(app: App, deps: SendDeps): void {
  app.post(
    '/api/v1/alerts/channels/:id/test',
    {
      config: { unaudited: true },
      schema: {
        summary: 'Send a test alert',
        description:
          'Responds when the test was accepted, else with the error of the relay or the receiver. Chat and push services get a problem that begins and ends.',
        tags,
        params,
        response: responses(Success(TestResult)),
      },
    },
    async (request) => {
      const channel = await requireChannel(deps, callerOf(request).workspaceId, request.params.id)
      return { success: true, data: { responses: await testChannel(deps, channel) } }
    },
  )
  app.post(
    '/api/v1/alerts/channels/:id/code',
    {
      config: { unaudited: true },
      schema: {
        summary: 'Send a new confirmation code',
        tags,
        params,
        response: responses(Done),
      },
    },
    async (request) => {
      await sendNewCode(
        deps,
        await requireChannel(deps, callerOf(request).workspaceId, request.params.id),
      )
      return { success: true }
    },
  )
  app.post(
    '/api/v1/alerts/channels/:id/confirm',
    {
      schema: {
        summary: 'Confirm an email address',
        tags,
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
      return { success: true, data: presentChannel(confirmed, deps, role) }
    },
  )
}
