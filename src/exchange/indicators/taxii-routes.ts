import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { Fault } from '../../errors.ts'
import type { App } from '../../http/http-server.ts'
import { isUnavailable } from '../../store/database.ts'
import { passwordOf } from '../../fleet/bouncer-key.ts'
import { isKnown } from '../../abuse/export/etag.ts'
import { fleetSource, sharedSource, type Source, type SourceDeps } from './sources.ts'
import { manifestEntryOf, MAX_OBJECTS, objectOf, readPage, STIX_TYPE, TAXII_TYPE, type Page } from './taxii.ts' // prettier-ignore
import * as shapes from './taxii-shapes.ts'
import { uuidOf } from './indicator-uuid.ts'

const ROOT = '/taxii2/lists/'
const SHARED_ID = uuidOf('taxii shared')
const FLEET_ID = uuidOf('taxii fleet')

/**
 * `/taxii2/…`: both lists as collections of TAXII 2.1, the fleet list with a bouncer key as the
 * password of HTTP Basic authentication.
 */
export function taxiiRoutes(app: App, deps: SourceDeps): void {
  void app.register(async (plain) => {
    const scope = plain.withTypeProvider<TypeBoxTypeProvider>() as App
    scope.setErrorHandler(sendFailure)
    scope.addHook('onRequest', async ({ headers }) => requireAccepted(headers.accept))
    // Clients ask what a person entered, which may lack the slash at the end.
    scope.addHook('onRoute', (route) => {
      const isOther = route.method === 'GET' && route.url.endsWith('/')
      if (isOther) scope.route({ ...route, url: route.url.slice(0, -1) })
    })
    serverRoutes(scope, deps)
    collectionRoutes(scope, deps)
    objectRoutes(scope, deps)
  })
}

const answers = (schema: TSchema) => ({
  200: { content: { [TAXII_TYPE]: { schema } } },
  304: { type: 'null', description: 'Not changed.' } as TSchema,
  '4xx': { content: { [TAXII_TYPE]: { schema: shapes.TaxiiError } } },
  '5xx': { content: { [TAXII_TYPE]: { schema: shapes.TaxiiError } } },
})

const config = { limit: 'list exports', key: 'bouncer key' } as const

/** Not in openapi.json: TAXII 2.1 describes these routes, and its paths end with a slash. */
const describe = (operationId: string, summary: string, schema: TSchema) => ({
  hide: true,
  operationId,
  summary,
  response: answers(schema),
})

function serverRoutes(app: App, { reportsUrl }: Pick<SourceDeps, 'reportsUrl'>): void {
  app.get(
    '/taxii2/',
    {
      config: { limit: 'list exports' },
      schema: describe('discoverTaxii', 'Discover the TAXII 2.1 server', shapes.Discovery),
    },
    async (_request, reply) => {
      const root = `${reportsUrl}${ROOT}`
      return send(reply, {
        title: 'Portreeve',
        description: 'Addresses that attack servers.',
        default: root,
        api_roots: [root],
      })
    },
  )
  app.get(
    ROOT,
    {
      config: { limit: 'list exports' },
      schema: describe('getTaxiiRoot', 'Get the TAXII 2.1 API root', shapes.ApiRoot),
    },
    async (_request, reply) =>
      send(reply, { title: 'Lists', versions: [TAXII_TYPE], max_content_length: 1_048_576 }),
  )
}

function collectionRoutes(app: App, deps: SourceDeps): void {
  app.get(
    `${ROOT}collections/`,
    {
      config,
      schema: describe('listTaxiiCollections', 'List the TAXII 2.1 collections', shapes.Collections), // prettier-ignore
    },
    async (request, reply) => {
      const hasKey = (await workspaceOf(deps, request)) !== null
      const ids = hasKey ? [SHARED_ID, FLEET_ID] : [SHARED_ID]
      return send(reply, { collections: ids.map(collectionOf) })
    },
  )
  app.get(
    `${ROOT}collections/:id/`,
    {
      config,
      schema: {
        ...describe('getTaxiiCollection', 'Get a TAXII 2.1 collection', shapes.Collection),
        params: shapes.CollectionParams,
      },
    },
    async (request, reply) => {
      await sourceOf(deps, request)
      return send(reply, collectionOf(request.params.id))
    },
  )
}

const collectionOf = (id: string) => ({
  id,
  title: id === SHARED_ID ? 'Blocklist' : 'Fleet list',
  description:
    id === SHARED_ID
      ? 'Addresses that several networks reported.'
      : 'Addresses that the servers of the workspace banned.',
  can_read: true,
  can_write: false,
  media_types: [STIX_TYPE],
})

