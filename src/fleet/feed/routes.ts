import type { FastifyRequest } from 'fastify'
import { openEventWriter } from '../../http/events/event-writer.ts'
import { responses, responsesAs } from '../../http/http-schema.ts'
import { sendText } from '../../http/send-parts.ts'
import type { App } from '../../http/http-server.ts'
import { oneLine } from '../../http/shown-name.ts'
import type { Fleets } from '../fleet.ts'
import { Delta, FollowedList, FollowerHeaders, FollowerQuery } from '../shapes.ts'
import type { SeenServer } from '../fleet.sql.ts'
import { bouncerKeyOf, requireBouncerKey } from '../bouncer-key.ts'
import { FLEET_PATH } from '../path.ts'

/** `/api/v1/abuse/fleet/list` and `…/events`, for servers that block what the fleet list contains. */
export function followerRoutes(app: App, { feeds, followers, presence, streams }: Fleets): void {
  const authenticate = requireBouncerKey(followers)
  app.addHook('preClose', async () => streams.close())
  app.get(
    `${FLEET_PATH}/list`,
    {
      config: { limit: 'fleet lists', key: 'bouncer key' },
      preValidation: authenticate,
      schema: {
        operationId: 'getFleetList',
        summary: 'Get the fleet list with a bouncer key, or its changes since a cursor',
        description:
          'The addresses that the servers of the workspace banned, with the remaining time of each ban.',
        headers: FollowerHeaders,
        querystring: FollowerQuery,
        response: responses(FollowedList),
      },
    },
    async (request, reply) => {
      const { workspaceId } = bouncerKeyOf(request)
      presence.seen(workspaceId, serverOf(request))
      const { text } = await feeds.read(workspaceId, request.query.since ?? null)
      return sendText(reply.type('application/json'), `{"success":true,"data":${text}}`)
    },
  )
  app.get(
    `${FLEET_PATH}/events`,
    {
      config: { limit: 'fleet lists', key: 'bouncer key' },
      exposeHeadRoute: false,
      preValidation: authenticate,
      schema: {
        operationId: 'followFleetList',
        summary: 'Stream the fleet list with a bouncer key',
        description:
          'Server-sent events. Each event `changes` has a cursor as its id. A stream begins with the changes since ' +
          '`since` or `Last-Event-ID`, or with the whole list. Every 15 seconds there is a comment. ' +
          'An account can have up to 1,000 streams, over all workspaces that it answers for.',
        headers: FollowerHeaders,
        querystring: FollowerQuery,
        produces: ['text/event-stream'],
        response: responsesAs('text/event-stream', Delta, 'Changes'),
      },
    },
    async (request, reply) => {
      const since = cursorOf(request.headers['last-event-id']) ?? request.query.since ?? null
      const server = serverOf(request)
      await streams.open(() => openEventWriter(reply), {
        token: bouncerKeyOf(request),
        server,
        since,
      })
    },
  )
}

const MAX_CLIENT_CHARS = 100

function serverOf(request: FastifyRequest): SeenServer {
  return {
    address: request.ip,
    tokenId: bouncerKeyOf(request).id,
    client: oneLine(request.headers['user-agent'] ?? '', MAX_CLIENT_CHARS),
  }
}

function cursorOf(header: unknown): number | null {
  return typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : null
}
