import type { FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import { callerOf } from '../../http/auth.ts'
import { Done, responses, Uuid } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import type { DB } from '../../store/tables.ts'
import {
  DEFAULT_HOLD_SECONDS,
  LISTENER_LEASE_SECONDS,
  MAX_ANSWER_BYTES,
  MAX_ANSWER_HEADERS,
  MAX_HOLD_SECONDS,
} from '../limits.ts'
import { addListener, answerRequest, endListener, keepListener } from './listeners.ts'

type ListenerRoutesDeps = {
  db: Kysely<DB>
  /** Called with the token of the endpoint whose listener changed. */
  forget: (token: string) => void
}

const BASE = '/api/webhook/endpoints/:id'
const PATH = `${BASE}/listeners`
const params = Type.Object({ id: Uuid })
const listenerParams = Type.Object({ id: Uuid, listenerId: Uuid })

const Lease = Type.Object({
  success: Type.Literal(true),
  listener: Type.Object({
    id: Uuid,
    leaseSeconds: Type.Integer({ description: 'Renew it in a third of that time.' }),
  }),
})

const Answer = Type.Object({
  listener: Type.String({ format: 'uuid', description: 'The id of the listener.' }),
  status: Type.Integer({ minimum: 200, maximum: 599 }),
  headers: Type.Array(
    Type.Tuple([Type.String({ maxLength: 200 }), Type.String({ maxLength: 16_384 })]),
    {
      maxItems: MAX_ANSWER_HEADERS,
      description: 'Those that a response cannot have are left out.',
    },
  ),
  bodyBase64: Type.String({
    maxLength: Math.ceil(MAX_ANSWER_BYTES / 3) * 4,
    description: `Up to ${MAX_ANSWER_BYTES} bytes.`,
  }),
})

/** Registers the routes by which a program answers the senders of an endpoint. */
export function listenerRoutes(app: App, { db, forget }: ListenerRoutesDeps): void {
  app.post(
    PATH,
    {
      schema: {
        summary: 'Answer the senders of a webhook endpoint',
        description:
          'Senders then wait for `POST …/requests/{requestId}/answer`. One listener answers at a time; without an answer in ' +
          'time, the sender gets the endpoint’s own response, with `X-Webhook-Answer: fallback`. Rules answer first.',
        params,
        body: Type.Object({
          holdSeconds: Type.Number({
            minimum: 1,
            maximum: MAX_HOLD_SECONDS,
            default: DEFAULT_HOLD_SECONDS,
            description: 'Seconds for which a sender waits.',
          }),
        }),
        response: responses(Lease, 201),
      },
    },
    async (request, reply) => {
      const { holdSeconds } = request.body
      const { id, token } = await addListener(db, endpointOf(request), holdSeconds)
      forget(token)
      const listener = { id, leaseSeconds: LISTENER_LEASE_SECONDS }
      return reply.code(201).send({ success: true, listener })
    },
  )
  app.post(
    `${PATH}/:listenerId/renew`,
    {
      schema: {
        summary: 'Renew the lease of a listener',
        params: listenerParams,
        response: responses(Done),
      },
    },
    async (request) => {
      await keepListener(db, endpointOf(request), request.params.listenerId)
      return { success: true }
    },
  )
  app.delete(
    `${PATH}/:listenerId`,
    {
      schema: {
        summary: 'End a listener',
        params: listenerParams,
        response: responses(Done),
      },
    },
    async (request) => {
      forget(await endListener(db, endpointOf(request), request.params.listenerId))
      return { success: true }
    },
  )
  app.post(
    `${BASE}/requests/:requestId/answer`,
    {
      schema: {
        summary: 'Answer the sender of a captured request',
        description: 'Once. A late answer is shown on the request.',
        params: Type.Object({ id: Uuid, requestId: Uuid }),
        body: Answer,
        response: responses(Done, 201),
      },
    },
    async (request, reply) => {
      await answerRequest(db, endpointOf(request), request.params.requestId, request.body)
      return reply.code(201).send({ success: true })
    },
  )
}

function endpointOf(request: FastifyRequest): { workspaceId: string; endpointId: string } {
  const { id } = request.params as { id: string }
  return { workspaceId: callerOf(request).workspaceId, endpointId: id }
}
