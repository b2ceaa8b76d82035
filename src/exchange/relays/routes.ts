import { callerOf } from '../../http/auth.ts'
import { Done, paginationOf, responses, sliceOf } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { SEND_TIMEOUT_MS } from './limits.ts'
import { changeRelay, credentialsOf, describeRelays, removeRelay, requireRelay } from './relays.ts'
import type { RelayDeps } from './send-due.ts'
import { relayServiceOf } from './services/relay-services.ts'
import {
  RelayList,
  RelayParam,
  RelayReportPage,
  RelayReportQuery,
  RelaySettings,
  RelayTest,
} from './shapes.ts'
import { listReports } from './relays.sql.ts'

const BASE = '/api/v1/abuse/relays'

/** `/api/v1/abuse/relays/…`: services that get the reports of a workspace, too. */
export function relayRoutes(app: App, deps: RelayDeps): void {
  settingsRoutes(app, deps)
  testRoute(app, deps)
  reportsRoute(app, deps)
}

function settingsRoutes(app: App, deps: RelayDeps): void {
  const { db } = deps
  app.get(
    BASE,
    {
      schema: {
        operationId: 'listRelays',
        summary: 'List the services that reports can be relayed to, with their state',
        response: responses(RelayList),
      },
    },
    async (request) => ({
      success: true,
      data: await describeRelays(db, callerOf(request).workspaceId),
    }),
  )
  app.put(
    `${BASE}/:service`,
    {
      schema: {
        operationId: 'updateRelay',
        summary: 'Relay the reports of this workspace to a service',
        description:
          'Reports with a report token of the workspace are sent there from now on: address, service, port, count and ' +
          'time, and nothing else.',
        params: RelayParam,
        body: RelaySettings,
        response: responses(Done),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { service } = request.params
      await changeRelay(deps, { workspaceId, service }, request.body)
      return { success: true }
    },
  )
  app.delete(
    `${BASE}/:service`,
    {
      schema: {
        operationId: 'deleteRelay',
        summary: 'Stop relaying to a service, and delete its key and its queue',
        params: RelayParam,
        response: responses(Done),
      },
    },
    async (request) => {
      await removeRelay(db, callerOf(request).workspaceId, request.params.service)
      return { success: true }
    },
  )
}

function testRoute(app: App, deps: RelayDeps): void {
  app.post(
    `${BASE}/:service/test`,
    {
      config: { limit: 'alert tests' },
      schema: {
        operationId: 'testRelay',
        summary: 'Check the key of a service, without a report',
        description: 'DShield cannot check a key: you get a sample of its emails instead.',
        params: RelayParam,
        response: responses(RelayTest),
      },
    },
    async (request) => {
      const { workspaceId, email } = callerOf(request)
      const { service } = request.params
      const relay = await requireRelay(deps.db, workspaceId, service)
      const credentials = credentialsOf(relay, deps.secretKey)
      const signal = AbortSignal.timeout(SEND_TIMEOUT_MS)
      const message = await relayServiceOf(service).test(credentials, { ...deps, email }, signal)
      return { success: true, data: { message } }
    },
  )
}

function reportsRoute(app: App, { db }: RelayDeps): void {
  app.get(
    `${BASE}/reports`,
    {
      schema: {
        operationId: 'listRelayedReports',
        summary: 'List relayed reports and what became of them, newest first',
        description: 'Reports are kept for 30 days after they were sent or rejected.',
        querystring: RelayReportQuery,
        response: responses(RelayReportPage),
      },
    },
    async (request) => {
      const { page, limit, service = null } = request.query
      const { workspaceId } = callerOf(request)
      const slice = sliceOf({ page, limit })
      const { rows, total } = await listReports(db, workspaceId, { service, ...slice })
      const pagination = paginationOf({ page, limit }, total)
      return { success: true, data: { reports: rows, pagination } }
    },
  )
}
