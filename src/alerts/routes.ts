import { Type } from 'typebox'
import { Fault } from '../errors.ts'
import { callerOf } from '../http/auth.ts'
import { responses, paginationOf, sliceOf, Success, Uuid } from '../http/http-schema.ts'
import type { App } from '../http/http-server.ts'
import type { SendDeps } from './channels/channel-type.ts'
import { channelRoutes } from './channels/routes.ts'
import { listDeliveries } from './delivery/alert-delivery.sql.ts'
import { countIncidents, findIncident, listIncidents } from './incidents.sql.ts'
import { AlertPage, AlertQuery, Incident, IncidentPage, IncidentQuery } from './shapes.ts'
import { silenceRoutes } from './silence/routes.ts'
import { listHandling } from './silence/handling/handling.sql.ts'
import { countAlerts, listAlerts } from './alerts.sql.ts'
import { presentAlerts, presentIncident } from './alert-view.ts'

const params = Type.Object({ id: Uuid })

/** `/api/v1/alerts…`: the alerts of a workspace and its channels. */
export function alertRoutes(app: App, deps: SendDeps): void {
  listRoute(app, deps)
  incidentRoutes(app, deps)
  channelRoutes(app, deps)
  silenceRoutes(app, deps)
}

function listRoute(app: App, { db, relay, baseUrl }: SendDeps): void {
  app.get(
    '/api/v1/alerts',
    {
      schema: {
        summary: 'List alerts',
        querystring: AlertQuery,
        response: responses(Success(AlertPage)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { page, limit, ...filter } = request.query
      const total = await countAlerts(db, workspaceId, filter)
      const rows = await listAlerts(db, workspaceId, filter, sliceOf({ page, limit }))
      const deliveries = await listDeliveries(
        db,
        rows.map(({ id }) => id),
      )
      const pagination = paginationOf({ page, limit }, total)
      return {
        success: true,
        data: {
          alerts: presentAlerts(rows, deliveries, { baseUrl, workspaceId }),
          pagination,
          mail: relay !== null,
        },
      }
    },
  )
}

function incidentRoutes(app: App, { db, baseUrl }: SendDeps): void {
  app.get(
    '/api/v1/alerts/incidents',
    {
      schema: {
        summary: 'List incidents',
        description:
          'A problem from its first alert to the one that resolves it. Open ones first, then the newest.',
        querystring: IncidentQuery,
        response: responses(Success(IncidentPage)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { page, limit, ...filter } = request.query
      const total = await countIncidents(db, workspaceId, filter)
      const rows = await listIncidents(db, workspaceId, filter, sliceOf({ page, limit }))
      const handling = await listHandling(
        db,
        rows.map(({ id }) => id),
      )
      const byId = new Map(handling.map((row) => [row.id, row]))
      const incidents = rows.map((row) =>
        presentIncident(row, byId.get(row.id), { baseUrl, workspaceId }),
      )
      return {
        success: true,
        data: { incidents, pagination: paginationOf({ page, limit }, total) },
      }
    },
  )
  app.get(
    '/api/v1/alerts/incidents/:id',
    {
      schema: {
        summary: 'Show an incident',
        description: 'Its alerts are those of `GET /api/v1/alerts?incidentId=`.',
        params,
        response: responses(Success(Incident)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const row = await findIncident(db, workspaceId, request.params.id)
      if (!row) throw new Fault('not_found', 'Incident not found.')
      const [handling] = await listHandling(db, [row.id])
      return { success: true, data: presentIncident(row, handling, { baseUrl, workspaceId }) }
    },
  )
}
