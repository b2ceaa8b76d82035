import type { FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import { callerOf } from '../../http/auth.ts'
import { Done, responses, Success, Uuid } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import type { DB } from '../../store/tables.ts'
import { AllShares, NewShare, OneShare, SharedRequest } from './shapes.ts'
import { endShare, listEndpointShares, readShared, shareRequest } from './request-shares.ts'
import type { ShareRow } from './request-shares.sql.ts'

type ShareRoutesDeps = { db: Kysely<DB>; baseUrl: string }

const BASE = '/api/webhook/endpoints/:id'

/** Registers the route of shared requests, for everyone who has the link. */
export function sharedRequestRoute(app: App, { db }: Pick<ShareRoutesDeps, 'db'>): void {
  app.get(
    '/api/v1/shared-webhook-requests/:token',
    {
      config: { limit: 'public pages' },
      schema: {
        summary: 'Get a shared webhook request',
        params: Type.Object({ token: Type.String({ maxLength: 100 }) }),
        response: responses(Success(SharedRequest)),
      },
    },
    async (request, reply) => {
      const data = await readShared(db, request.params.token)
      return reply
        .header('cache-control', 'no-store')
        .header('x-robots-tag', 'noindex')
        .send({ success: true, data })
    },
  )
}

/** Registers the links of captured requests. */
export function shareRoutes(app: App, { db, baseUrl }: ShareRoutesDeps): void {
  const present = ({ id, requestId, token, withBody, createdAt, expiresAt }: ShareRow) => ({
    id,
    requestId,
    url: `${baseUrl}/shared-webhook-requests/${token}`,
    body: withBody,
    createdAt,
    expiresAt,
  })
  app.post(
    `${BASE}/requests/:requestId/shares`,
    {
      schema: {
        summary: 'Share a captured request by a public link',
        description:
          'Without the client’s address, and without the values of `Authorization`, cookies and of headers and query fields whose name ' +
          'says that they are a signature, a key, a token or another secret. It ends when the request is deleted.',
        params: Type.Object({ id: Uuid, requestId: Uuid }),
        body: NewShare,
        response: responses(OneShare, 201),
      },
    },
    async (request, reply) => {
      const { requestId } = request.params
      const share = await shareRequest(db, endpointOf(request), requestId, request.body)
      return reply.code(201).send({ success: true, share: present(share) })
    },
  )
  app.get(
    `${BASE}/shares`,
    {
      schema: {
        summary: 'List the public links of an endpoint, newest first',
        params: Type.Object({ id: Uuid }),
        response: responses(AllShares),
      },
    },
    async (request) => {
      const rows = await listEndpointShares(db, endpointOf(request))
      return { success: true, shares: rows.map(present) }
    },
  )
  app.delete(
    `${BASE}/shares/:shareId`,
    {
      schema: {
        summary: 'End a public link',
        params: Type.Object({ id: Uuid, shareId: Uuid }),
        response: responses(Done),
      },
    },
    async (request) => {
      await endShare(db, endpointOf(request), request.params.shareId)
      return { success: true }
    },
  )
}

function endpointOf(request: FastifyRequest) {
  return {
    workspaceId: callerOf(request).workspaceId,
    endpointId: (request.params as { id: string }).id,
  }
}
