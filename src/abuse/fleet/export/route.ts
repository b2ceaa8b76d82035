import { Type } from 'typebox'
import type { FastifyRequest } from 'fastify'
import { failures } from '../../../http/schema.ts'
import type { App } from '../../../http/server.ts'
import { FORMATS } from '../../export/formats.ts'
import { sendFile } from '../../export/route.ts'
import { requireEnabled } from '../../public-feeds/choose-feeds.ts'
import { TAGS } from '../../tags.ts'
import type { Fleets } from '../fleet.ts'
import { FleetExport, FleetExportHeaders, FleetExportQuery } from '../shapes.ts'

/** `/api/v1/abuse/fleet/export`: the list of a workspace as a file. */
export function fleetExportRoute(app: App, { db, followers, fileExports }: Fleets): void {
  app.get(
    '/api/v1/abuse/fleet/export',
    {
      config: { limit: 'fleet lists' },
      preValidation: async (request) => {
        // A request without a valid token gets 401 before anything else about it is checked.
        await followers.require(tokenIn(request))
      },
      schema: {
        operationId: 'exportFleetList',
        summary: 'Download the fleet list with a report token, in all formats of the blocklist',
        description:
          'Contains the banned addresses and, as the settings or the query say, the shared list and public feeds. ' +
          'Networks on an allowlist, and the addresses of your servers and members, are never included. ' +
          'Send the `ETag` as `If-None-Match` to receive 304 while nothing has changed.',
        tags: TAGS,
        headers: FleetExportHeaders,
        querystring: FleetExportQuery,
        response: {
          200: {
            content: {
              'text/plain': { schema: Type.String() },
              'text/csv': { schema: Type.String() },
              'application/json': { schema: FleetExport },
            },
          },
          304: { type: 'null', description: 'Not changed.' },
          ...failures,
        },
      },
    },
    async (request, reply) => {
      const { format = 'plain', feeds, shared = null } = request.query
      const ids = feeds === undefined ? null : feeds.split(',').filter((id) => id !== '')
      if (ids) await requireEnabled(db, ids)
      const { workspaceId } = await followers.require(tokenIn(request))
      const file = await fileExports.file({ workspaceId, format, feeds: ids, shared })
      reply.header('cache-control', 'private, no-cache').header('vary', 'accept-encoding')
      return sendFile(request, reply.type(FORMATS[format].contentType), file)
    },
  )
}

/** A report token in its own header, or as the password of firewalls that know only that. */
function tokenIn({ headers }: FastifyRequest): unknown {
  if (headers['x-report-token'] !== undefined) return headers['x-report-token']
  const [, encoded] = /^Basic +([A-Za-z0-9+/=_-]+)$/i.exec(headers.authorization ?? '') ?? []
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  return text.slice(text.indexOf(':') + 1)
}
