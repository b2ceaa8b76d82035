import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { Fault } from '../../errors.ts'
import { hasScope, isAtLeast } from '../../http/access.ts'
import { callerOf } from '../../http/auth.ts'
import { Done, responses, Uuid } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { requireEndpoint } from '../endpoints/endpoints.ts'
import { findDelivery, listAttempts, listDeliveriesOf, type DeliveryRow } from './deliveries.sql.ts'
import {
  addDestination,
  changeDestination,
  findOpened,
  forwardRequest,
  listOpened,
  pauseDestination,
  presentDestination,
  removeDestination,
  resumeDestination,
  retryNow,
  rotateDestinationSecret,
  type DestinationOwner,
} from './destinations.ts'
import {
  AllDestinations,
  DeliveryDetails,
  DeliveryPage,
  DeliveryQuery,
  DestinationChange,
  DestinationTest,
  DestinationWithSecret,
  ForwardedRequest,
  ForwardPreview,
  NewDestination,
  OneDestination,
  Resumption,
  WebhookDelivery,
} from './shapes.ts'
import { previewForwarding } from './preview-request.ts'
import { testDestination, type TestDeps } from './test-destination.ts'

export type DestinationRoutesDeps = TestDeps & {
  /** Called with the token of the endpoint whose destinations changed. */
  forget: (token: string) => void
}

const BASE = '/api/webhook/endpoints/:id'
const PATH = `${BASE}/destinations`
const params = Type.Object({ id: Uuid })
const destinationParams = Type.Object({ id: Uuid, destinationId: Uuid })
const deliveryParams = Type.Object({ id: Uuid, deliveryId: Uuid })
const OneDelivery = Type.Object({ success: Type.Literal(true), delivery: WebhookDelivery })

/** Registers destinations of an endpoint, and the deliveries to them. */
export function destinationRoutes(app: App, deps: DestinationRoutesDeps): void {
  listRoutes(app, deps)
  oneDestinationRoutes(app, deps)
  actionRoutes(app, deps)
  deliveryRoutes(app, deps)
}

function ownerOf(request: FastifyRequest): DestinationOwner {
  const { workspaceId, admin } = callerOf(request)
  return { workspaceId, admin, endpointId: (request.params as { id: string }).id }
}

/** Whether the caller may only read. */
function hidesSecrets(request: FastifyRequest): boolean {
  const { role, scopes } = callerOf(request)
  return !isAtLeast(role, 'member') || !hasScope(scopes, 'webhooks', 'write')
}

function listRoutes(app: App, deps: DestinationRoutesDeps): void {
  const common = { params }
  app.get(
    PATH,
    {
      schema: {
        summary: 'List the destinations of a webhook endpoint, oldest first',
        ...common,
        response: responses(AllDestinations),
      },
    },
    async (request) => {
      const all = await listOpened(deps, ownerOf(request))
      return {
        success: true,
        destinations: all.map((one) => presentDestination(one, hidesSecrets(request))),
      }
    },
  )
  app.post(
    PATH,
    {
      schema: {
        summary: 'Add a destination, to which requests are forwarded',
        description:
          'Each request arrives at least once: an attempt without an answer is repeated, and `X-Portreeve-Repeat` says so. ' +
          'WEBHOOK_FORWARDING says who may add destinations.',
        ...common,
        body: NewDestination,
        response: responses(DestinationWithSecret, 201),
      },
    },
    async (request, reply) => {
      const { secret, token, ...added } = await addDestination(deps, ownerOf(request), request.body)
      deps.forget(token)
      const destination = presentDestination(added, false)
      return reply.code(201).send({ success: true, destination, secret })
    },
  )
}

function oneDestinationRoutes(app: App, deps: DestinationRoutesDeps): void {
  const common = { params: destinationParams }
  const path = `${PATH}/:destinationId`
  app.get(
    path,
    { schema: { summary: 'Get a destination', ...common, response: responses(OneDestination) } },
    async (request) => {
      const opened = await findOpened(deps, ownerOf(request), request.params.destinationId)
      return { success: true, destination: presentDestination(opened, hidesSecrets(request)) }
    },
  )
  app.put(
    path,
    {
      schema: {
        summary: 'Change settings of a destination',
        ...common,
        body: DestinationChange,
        response: responses(OneDestination),
      },
    },
    async (request) => {
      const { destinationId } = request.params
      const changed = await changeDestination(deps, ownerOf(request), destinationId, request.body)
      deps.forget(changed.token)
      return { success: true, destination: presentDestination(changed, false) }
    },
  )
  app.delete(
    path,
    {
      schema: {
        summary: 'Delete a destination with its deliveries',
        ...common,
        response: responses(Done),
      },
    },
    async (request) => {
      deps.forget(await removeDestination(deps, ownerOf(request), request.params.destinationId))
      return { success: true }
    },
  )
}

