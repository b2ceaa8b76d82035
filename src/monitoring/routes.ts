import { Type } from 'typebox'
import { callerOf, type AuthHooks } from '../http/auth.ts'
import { answers, Done, paginationOf, sliceOf, security, Success, Uuid } from '../http/schema.ts'
import type { App } from '../http/server.ts'
import { notifyChange } from '../store/changes.ts'
import { listFacts } from './facts/store.ts'
import { availabilityOf, availableSince } from './history/availability.ts'
import { countEvents, listEvents, listPeriods } from './history/store.ts'
import { addHost, changeHost, checkNow, noHost, requireHost, requireList, type HostDeps } from './hosts.ts'
import { listAddresses } from './listings/store.ts'
import type { LookDeps } from './looks/look.ts'
import { listChoices, setChoice } from './modes/store.ts'
import {
  History,
  HistoryQuery,
  HostChanges,
  ListChoice,
  MonitoredHost,
  MonitoredHostDetail,
  NewHost,
  WatchedList,
} from './shapes.ts'
import { deleteHost, listHosts, type HostRow } from './store.ts'
import { shownDetail, shownEvent, shownHost, shownList } from './view.ts'

export type MonitoringRoutesDeps = LookDeps & HostDeps & { authHooks: AuthHooks }

const tags = ['Monitoring']
const params = Type.Object({ id: Uuid })
const OneHost = Success(MonitoredHostDetail)

/** `/api/v1/monitoring/…`: hosts that are watched, what happened to them, and the lists that are asked. */
export function monitoringRoutes(app: App, deps: MonitoringRoutesDeps): void {
  hostsRoutes(app, deps)
  hostRoutes(app, deps)
  historyRoute(app, deps)
  listRoutes(app, deps)
}

async function withDetail({ db, blocklists }: MonitoringRoutesDeps, row: HostRow) {
  const [availability, addresses, facts, periods] = await Promise.all([
    availabilityOf(db, [row.id]),
    listAddresses(db, [row.id]),
    listFacts(db, [row.id]),
    listPeriods(db, row.id, availableSince()),
  ])
  return { success: true, data: shownDetail(row, availability(row.id), { addresses, facts, periods }, blocklists) }
}

function hostsRoutes(app: App, deps: MonitoringRoutesDeps): void {
  const { db, authHooks } = deps
  app.get(
    '/api/v1/monitoring/hosts',
    {
      onRequest: authHooks.account,
      schema: {
        summary: 'My monitored hosts, oldest first',
        tags,
        security,
        response: answers(Success(Type.Array(MonitoredHost))),
      },
    },
    async (request) => {
      const rows = await listHosts(db, callerOf(request).accountId)
      const availability = await availabilityOf(
        db,
        rows.map(({ id }) => id),
      )
      return { success: true, data: rows.map((row) => shownHost(row, availability(row.id))) }
    },
  )
  app.post(
    '/api/v1/monitoring/hosts',
    {
      onRequest: authHooks.account,
      schema: {
        summary: 'Watch a host',
        description: 'The first look, a few seconds later, is silent: it is what later looks are compared with.',
        tags,
        security,
        body: NewHost,
        response: answers(OneHost, 201),
      },
    },
    async (request, reply) => {
      const row = await addHost(deps, callerOf(request).accountId, request.body)
      return reply.code(201).send(await withDetail(deps, row))
    },
  )
}

function hostRoutes(app: App, deps: MonitoringRoutesDeps): void {
  const { db, authHooks } = deps
  app.get(
    '/api/v1/monitoring/hosts/:id',
    {
      onRequest: authHooks.account,
      schema: {
        summary: 'A monitored host with its listings, certificates and records',
        tags,
        security,
        params,
        response: answers(OneHost),
      },
    },
    async (request) => withDetail(deps, await requireHost(deps, callerOf(request).accountId, request.params.id)),
  )
  app.patch(
    '/api/v1/monitoring/hosts/:id',
    {
      onRequest: authHooks.account,
      schema: {
        summary: 'Change what is watched; what is not given stays',
        tags,
        security,
        params,
        body: HostChanges,
        response: answers(OneHost),
      },
    },
    async (request) =>
      withDetail(deps, await changeHost(deps, callerOf(request).accountId, request.params.id, request.body)),
  )
  app.delete(
    '/api/v1/monitoring/hosts/:id',
    {
      onRequest: authHooks.account,
      schema: { summary: 'Watch a host no longer', tags, security, params, response: answers(Done) },
    },
    async (request) => {
      const { accountId } = callerOf(request)
      if (!(await deleteHost(db, accountId, request.params.id))) noHost()
      await notifyChange(db, accountId, 'monitoring', request.params.id)
      return { success: true }
    },
  )
  app.post(
    '/api/v1/monitoring/hosts/:id/check',
    {
      config: { limit: 'verifications' },
      onRequest: authHooks.account,
      schema: {
        summary: 'Look at a host now',
        description:
          'Asks everything anew and answers when it is known. A change is still believed only when it is seen a second time, some minutes later.',
        tags,
        security,
        params,
        response: answers(OneHost),
      },
    },
    async (request, reply) => {
      const gone = new AbortController()
      reply.raw.once('close', () => gone.abort())
      const host = await requireHost(deps, callerOf(request).accountId, request.params.id)
      return withDetail(deps, await checkNow(deps, host, gone.signal))
    },
  )
}

function historyRoute(app: App, deps: MonitoringRoutesDeps): void {
  const { db, authHooks } = deps
  app.get(
    '/api/v1/monitoring/hosts/:id/history',
    {
      onRequest: authHooks.account,
      schema: {
        summary: 'What changed, newest first',
        tags,
        security,
        params,
        querystring: HistoryQuery,
        response: answers(Success(History)),
      },
    },
    async (request) => {
      const { id } = await requireHost(deps, callerOf(request).accountId, request.params.id)
      const { page, limit, ...filter } = request.query
      const total = await countEvents(db, id, filter)
      const events = await listEvents(db, id, filter, sliceOf({ page, limit }))
      const pagination = paginationOf({ page, limit }, total)
      return { success: true, data: { events: events.map(shownEvent), pagination } }
    },
  )
}

function listRoutes(app: App, { db, authHooks, blocklists }: MonitoringRoutesDeps): void {
  async function choicesOf(accountId: string) {
    return (await listChoices(db, [accountId])).get(accountId) ?? {}
  }
  app.get(
    '/api/v1/monitoring/lists',
    {
      onRequest: authHooks.account,
      schema: {
        summary: 'The blacklists that are asked, and what a listing there means',
        tags,
        security,
        response: answers(Success(Type.Array(WatchedList))),
      },
    },
    async (request) => {
      const choices = await choicesOf(callerOf(request).accountId)
      return { success: true, data: blocklists.lists.map((list) => shownList(list, choices)) }
    },
  )
  app.put(
    '/api/v1/monitoring/lists/:dnsbl',
    {
      onRequest: authHooks.account,
      schema: {
        summary: 'Say what a listing on a blacklist means, for all my hosts',
        tags,
        security,
        params: Type.Object({ dnsbl: Type.String({ maxLength: 200 }) }),
        body: ListChoice,
        response: answers(Success(WatchedList)),
      },
    },
    async (request) => {
      const { accountId } = callerOf(request)
      const { mode } = request.body
      const list = requireList(request.params.dnsbl, blocklists)
      await setChoice(db, accountId, list.zone, mode === 'default' ? null : mode)
      await notifyChange(db, accountId, 'monitoring')
      return { success: true, data: shownList(list, await choicesOf(accountId)) }
    },
  )
}
