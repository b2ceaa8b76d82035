import { Type } from 'typebox'
import { closeIncidentsOf } from '../alerts/incidents.sql.ts'
import { addAuditDetails } from '../accounts/audit/record-change.ts'
import { callerOf } from '../http/auth.ts'
import { auditOfImport } from '../http/import-entries.ts'
import { responses, Done, paginationOf, sliceOf, Success, Uuid } from '../http/http-schema.ts'
import { ImportReport } from '../http/shapes.ts'
import type { App } from '../http/http-server.ts'
import { notifyChange } from '../store/changes.ts'
import { listFacts } from './facts/host-facts.sql.ts'
import { availableSince } from './history/availability.ts'
import { timelineRoutes } from './history/timeline-routes.ts'
import { countEvents, listEvents, listPeriods } from './history/host-history.sql.ts'
import { summarizeHost } from './history/summaries.ts'
import {
  addHost,
  changeHost,
  checkNow,
  hostNotFound,
  requireHost,
  requireList,
  type HostDeps,
} from './hosts.ts'
import { importHosts } from './import-hosts.ts'
import { listRoute } from './list/routes.ts'
import { listAddresses, listWorkspaceModes, setWorkspaceMode } from './blocklists/listings.sql.ts'
import type { HostCheckDeps } from './checks/deps.ts'
import {
  History,
  HistoryQuery,
  HostChanges,
  ListChoice,
  MonitoredHostDetail,
  NewHost,
  NewHosts,
  WatchedList,
} from './shapes.ts'
import { deleteHost, type HostRow } from './hosts.sql.ts'
import { presentHostDetail, presentEvent, presentList } from './host-view.ts'

export type MonitoringRoutesDeps = HostCheckDeps & HostDeps

const params = Type.Object({ id: Uuid })
const OneHost = Success(MonitoredHostDetail)

/** `/api/v1/monitoring/…`: monitored hosts, their history, and the modes of the blocklists. */
export function monitoringRoutes(app: App, deps: MonitoringRoutesDeps): void {
  listRoute(app, deps)
  creationRoute(app, deps)
  importRoute(app, deps)
  hostRoutes(app, deps)
  historyRoute(app, deps)
  timelineRoutes(app, deps)
  blocklistRoutes(app, deps)
}

async function respondWithDetail({ db, blocklists }: MonitoringRoutesDeps, row: HostRow) {
  const [summary, addresses, facts, periods] = await Promise.all([
    summarizeHost(db, row.id),
    listAddresses(db, [row.id]),
    listFacts(db, [row.id]),
    listPeriods(db, row.id, availableSince()),
  ])
  return {
    success: true,
    data: presentHostDetail(row, summary, { addresses, facts, periods }, blocklists),
  }
}

function creationRoute(app: App, deps: MonitoringRoutesDeps): void {
  app.post(
    '/api/v1/monitoring/hosts',
    {
      schema: {
        summary: 'Create a monitored host',
        description:
          'The first check runs a few seconds later and raises no alerts: later checks are compared with it.',
        body: NewHost,
        response: responses(OneHost, 201),
      },
    },
    async (request, reply) => {
      const row = await addHost(deps, callerOf(request).workspaceId, request.body)
      return reply.code(201).send(await respondWithDetail(deps, row))
    },
  )
}