function actionRoutes(app: App, deps: DestinationRoutesDeps): void {
  const common = { params: destinationParams }
  const path = `${PATH}/:destinationId`
  app.post(
    `${path}/pause`,
    {
      schema: {
        summary: 'Pause a destination',
        description: 'Its deliveries are held for seven days.',
        ...common,
        response: responses(OneDestination),
      },
    },
    async (request) => {
      const changed = await pauseDestination(deps, ownerOf(request), request.params.destinationId)
      return { success: true, destination: presentDestination(changed, false) }
    },
  )
  app.post(
    `${path}/resume`,
    {
      schema: {
        summary: 'Resume a destination that is paused or off',
        ...common,
        body: Resumption,
        response: responses(OneDestination),
      },
    },
    async (request) => {
      const { destinationId } = request.params
      const { waiting = 'send' } = request.body
      const changed = await resumeDestination(deps, ownerOf(request), destinationId, waiting)
      return { success: true, destination: presentDestination(changed, false) }
    },
  )
  app.post(
    `${path}/rotate-secret`,
    {
      schema: {
        summary: 'Replace the signing secret of a destination',
        description: 'Requests are signed with both secrets for 24 hours.',
        ...common,
        response: responses(DestinationWithSecret),
      },
    },
    async (request) => {
      const { destinationId } = request.params
      const { secret, ...changed } = await rotateDestinationSecret(
        deps,
        ownerOf(request),
        destinationId,
      )
      return { success: true, destination: presentDestination(changed, false), secret }
    },
  )
  app.post(
    `${path}/test`,
    {
      config: { limit: 'alert tests', unaudited: true },
      schema: {
        summary: 'Send a test event to a destination',
        description:
          'A `POST` with `X-Portreeve-Test: 1`, signed as other requests; nothing is stored. The answer of the receiver is shown where its address is public.',
        ...common,
        response: responses(DestinationTest),
      },
    },
    async (request) => {
      const { destinationId } = request.params
      const result = await testDestination(deps, ownerOf(request), destinationId)
      return { success: true, attempt: { delivered: result.kind === null, ...result } }
    },
  )
  app.post(
    `${path}/forward`,
    {
      schema: {
        summary: 'Forward a captured request to a destination',
        description:
          'Whatever its conditions are, and whether or not it was forwarded before. With `edit`, other values are sent in place of those ' +
          'that were captured, with `X-Portreeve-Edited: 1` and an id of its own.',
        ...common,
        body: ForwardedRequest,
        response: responses(OneDelivery, 202),
      },
    },
    async (request, reply) => {
      const { destinationId } = request.params
      const delivery = await forwardRequest(deps, ownerOf(request), destinationId, request.body)
      return reply.code(202).send({ success: true, delivery: presentDelivery(delivery) })
    },
  )
  app.post(
    `${path}/preview`,
    {
      config: { unaudited: true },
      schema: {
        summary: 'Show what a destination would get of a captured request',
        description:
          'After its conditions and its change. Nothing is sent. Signatures and headers of the destination are hidden.',
        ...common,
        body: ForwardedRequest,
        response: responses(ForwardPreview),
      },
    },
    async (request) => {
      const { destinationId } = request.params
      const owner = ownerOf(request)
      const hides = hidesSecrets(request)
      const preview = await previewForwarding(deps, owner, destinationId, request.body, hides)
      return { success: true, ...preview }
    },
  )
}

function deliveryRoutes(app: App, deps: DestinationRoutesDeps): void {
  const { db } = deps
  app.get(
    `${BASE}/deliveries`,
    {
      schema: {
        summary: 'List deliveries, newest first',
        params,
        querystring: DeliveryQuery,
        response: responses(DeliveryPage),
      },
    },
    async (request) => {
      const { workspaceId, endpointId } = ownerOf(request)
      await requireEndpoint(db, workspaceId, endpointId)
      const { cursor, limit, ...filter } = request.query
      const before = cursor === undefined ? null : Number(cursor)
      const rows = await listDeliveriesOf(db, endpointId, filter, { before, limit: limit + 1 })
      const page = rows.slice(0, limit)
      const nextCursor = rows.length > limit ? String(page.at(-1)?.seq) : null
      return { success: true, deliveries: page.map(presentDelivery), nextCursor }
    },
  )
  app.get(
    `${BASE}/deliveries/:deliveryId`,
    {
      schema: {
        summary: 'Get a delivery with its attempts',
        params: deliveryParams,
        response: responses(DeliveryDetails),
      },
    },
    async (request) => {
      const { workspaceId, endpointId } = ownerOf(request)
      await requireEndpoint(db, workspaceId, endpointId)
      const delivery = await findDelivery(db, endpointId, request.params.deliveryId)
      if (!delivery)
        throw new Fault('not_found', 'The delivery was not found, or it has been deleted.')
      const attempts = await listAttempts(db, delivery.id)
      return { success: true, delivery: presentDelivery(delivery), attempts }
    },
  )
  app.post(
    `${BASE}/deliveries/:deliveryId/retry`,
    {
      schema: {
        summary: 'Send a delivery again now',
        description: 'Also one that was delivered. An attempt always follows.',
        params: deliveryParams,
        response: responses(OneDelivery, 202),
      },
    },
    async (request, reply) => {
      const delivery = await retryNow(deps, ownerOf(request), request.params.deliveryId)
      return reply.code(202).send({ success: true, delivery: presentDelivery(delivery) })
    },
  )
}

/** A delivery as the API returns it. */
function presentDelivery({ seq: _seq, dueAt, replayId: _replayId, ...row }: DeliveryRow) {
  return { ...row, nextAttemptAt: row.state === 'waiting' ? dueAt : null }
}
