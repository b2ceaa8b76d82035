import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { callerOf } from '../../http/auth.ts'
import { responses, Uuid } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { requireEndpoint } from '../endpoints/endpoints.ts'
import { LISTED_REPLAYS } from '../limits.ts'
import type { DestinationDeps, DestinationOwner } from './destinations.ts'
import { requireReplay, startReplay, stopReplay } from './replays.ts'
import { listReplays } from './replays.sql.ts'
import { NewReplay, WebhookReplay } from './shapes.ts'

const PATH = '/api/webhook/endpoints/:id/replays'
const params = Type.Object({ id: Uuid })
const replayParams = Type.Object({ id: Uuid, replayId: Uuid })
const OneReplay = Type.Object({ success: Type.Literal(true), replay: WebhookReplay })
const AllReplays = Type.Object({
  success: Type.Literal(true),
  replays: Type.Array(WebhookReplay, { description: `The newest ${LISTED_REPLAYS}.` }),
})

/** Registers `/api/webhook/endpoints/{id}/replays…`. */
export function replayRoutes(app: App, deps: DestinationDeps): void {
  const { db } = deps
  app.get(
    PATH,
    {
      schema: {
        summary: 'List replays, newest first',
        params,
        response: responses(AllReplays),
      },
    },
    async (request) => {
      const { workspaceId, endpointId } = ownerOf(request)
      await requireEndpoint(db, workspaceId, endpointId)
      return { success: true, replays: await listReplays(db, endpointId, LISTED_REPLAYS) }
    },
  )
  app.post(
    PATH,
    {
      schema: {
        summary: 'Send captured requests to a destination again',
        description:
          'Beside new requests, with `X-Portreeve-Repeat: replay` and new signatures of the destination. The signature of the sender ' +
          'stays, and receivers may reject it as too old.',
        params,
        body: NewReplay,
        response: responses(OneReplay, 202),
      },
    },
    async (request, reply) => {
      const replay = await startReplay(deps, ownerOf(request), request.body)
      return reply.code(202).send({ success: true, replay })
    },
  )
  app.get(
    `${PATH}/:replayId`,
    {
      schema: {
        summary: 'Get the progress of a replay',
        params: replayParams,
        response: responses(OneReplay),
      },
    },
    async (request) => ({
      success: true,
      replay: await requireReplay(db, ownerOf(request), request.params.replayId),
    }),
  )
  app.delete(
    `${PATH}/:replayId`,
    {
      schema: {
        summary: 'Cancel a replay, and its deliveries that wait',
        params: replayParams,
        response: responses(OneReplay),
      },
    },
    async (request) => ({
      success: true,
      replay: await stopReplay(db, ownerOf(request), request.params.replayId),
    }),
  )
}

function ownerOf(request: FastifyRequest): DestinationOwner {
  const { workspaceId, admin } = callerOf(request)
  return { workspaceId, admin, endpointId: (request.params as { id: string }).id }
}