function importRoute(app: App, deps: MonitoringRoutesDeps): void {
  app.post(
    '/api/v1/monitoring/hosts/import',
    {
      config: { limit: 'imports' },
      schema: {
        summary: 'Create several monitored hosts',
        operationId: 'importHosts',
        description:
          'Adds up to 500 hosts at once. `results` has one result for each entry; valid entries are added whatever the others are.',
        body: NewHosts,
        response: responses(Success(ImportReport)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const data = await importHosts(deps, workspaceId, request.body.entries)
      addAuditDetails(request, auditOfImport(data))
      return { success: true, data }
    },
  )
}

function hostRoutes(app: App, deps: MonitoringRoutesDeps): void {
  const { db } = deps
  app.get(
    '/api/v1/monitoring/hosts/:id',
    {
      schema: {
        summary: 'Get a monitored host',
        params,
        response: responses(OneHost),
      },
    },
    async (request) =>
      respondWithDetail(
        deps,
        await requireHost(deps, callerOf(request).workspaceId, request.params.id),
      ),
  )
  app.patch(
    '/api/v1/monitoring/hosts/:id',
    {
      schema: {
        summary: 'Update a monitored host',
        params,
        body: HostChanges,
        response: responses(OneHost),
      },
    },
    async (request) =>
      respondWithDetail(
        deps,
        await changeHost(deps, callerOf(request).workspaceId, request.params.id, request.body),
      ),
  )
  app.delete(
    '/api/v1/monitoring/hosts/:id',
    {
      schema: {
        summary: 'Delete a monitored host',
        params,
        response: responses(Done),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      if (!(await deleteHost(db, workspaceId, request.params.id))) hostNotFound()
      await closeIncidentsOf(db, workspaceId, `/monitoring/${request.params.id}`)
      await notifyChange(db, workspaceId, 'monitoring', request.params.id)
      return { success: true }
    },
  )
  app.post(
    '/api/v1/monitoring/hosts/:id/check',
    {
      config: { limit: 'verifications', unaudited: true },
      schema: {
        summary: 'Check a monitored host now',
        description:
          'Runs all checks and responds with their results. A change is still confirmed by a second check some minutes later.',
        params,
        response: responses(OneHost),
      },
    },
    async (request, reply) => {
      const gone = new AbortController()
      reply.raw.once('close', () => gone.abort())
      const host = await requireHost(deps, callerOf(request).workspaceId, request.params.id)
      return respondWithDetail(deps, await checkNow(deps, host, gone.signal))
    },
  )
}

function historyRoute(app: App, deps: MonitoringRoutesDeps): void {
  const { db } = deps
  app.get(
    '/api/v1/monitoring/hosts/:id/history',
    {
      schema: {
        summary: 'List changes of a monitored host',
        params,
        querystring: HistoryQuery,
        response: responses(Success(History)),
      },
    },
    async (request) => {
      const { id } = await requireHost(deps, callerOf(request).workspaceId, request.params.id)
      const { page, limit, kind, from, to } = request.query
      const filter = {
        kind,
        from: from === undefined ? undefined : new Date(from),
        to: to === undefined ? undefined : new Date(to),
      }
      const total = await countEvents(db, id, filter)
      const events = await listEvents(db, id, filter, sliceOf({ page, limit }))
      const pagination = paginationOf({ page, limit }, total)
      return { success: true, data: { events: events.map(presentEvent), pagination } }
    },
  )
}

function blocklistRoutes(app: App, { db, blocklists }: MonitoringRoutesDeps): void {
  async function modesOf(workspaceId: string) {
    return (await listWorkspaceModes(db, [workspaceId])).get(workspaceId) ?? {}
  }
  app.get(
    '/api/v1/monitoring/lists',
    {
      schema: {
        summary: 'List blocklists and their modes',
        response: responses(Success(Type.Array(WatchedList))),
      },
    },
    async (request) => {
      const modes = await modesOf(callerOf(request).workspaceId)
      return { success: true, data: blocklists.lists.map((list) => presentList(list, modes)) }
    },
  )
  app.put(
    '/api/v1/monitoring/lists/:dnsbl',
    {
      schema: {
        summary: 'Set the mode of a blocklist',
        params: Type.Object({ dnsbl: Type.String({ maxLength: 200 }) }),
        body: ListChoice,
        response: responses(Success(WatchedList)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { mode } = request.body
      const list = requireList(request.params.dnsbl, blocklists)
      await setWorkspaceMode(db, workspaceId, list.zone, mode === 'default' ? null : mode)
      await notifyChange(db, workspaceId, 'monitoring')
      return { success: true, data: presentList(list, await modesOf(workspaceId)) }
    },
  )
}