function objectRoutes(app: App, deps: SourceDeps): void {
  const page = async (request: FastifyRequest, objectId?: string) => {
    const source = await sourceOf(deps, request)
    const { version } = await source.read()
    return { source, version, page: await readPage(source, request.query as object, objectId) }
  }
  type PageContent = (source: Source, page: Page) => object

  async function sendPage(
    request: FastifyRequest,
    reply: FastifyReply,
    contentOf: PageContent,
    objectId?: string,
  ) {
    const { source, version, page: found } = await page(request, objectId)
    if (objectId !== undefined && found.members.length === 0)
      throw new Fault('not_found', 'The object was not found.')
    const [first, last] = [found.members[0], found.members.at(-1)]
    if (first && last)
      reply
        .header('x-taxii-date-added-first', first.addedAt.toISOString())
        .header('x-taxii-date-added-last', last.addedAt.toISOString())
    reply.header('etag', `"${version}"`)
    if (isKnown(request.headers['if-none-match'], version)) return reply.code(304).send()
    const { more, next } = found
    const paging = { ...(more && { more }), ...(next !== undefined && { next }) }
    return send(reply, { ...paging, ...contentOf(source, found) })
  }

  const objects: PageContent = ({ publisher }, { members }) =>
    members.length === 0 ? {} : { objects: members.map((member) => objectOf(publisher, member)) }
  const manifest: PageContent = (_source, { members }) =>
    members.length === 0 ? {} : { objects: members.map(manifestEntryOf) }
  const versions: PageContent = (_source, { members }) => ({
    versions: members.map(({ addedAt }) => addedAt.toISOString()),
  })

  const base = `${ROOT}collections/:id`
  app.get(
    `${base}/objects/`,
    {
      config,
      schema: {
        ...describe('listTaxiiObjects', 'Get STIX 2.1 objects of a TAXII collection', shapes.Envelope), // prettier-ignore
        description: `Oldest first, up to ${MAX_OBJECTS} in one answer. Removed addresses are revoked for a week.`,
        params: shapes.CollectionParams,
        querystring: shapes.ObjectQuery,
      },
    },
    async (request, reply) => sendPage(request, reply, objects),
  )
  app.get(
    `${base}/manifest/`,
    {
      config,
      schema: {
        ...describe('getTaxiiManifest', 'List the objects of a TAXII collection', shapes.Manifest),
        params: shapes.CollectionParams,
        querystring: shapes.ObjectQuery,
      },
    },
    async (request, reply) => sendPage(request, reply, manifest),
  )
  app.get(
    `${base}/objects/:objectId/`,
    {
      config,
      schema: {
        ...describe('getTaxiiObject', 'Get an object of a TAXII collection', shapes.Envelope),
        params: shapes.ObjectParams,
        querystring: shapes.ObjectQuery,
      },
    },
    async (request, reply) => sendPage(request, reply, objects, request.params.objectId),
  )
  app.get(
    `${base}/objects/:objectId/versions/`,
    {
      config,
      schema: {
        ...describe('listTaxiiVersions', 'List the versions of an object of a TAXII collection', shapes.Versions), // prettier-ignore
        params: shapes.ObjectParams,
        querystring: shapes.ObjectQuery,
      },
    },
    async (request, reply) => sendPage(request, reply, versions, request.params.objectId),
  )
}

/** As bytes: the framework would rewrite the media type of a text. */
const send = (reply: FastifyReply, body: object) =>
  reply.type(TAXII_TYPE).send(Buffer.from(JSON.stringify(body)))

/** The workspace of the key of a request; null without a valid one. */
async function workspaceOf(
  { fleets }: Pick<SourceDeps, 'fleets'>,
  { headers }: FastifyRequest,
): Promise<string | null> {
  const given = headers['x-api-key'] ?? passwordOf(headers.authorization)
  const owner = await fleets.followers.find(typeof given === 'string' ? given : '')
  return owner?.workspaceId ?? null
}

/** @throws Fault `unauthenticated`, `not_found` */
async function sourceOf(deps: SourceDeps, request: FastifyRequest): Promise<Source> {
  const { id } = request.params as { id: string }
  if (id === SHARED_ID) return sharedSource(deps)
  const workspaceId = id === FLEET_ID ? await workspaceOf(deps, request) : null
  if (workspaceId !== null) return fleetSource(deps, workspaceId)
  if (id === FLEET_ID)
    throw new Fault('unauthenticated', 'Send a bouncer key as the password of HTTP Basic authentication.') // prettier-ignore
  throw new Fault('not_found', 'The collection was not found.')
}

/** TAXII 2.1, section 1.6.8: a client names the media type, with version 2.1 or without. */
function requireAccepted(accept = '*/*'): void {
  const isAccepted = accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    // A parameter's value may be quoted (RFC 9110, 5.6.6).
    const version = parameters
      .find((parameter) => parameter.startsWith('version='))
      ?.replaceAll('"', '')
    const isType = ['*/*', 'application/*', 'application/taxii+json'].includes(type)
    return isType && (version === undefined || version === 'version=2.1')
  })
  if (!isAccepted) throw new NotAcceptable()
}

class NotAcceptable extends Error {
  readonly statusCode = 406
  constructor() {
    super(`Send Accept: ${TAXII_TYPE}`)
  }
}

/** Failures as TAXII 2.1 has them. */
export function sendFailure(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const status = statusOf(error)
  if (status >= 500) request.log.error({ reqId: request.id, err: error }, 'request failed')
  if (status === 401) reply.header('www-authenticate', 'Basic realm="Portreeve"')
  if (error instanceof Fault && error.retryAfter !== undefined)
    reply.header('retry-after', String(Math.ceil(error.retryAfter)))
  const message = status < 500 ? (error as Error).message : 'The request failed.'
  const body = { title: message, http_status: String(status) }
  return send(reply.code(status), body)
}

function statusOf(error: unknown): number {
  if (error instanceof Fault) return error.status
  if ((error as { validation?: unknown }).validation !== undefined) return 400
  if (isUnavailable(error)) return 503
  return (error as { statusCode?: number }).statusCode ?? 500
}
