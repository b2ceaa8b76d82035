import { callerOf } from '../../http/auth.ts'
import { Done, paginationOf, responses, sliceOf, Success } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import type { Job } from '../../jobs/job.ts'
import type { Queue } from '../../jobs/queue.ts'
import type { WatchDeps } from './check-network.ts'
import {
  FindingQuery,
  NewWatchedNetwork,
  WatchedFindings,
  WatchedNetwork,
  WatchedNetworkList,
  WatchedParam,
} from './shapes.ts'
import { listWatched } from './watched-networks.sql.ts'
import { describeWatched, unwatchNetwork, watchNetwork } from './watched-networks.ts'

const BASE = '/api/v1/abuse/watched-networks'

/** `/api/v1/abuse/watched-networks/…`: networks of a workspace that must not be on a list. */
export function watchedNetworkRoutes(
  app: App,
  { db }: Pick<WatchDeps, 'db'>,
  { queue, checkNetworks }: { queue: Pick<Queue, 'enqueue'>; checkNetworks: Job },
): void {
  app.get(
    BASE,
    {
      schema: {
        operationId: 'listWatchedNetworks',
        summary: 'List watched networks',
        response: responses(WatchedNetworkList),
      },
    },
    async (request) => ({
      success: true,
      data: await listWatched(db, callerOf(request).workspaceId),
    }),
  )
  app.post(
    BASE,
    {
      schema: {
        operationId: 'createWatchedNetwork',
        summary: 'Watch a network',
        description:
          'You get an alert when an address in it is on the attack list or in an enabled public feed. Checked at once, then ' +
          'every five minutes. Exports of the workspace never contain it.',
        body: NewWatchedNetwork,
        response: responses(Success(WatchedNetwork), 201),
      },
    },
    async (request, reply) => {
      const data = await watchNetwork(db, callerOf(request).workspaceId, request.body)
      await queue.enqueue(db, checkNetworks, {})
      return reply.code(201).send({ success: true, data })
    },
  )
  findingRoutes(app, { db })
}

function findingRoutes(app: App, { db }: Pick<WatchDeps, 'db'>): void {
  app.get(
    `${BASE}/:id`,
    {
      schema: {
        operationId: 'getWatchedNetwork',
        summary: 'Get a watched network, with what is on lists now and what was',
        params: WatchedParam,
        querystring: FindingQuery,
        response: responses(WatchedFindings),
      },
    },
    async (request) => {
      const { page, limit } = request.query
      const { workspaceId } = callerOf(request)
      const which = { workspaceId, id: request.params.id }
      const slice = sliceOf({ page, limit })
      const { network, findings, total } = await describeWatched(db, which, slice)
      const pagination = paginationOf({ page, limit }, total)
      return { success: true, data: { network, findings, pagination } }
    },
  )
  app.delete(
    `${BASE}/:id`,
    {
      schema: {
        operationId: 'deleteWatchedNetwork',
        summary: 'Stop watching a network, and delete its history',
        params: WatchedParam,
        response: responses(Done),
      },
    },
    async (request) => {
      await unwatchNetwork(db, callerOf(request).workspaceId, request.params.id)
      return { success: true }
    },
  )
}
