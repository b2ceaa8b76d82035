import { Type } from 'typebox'
import { failures } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { FORMATS } from '../../abuse/export/export-formats.ts'
import { sendFile } from '../../abuse/export/list-export-route.ts'
import { requireEnabled } from '../../public-feeds/choose-feeds.ts'
import { CloudflareItems } from '../../abuse/shapes.ts'
import { bouncerKeyOf, requireBouncerKey } from '../bouncer-key.ts'
import { BouncerHeaders } from '../crowdsec/shapes.ts'
import type { Fleets } from '../fleet.ts'
import { FLEET_PATH } from '../path.ts'
import { FleetExport, FleetExportQuery } from '../shapes.ts'

/** `/api/v1/abuse/fleet/export`: the list of a workspace as a file. */
export function fleetExportRoute(app: App, { db, followers, fileExports }: Fleets): void {
  app.get(
    `${FLEET_PATH}/export`,
    {
      config: { limit: 'fleet lists', key: 'bouncer key' },
      preValidation: requireBouncerKey(followers),
      schema: {
        operationId: 'exportFleetList',
        summary: 'Download the fleet list with a bouncer key, in all formats of the blocklist',
        description:
          'Contains the banned addresses and, as the settings or the query say, the shared list and public feeds. ' +
          'The key is the password of HTTP Basic authentication where a firewall sends no header. ' +
          'Networks on an allowlist, and the addresses of your servers and members, are never included. ' +
          'Send the `ETag` as `If-None-Match` to receive 304 while nothing has changed.',
        headers: BouncerHeaders,
        querystring: FleetExportQuery,
        response: {
          200: {
            content: {
              'text/plain': { schema: Type.String() },
              'text/csv': { schema: Type.String() },
              'application/json': { schema: Type.Union([FleetExport, CloudflareItems]) },
            },
          },
          304: { type: 'null', description: 'Not changed.' },
          ...failures,
        },
      },
    },
    async (request, reply) => {
      const { format = 'plain', feeds, shared = null, bans = true } = request.query
      const ids = feeds === undefined ? null : feeds.split(',').filter((id) => id !== '')
      if (ids) await requireEnabled(db, ids)
      const { workspaceId } = bouncerKeyOf(request)
      const file = await fileExports.file({ workspaceId, format, feeds: ids, shared, bans })
      reply.header('cache-control', 'private, no-cache').header('vary', 'accept-encoding')
      return sendFile(request, reply.type(FORMATS[format].contentType), file)
    },
  )
}
