import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import { callerOf, type AuthHooks } from '../http/auth.ts'
import { answers, Done, paginationOf, sliceOf, security, Success, Uuid } from '../http/schema.ts'
import type { App } from '../http/server.ts'
import { notifyChange } from '../store/changes.ts'
import type { DB } from '../store/tables.ts'
import {
  changeChannel,
  confirm,
  createChannel,
  requireChannel,
  sendCode,
  testChannel,
  type ChannelDeps,
} from './channels/channels.ts'
import { deleteChannel, insertFirstChannel, listChannels, type ChannelRow } from './channels/store.ts'
import { listDeliveries } from './messages/store.ts'
import { AlertPage, AlertQuery, Channel, ChannelChanges, Confirmation, CreatedChannel, NewChannel } from './shapes.ts'
import { countAlerts, listAlerts } from './store.ts'
import { shownAlerts, shownChannel } from './view.ts'

export type AlertRoutesDeps = ChannelDeps & { db: Kysely<DB>; authHooks: AuthHooks }

const tags = ['Alerts']
const params = Type.Object({ id: Uuid })

/** `/api/v1/alerts…`: what an account was told, and where it is told. */
export function alertRoutes(app: App, deps: AlertRoutesDeps): void {
  listRoute(app, deps)
  channelRoutes(app, deps)
  proofRoutes(app, deps)
}

function listRoute(app: App, { db, authHooks, relay, baseUrl }: AlertRoutesDeps): void {
  app.get(
    '/api/v1/alerts',
    {
      onRequest: authHooks.account,
      schema: {
        summary: 'What I was told, newest first',
        tags,
        security,
        querystring: AlertQuery,
        response: answers(Success(AlertPage)),
      },
    },
    async (request) => {
      const { accountId } = callerOf(request)
      const { page, limit, ...filter } = request.query
      const total = await countAlerts(db, accountId, filter)
      const rows = await listAlerts(db, accountId, filter, sliceOf({ page, limit }))
      const deliveries = await listDeliveries(
        db,
        rows.map(({ id }) => id),
      )
      const pagination = paginationOf({ page, limit }, total)
      return {
        success: true,
        data: { alerts: shownAlerts(rows, deliveries, baseUrl), pagination, mail: relay !== null },
      }
    },
  )
}

function channelRoutes(app: App, deps: AlertRoutesDeps): void {
  const { db, authHooks } = deps
  const shown = (row: ChannelRow) => shownChannel(row, deps.relay !== null)
  app.get(
    '/api/v1/alerts/channels',
    {
      onRequest: authHooks.account,
      schema: {
        summary: 'Where I am told, oldest first',
        description: 'Until an account says otherwise, that is its own mail address.',
        tags,
        security,
        response: answers(Success(Type.Array(Channel))),
      },
    },
    async (request) => {
      const { accountId } = callerOf(request)
      await insertFirstChannel(db, accountId)
      return { success: true, data: (await listChannels(db, accountId)).map(shown) }
    },
  )
  app.post(
    '/api/v1/alerts/channels',
    {
      onRequest: authHooks.account,
      schema: {
        summary: 'Add a mail address or a webhook',
        description:
          'An address that is not the account’s own gets a code first; when the code could not be mailed, `problem` says why, and it is asked for again at `…/code`. A webhook is signed as Standard Webhooks; its secret is shown this once.',
        tags,
        security,
        body: NewChannel,
        response: answers(Success(CreatedChannel), 201),
      },
    },
    async (request, reply) => {
      const { accountId } = callerOf(request)
      await insertFirstChannel(db, accountId)
      const { channel, secret } = await createChannel(deps, { id: accountId }, request.body)
      return reply.code(201).send({ success: true, data: { ...shown(channel), secret } })
    },
  )
  app.patch(
    '/api/v1/alerts/channels/:id',
    {
      onRequest: authHooks.account,
      schema: {
        summary: 'Change a channel; what is not given stays',
        description: '`enabled: true` also switches on again what was switched off after a week of failures.',
        tags,
        security,
        params,
        body: ChannelChanges,
        response: answers(Success(Channel)),
      },
    },
    async (request) => {
      const { accountId } = callerOf(request)
      return { success: true, data: shown(await changeChannel(deps, accountId, request.params.id, request.body)) }
    },
  )
  app.delete(
    '/api/v1/alerts/channels/:id',
    {
      onRequest: authHooks.account,
      schema: { summary: 'Delete a channel', tags, security, params, response: answers(Done) },
    },
    async (request) => {
      const { accountId } = callerOf(request)
      const { id } = await requireChannel(deps, accountId, request.params.id)
      await deleteChannel(db, accountId, id)
      await notifyChange(db, accountId, 'alerts', id)
      return { success: true }
    },
  )
}

function proofRoutes(app: App, deps: AlertRoutesDeps): void {
  const { authHooks } = deps
  app.post(
    '/api/v1/alerts/channels/:id/test',
    {
      onRequest: authHooks.account,
      schema: {
        summary: 'Send a test now',
        description: 'Answers when it was taken; else with the words of the relay or the receiver.',
        tags,
        security,
        params,
        response: answers(Done),
      },
    },
    async (request) => {
      await testChannel(deps, await requireChannel(deps, callerOf(request).accountId, request.params.id))
      return { success: true }
    },
  )
  app.post(
    '/api/v1/alerts/channels/:id/code',
    {
      onRequest: authHooks.account,
      schema: { summary: 'Mail a new code to an address', tags, security, params, response: answers(Done) },
    },
    async (request) => {
      await sendCode(deps, await requireChannel(deps, callerOf(request).accountId, request.params.id))
      return { success: true }
    },
  )
  app.post(
    '/api/v1/alerts/channels/:id/confirm',
    {
      onRequest: authHooks.account,
      schema: {
        summary: 'Confirm an address with the code that was mailed there',
        tags,
        security,
        params,
        body: Confirmation,
        response: answers(Success(Channel)),
      },
    },
    async (request) => {
      const channel = await requireChannel(deps, callerOf(request).accountId, request.params.id)
      const confirmed = await confirm(deps, channel, request.body.code)
      return { success: true, data: shownChannel(confirmed, deps.relay !== null) }
    },
  )
}
