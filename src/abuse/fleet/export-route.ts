import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { failures } from '../../http/schema.ts'
import type { App } from '../../http/server.ts'
import { isKnown } from '../export/etag.ts'
import type { Entry, Format } from '../export/entry.ts'
import { FORMATS } from '../export/formats.ts'
import type { AbuseServices } from '../create-services.ts'
import { TAGS } from '../tags.ts'
import { bouncerKeyOf, requireBouncerKey } from './bouncer-key.ts'
import { BouncerHeaders } from './crowdsec/shapes.ts'
import { readDelta, type ListedAddress } from './feed/store.ts'
import { findFleet } from './store.ts'

/** Formats that have addresses alone; for nftables and ipset, `portreeve-blocklist` follows the list. */
const FLEET_FORMATS = ['plain', 'mikrotik', 'haproxy', 'nginx', 'nginx-deny', 'cloudflare', 'cloudflare-csv'] as const // prettier-ignore

const ExportQuery = Type.Object({ format: Type.Enum(FLEET_FORMATS, { default: 'plain' }) })

/** `/api/v1/abuse/fleet/export`: the fleet list as a file for firewalls that cannot follow it. */
export function fleetExportRoute(app: App, { db, clock, pageUrl, fleets }: AbuseServices): void {
  app.get(
    '/api/v1/abuse/fleet/export',
    {
      config: { limit: 'list exports', key: 'bouncer key' },
      preValidation: requireBouncerKey(fleets.followers),
      schema: {
        operationId: 'exportFleetList',
        summary:
          'Download the fleet list with a bouncer key, as a file for a firewall or web server',
        description:
          'The key is the password of HTTP Basic authentication where a firewall sends no header. Send the `ETag` as ' +
          '`If-None-Match` to receive 304 while nothing has changed.',
        tags: TAGS,
        headers: BouncerHeaders,
        querystring: ExportQuery,
        response: {
          200: {
            content: {
              'text/plain': { schema: Type.String() },
              'text/csv': { schema: Type.String() },
              'application/json': {
                schema: Type.Array(Type.Object({ ip: Type.String(), comment: Type.String() })),
              },
            },
          },
          304: { type: 'null', description: 'Not changed.' },
          ...failures,
        },
      },
    },
    async (request, reply) => {
      const { workspaceId } = bouncerKeyOf(request)
      const { format } = request.query
      const known = (await findFleet(db, workspaceId))?.cursor ?? 0
      reply.header('cache-control', 'private, no-cache')
      if (isKnown(request.headers['if-none-match'], `${known}-${format}`))
        return sendNotModified(reply, `"${known}-${format}"`)
      const { cursor, added } = await readDelta(db, workspaceId, null)
      reply.header('etag', `"${cursor}-${format}"`).header('x-list-count', String(added.length))
      const list = {
        version: cursor,
        generatedAt: new Date(clock()),
        pageUrl,
        name: 'portreeve_fleet' as const,
      }
      const file: Format = FORMATS[format]
      return sendPieces(reply.type(file.contentType), file.render(list, added.map(entryOf)))
    },
  )
}

const sendNotModified = (reply: FastifyReply, etag: string) =>
  reply.header('etag', etag).code(304).send()

/** A piece at a time, so that others get their turn. */
const sendPieces = (reply: FastifyReply, pieces: Iterable<string>) =>
  reply.send(Readable.from(pieces))

function entryOf({ address, expiresAt, service }: ListedAddress): Entry {
  const at = new Date(expiresAt)
  return {
    address,
    score: 100,
    confidence: 'high',
    services: service === '' ? [] : [service],
    networks: 1,
    firstReportedAt: at,
    lastReportedAt: at,
    expiresAt: at,
  }
}
