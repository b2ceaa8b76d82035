import type { FastifyReply, FastifyRequest, preValidationAsyncHookHandler } from 'fastify'
import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { Fault } from '../../errors.ts'
import { failures, Uuid } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { isKnown } from '../../abuse/export/etag.ts'
import { bouncerKeyOf, requireBouncerKey } from '../../fleet/bouncer-key.ts'
import { BouncerHeaders } from '../../fleet/crowdsec/shapes.ts'
import { eventJson, eventsOf, hashesOf, manifestOf, type MispEvent } from './misp.ts'
import { fleetSource, sharedSource, type Source, type SourceDeps } from './sources.ts'
import type { Publisher } from './stix.ts'

type Feed = {
  path: string
  /** Completes summaries: “of the blocklist”. */
  of: string
  operation: string
  preValidation?: preValidationAsyncHookHandler
  sourceOf: (request: FastifyRequest) => Source
}

/** `…/misp/`: both lists as feeds of MISP, the fleet list with a bouncer key. */
export function mispRoutes(app: App, deps: SourceDeps): void {
  feedRoutes(app, {
    path: '/api/v1/abuse/misp',
    of: 'the blocklist',
    operation: '',
    sourceOf: () => sharedSource(deps),
  })
  feedRoutes(app, {
    path: '/api/v1/abuse/fleet/misp',
    of: 'the fleet list',
    operation: 'Fleet',
    preValidation: requireBouncerKey(deps.fleets.followers),
    sourceOf: (request) => fleetSource(deps, bouncerKeyOf(request).workspaceId),
  })
}

const notModified = { type: 'null', description: 'Not changed.' }

type Content = (events: MispEvent[], publisher: Publisher) => Iterable<string>

function feedRoutes(app: App, feed: Feed): void {
  const { path, of, operation, preValidation, sourceOf } = feed
  const isFleet = preValidation !== undefined
  const common = {
    config: { limit: 'list exports' as const, ...(isFleet && { key: 'bouncer key' as const }) },
    ...(preValidation && { preValidation }),
  }
  const headers = isFleet ? { headers: BouncerHeaders } : {}
  const answers = (type: string) => ({
    200: { content: { [type]: { schema: type === 'text/csv' ? Type.String() : Type.Any() } } },
    304: notModified,
    ...failures,
  })

  async function send(
    request: FastifyRequest,
    reply: FastifyReply,
    type: string,
    content: Content,
  ) {
    const { publisher, read } = sourceOf(request)
    const { version, indicators } = await read()
    reply.header('cache-control', isFleet ? 'private, no-cache' : 'public, no-cache')
    reply.header('etag', `"${version}"`)
    if (isKnown(request.headers['if-none-match'], version)) return reply.code(304).send()
    const events = eventsOf(publisher, indicators)
    return reply.type(type).send(Readable.from(content(events, publisher)))
  }

  app.get(
    `${path}/manifest.json`,
    {
      ...common,
      schema: {
        operationId: `get${operation}MispManifest`,
        summary: `Get ${of} as a feed of MISP: its manifest`,
        description: 'An event for each day on which addresses were listed.',
        ...headers,
        response: answers('application/json'),
      },
    },
    async (request, reply) =>
      send(request, reply, 'application/json', (events, publisher) => [
        JSON.stringify(manifestOf(publisher, events)),
      ]),
  )
  app.get(
    `${path}/hashes.csv`,
    {
      ...common,
      schema: {
        operationId: `get${operation}MispHashes`,
        summary: `Get ${of} as a feed of MISP: the MD5 of each address, with its event`,
        ...headers,
        response: answers('text/csv'),
      },
    },
    async (request, reply) => send(request, reply, 'text/csv; charset=utf-8', hashesOf),
  )
  app.get(
    `${path}/:uuid.json`,
    {
      ...common,
      schema: {
        operationId: `get${operation}MispEvent`,
        summary: `Get ${of} as a feed of MISP: an event`,
        ...headers,
        params: Type.Object({ uuid: Uuid }),
        response: answers('application/json'),
      },
    },
    async (request, reply) =>
      send(request, reply, 'application/json', (events, publisher) => {
        const event = events.find(({ uuid }) => uuid === request.params.uuid)
        if (!event)
          throw new Fault('not_found', 'The event was not found. Read the manifest again.')
        return eventJson(publisher, event)
      }),
  )
}
