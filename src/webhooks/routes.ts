import type { FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import { addAuditDetails } from '../accounts/audit/record-change.ts'
import { Fault } from '../errors.ts'
import { callerOf, type Reauthenticate } from '../http/auth.ts'
import { openEventWriter } from '../http/events/event-writer.ts'
import type { LimitName } from '../http/limits/request-limits.ts'
import { responses, responsesAs, Bytes, Done, Uuid } from '../http/http-schema.ts'
import type { App } from '../http/http-server.ts'
import type { DB } from '../store/tables.ts'
import {
  changeEndpoint,
  clearRequests,
  createEndpoint,
  putEndpointByName,
  removeEndpoint,
  replaceResponseSecret,
  requireEndpoint,
  readResponseSecret,
  type EndpointPolicy,
} from './endpoints/endpoints.ts'
import { auditOfSettings } from './endpoints/audit-settings.ts'
import { listEndpoints } from './endpoints/endpoints.sql.ts'
import type { RequestStreams } from './request-streams.ts'
import { MAX_HAR_BYTES, MAX_PAGE_BYTES } from './limits.ts'
import { formatCurl } from './requests/curl-command.ts'
import { toHar } from './requests/har.ts'
import { verifyRequestSignature } from './requests/verify-signature.ts'
import { findRequest, listRequests } from './requests/captured-requests.sql.ts'
import {
  EndpointEvent,
  HttpArchive,
  NamedWebhookSettings,
  NameParams,
  NewResponseSecret,
  OneRequest,
  RequestPage,
  RequestQuery,
  WebhookEndpoint,
  WebhookSettings,
} from './shapes.ts'
import { findAnswer } from './listeners/listeners.sql.ts'
import {
  omitSecrets,
  presentAnswer,
  presentEndpoint,
  presentRequest,
  type EndpointPlaces,
} from './present-request.ts'

export type WebhookRoutesDeps = {
  db: Kysely<DB>
  reauthenticate: Reauthenticate
  streams: RequestStreams
  /** Called with the token of a changed endpoint. */
  forget: (token: string) => void
  /** Ends delayed responses and event streams. */
  endWaiting: () => void
  secretKey: string
  version: string
} & EndpointPolicy &
  EndpointPlaces

const params = Type.Object({ id: Uuid })
const requestParams = Type.Object({ id: Uuid, requestId: Uuid })
const OneEndpoint = Type.Object({ success: Type.Literal(true), endpoint: WebhookEndpoint })
const AllEndpoints = Type.Object({
  success: Type.Literal(true),
  endpoints: Type.Array(WebhookEndpoint),
})
const OneSecret = Type.Object({ success: Type.Literal(true), responseSecret: Type.String() })
const Deleted = Type.Object({ success: Type.Literal(true), deleted: Type.Integer() })

/** Registers `/api/webhook/endpoints…`: endpoints and captured requests. */
export function webhookRoutes(app: App, deps: WebhookRoutesDeps): void {
  app.addHook('preClose', async () => deps.endWaiting())
  endpointRoutes(app, deps)
  responseSecretRoutes(app, deps)
  listRoutes(app, deps)
  requestRoutes(app, deps)
  eventRoute(app, deps)
}

function endpointRoutes(app: App, deps: WebhookRoutesDeps): void {
  const { db } = deps
  const present = (row: Parameters<typeof presentEndpoint>[0]) => presentEndpoint(row, deps)
  app.get(
    '/api/webhook/endpoints',
    {
      schema: {
        summary: 'List webhook endpoints, oldest first',
        response: responses(AllEndpoints),
      },
    },
    async (request) => {
      const rows = await listEndpoints(db, callerOf(request).workspaceId)
      return { success: true, endpoints: rows.map(present) }
    },
  )
  app.post(
    '/api/webhook/endpoints',
    {
      schema: {
        summary: 'Create a webhook endpoint',
        body: WebhookSettings,
        response: responses(OneEndpoint, 201),
      },
    },
    async (request, reply) => {
      const row = await createEndpoint(deps, callerOf(request), request.body)
      deps.forget(row.token)
      return reply.code(201).send({ success: true, endpoint: present(row) })
    },
  )
  app.get(
    '/api/webhook/endpoints/:id',
    {
      schema: {
        summary: 'Get a webhook endpoint',
        params,
        response: responses(OneEndpoint),
      },
    },
    async (request) => {
      const endpoint = await requireEndpoint(db, callerOf(request).workspaceId, request.params.id)
      return { success: true, endpoint: present(omitSecrets(endpoint)) }
    },
  )
  app.put(
    '/api/webhook/endpoints/:id',
    {
      schema: {
        summary: 'Change settings of a webhook endpoint',
        params,
        body: WebhookSettings,
        response: responses(OneEndpoint),
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const before = await requireEndpoint(db, caller.workspaceId, request.params.id)
      const row = await changeEndpoint(deps, caller, request.params.id, request.body)
      deps.forget(row.token)
      addAuditDetails(request, auditOfSettings(omitSecrets(before), row))
      return { success: true, endpoint: present(row) }
    },
  )
  app.put(
    '/api/webhook/endpoints/by-name/:name',
    {
      schema: {
        summary: 'Create or change the webhook endpoint of a name',
        description: 'Answers 201 for a new endpoint, 200 for one that there was.',
        params: NameParams,
        body: NamedWebhookSettings,
        response: { ...responses(OneEndpoint), ...responses(OneEndpoint, 201) },
      },
    },
    async (request, reply) => {
      const { name } = request.params
      const { endpoint, isNew } = await putEndpointByName(
        deps,
        callerOf(request),
        name,
        request.body,
      )
      deps.forget(endpoint.token)
      deps.forget(name)
      return reply.code(isNew ? 201 : 200).send({ success: true, endpoint: present(endpoint) })
    },
  )
  app.delete(
    '/api/webhook/endpoints/:id',
    {
      schema: {
        summary: 'Delete a webhook endpoint with its requests',
        params,
        response: responses(Done),
      },
    },
    async (request) => {
      deps.forget(await removeEndpoint(db, callerOf(request).workspaceId, request.params.id))
      return { success: true }
    },
  )
}

/** Routes of the secret that templates sign with: its owner can read and replace it. */
function responseSecretRoutes(app: App, deps: WebhookRoutesDeps): void {
  const common = { params }
  const path = '/api/webhook/endpoints/:id/response-secret'
  const description =
    '`{{hmac_sha256 …}}` in a response body signs with it. Anyone who knows the URL can request a signature of any data, so it ' +
    'is never the secret that verifies senders.'
  app.get(
    path,
    {
      config: { role: 'member' },
      schema: {
        summary: 'Get the secret that responses are signed with',
        description,
        ...common,
        response: responses(OneSecret),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      return {
        success: true,
        responseSecret: await readResponseSecret(deps, workspaceId, request.params.id),
      }
    },
  )
  app.put(
    path,
    {
      schema: {
        summary: 'Replace the secret that responses are signed with',
        description: `${description} Without \`secret\`, a new one is generated.`,
        ...common,
        body: NewResponseSecret,
        response: responses(OneSecret),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { id } = request.params
      const { secret, token } = await replaceResponseSecret(
        deps,
        workspaceId,
        id,
        request.body.secret,
      )
      deps.forget(token)
      return { success: true, responseSecret: secret }
    },
  )
}

function listRoutes(app: App, deps: WebhookRoutesDeps): void {
  const { db, secretKey, version } = deps
  app.get(
    '/api/webhook/endpoints/:id/requests',
    {
      config: { limit: limitOfList },
      schema: {
        summary: 'List captured requests, newest first',
        params,
        querystring: RequestQuery,
        response: responses(Type.Union([RequestPage, HttpArchive])),
      },
    },
    async (request, reply) => {
      const { cursor, since, until, limit, order, format, ...rest } = request.query
      const endpoint = await requireEndpoint(db, callerOf(request).workspaceId, request.params.id)
      const from = cursor === undefined ? null : Number(cursor)
      const filter = { ...rest, since: dateOf(since), until: dateOf(until) }
      const maxBytes = format === 'har' ? MAX_HAR_BYTES : MAX_PAGE_BYTES
      const { rows, hasMore } = await listRequests(
        db,
        endpoint.id,
        { order, from, limit, maxBytes },
        filter,
      )
      if (format === 'har') {
        reply.header('content-disposition', `attachment; filename="webhook-${endpoint.token}.har"`)
        return toHar(rows, presentEndpoint(endpoint, deps).url, version)
      }
      const last = rows.at(-1)?.seq ?? from
      const nextCursor = last !== null && (hasMore || order === 'asc') ? String(last) : null
      const newest = order === 'asc' ? last : (rows[0]?.seq ?? from)
      const laterCursor = newest === null ? null : String(newest)
      const requests = rows.map((row) => ({
        ...presentRequest(row),
        signature: verifyRequestSignature(row, endpoint, secretKey),
      }))
      return { success: true, requests, nextCursor, laterCursor, hasMore }
    },
  )
  app.delete(
    '/api/webhook/endpoints/:id/requests',
    {
      schema: {
        summary: 'Delete all captured requests',
        params,
        response: responses(Deleted),
      },
    },
    async (request) => {
      const deleted = await clearRequests(db, callerOf(request).workspaceId, request.params.id)
      return { success: true, deleted }
    },
  )
}

/** Limits searches in bodies and HAR exports. A plain page is cheap. */
function limitOfList({ query }: FastifyRequest): LimitName | null {
  const { q, format } = query as { q?: string; format?: string }
  if (format === 'har') return 'HAR exports'
  return q === undefined ? null : 'searches'
}

function dateOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text)
}

function requestRoutes(app: App, deps: WebhookRoutesDeps): void {
  const { db, secretKey } = deps
  const common = { params: requestParams }
  async function find(workspaceId: string, { id, requestId }: { id: string; requestId: string }) {
    const endpoint = await requireEndpoint(db, workspaceId, id)
    const row = await findRequest(db, id, requestId)
    if (!row)
      throw new Fault('not_found', 'The captured request was not found, or it has been deleted.')
    return { endpoint, row }
  }
  app.get(
    '/api/webhook/endpoints/:id/requests/:requestId',
    {
      schema: {
        summary: 'Get a captured request, with its signature verified and a curl command',
        ...common,
        response: responses(OneRequest),
      },
    },
    async (request) => {
      const { endpoint, row } = await find(callerOf(request).workspaceId, request.params)
      const { url } = presentEndpoint(endpoint, deps)
      const signature = verifyRequestSignature(row, endpoint, secretKey)
      const answer = await findAnswer(db, row.id)
      return {
        success: true,
        request: presentRequest(row),
        signature,
        answer: answer ? presentAnswer(answer) : null,
        curl: formatCurl(row, url),
      }
    },
  )
  app.get(
    '/api/webhook/endpoints/:id/requests/:requestId/body',
    {
      schema: {
        summary: 'Get the body of a captured request, byte for byte',
        ...common,
        produces: ['application/octet-stream'],
        response: responsesAs('application/octet-stream', Bytes, 'The body'),
      },
    },
    async (request, reply) => {
      const { row } = await find(callerOf(request).workspaceId, request.params)
      reply.header('content-disposition', `attachment; filename="${row.id}.bin"`)
      reply.header('content-security-policy', "sandbox; default-src 'none'")
      return reply.type('application/octet-stream').send(row.body)
    },
  )
}

function eventRoute(app: App, { db, reauthenticate, streams }: WebhookRoutesDeps): void {
  app.get(
    '/api/webhook/endpoints/:id/events',
    {
      config: { limit: 'webhook streams' },
      exposeHeadRoute: false,
      schema: {
        summary: 'Follow an endpoint (server-sent events)',
        description:
          'Sends an event `request` for each captured request, `endpoint` when settings change or requests are deleted, `skipped` when a ' +
          'stream fell too far behind, and `deleted` at the end. Resumes with `Last-Event-ID`.',
        params,
        headers: Type.Object({
          'last-event-id': Type.Optional(Type.String({ pattern: '^\\d{0,15}$', maxLength: 15 })),
        }),
        produces: ['text/event-stream'],
        response: responsesAs('text/event-stream', EndpointEvent, 'The data of each event'),
      },
    },
    async (request, reply) => {
      const { workspaceId, accountId } = callerOf(request)
      const { id } = await requireEndpoint(db, workspaceId, request.params.id)
      const seen = request.headers['last-event-id']
      // An empty ID is sent by clients that have seen no event.
      const from = seen === undefined || seen === '' ? null : Number(seen)
      const recheckAccess = () => reauthenticate(request)
      const stream = { workspaceId, accountId, endpointId: id, from, recheckAccess }
      const follow = await streams.open(stream)
      await follow(openEventWriter(reply))
    },
  )
}
