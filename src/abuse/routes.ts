import { Type } from 'typebox'
import { callerOf } from '../http/auth.ts'
import { responses, Done, Success, Uuid } from '../http/http-schema.ts'
import type { Routes } from '../http/scopes.ts'
import type { App } from '../http/http-server.ts'
import { administratorRoutes } from './admin-routes.ts'
import { appeal } from './appeals/appeals.ts'
import { describeAddress, type LookupDeps } from './lookup/check-address.ts'
import { exportRoute } from './export/list-export-route.ts'
import { attackReportRoutes } from './intake/report-routes.ts'
import {
  Appeal,
  AttackMap,
  AttackMapQuery,
  CheckAnswer,
  CheckQuery,
  IssuedToken,
  Metrics,
  NewAppeal,
  NewToken,
  ServiceList,
  StatsAnswer,
  TokenList,
  TokenParam,
} from './shapes.ts'
import { SERVICE_LIST } from './lookup/stats.ts'
import { readSubject } from './subject.ts'
import { issueToken, listOwnTokens, readMetrics, revokeToken } from './tokens/report-tokens.ts'
import type { PublicFeeds } from '../public-feeds/public-feeds.ts'
import type { AttackList } from './attack-list.ts'

/** `/api/v1/abuse/…`: reports in, a list out. */
export function abuseRoutes(
  list: AttackList,
  publicFeeds: Pick<PublicFeeds, 'find'>,
): Routes<object> {
  return {
    public(app) {
      attackReportRoutes(app, list)
      lookupRoutes(app, { ...list, publicFeeds })
      exportRoute(app, list)
      tokenMetricsRoute(app, list)
      appealRoute(app, list)
    },
    account: (app) => tokenRoutes(app, list),
    administrator: (app) => administratorRoutes(app, list),
  }
}

type LookupRouteDeps = LookupDeps &
  Pick<AttackList, 'lookup' | 'stats' | 'attackMap' | 'clock'> & {
    publicFeeds: Pick<PublicFeeds, 'find'>
  }

function lookupRoutes(app: App, deps: LookupRouteDeps): void {
  const { lookup, stats, attackMap, publicFeeds, clock } = deps
  app.get(
    '/api/v1/abuse/report',
    {
      schema: {
        summary: 'List the services that can be reported',
        operationId: 'listAbuseServices',
        response: responses(ServiceList),
      },
    },
    async () => ({ success: true, data: SERVICE_LIST }),
  )
  app.get(
    '/api/v1/abuse/check',
    {
      config: { limit: 'address look-ups' },
      schema: {
        summary: 'Look up an address, with anonymous evidence',
        querystring: CheckQuery,
        response: responses(CheckAnswer),
      },
    },
    async ({ query }) => {
      const subject = readSubject(query.ip)
      const described = describeAddress(subject, await lookup(subject.key), deps, clock())
      return { success: true, data: { ...described, publicFeeds: publicFeeds.find(subject.key) } }
    },
  )
  app.get(
    '/api/v1/abuse/stats',
    {
      config: { limit: 'public pages' },
      schema: {
        summary: 'Get statistics of attack reporting',
        description:
          'Counts accepted reports without duplicates. Up to 15 seconds old; the last day and week are whole hours.',
        response: responses(StatsAnswer),
      },
    },
    async () => ({ success: true, data: await stats() }),
  )
  app.get(
    '/api/v1/abuse/networks',
    {
      config: { limit: 'public pages' },
      schema: {
        summary: 'Count reports by network of the attackers and service',
        description:
          'Accepted reports without duplicates, of the networks with most of them. Up to 15 seconds old.',
        querystring: AttackMapQuery,
        response: responses(AttackMap),
      },
    },
    async ({ query }) => ({ success: true, data: await attackMap(query.day) }),
  )
}

function tokenMetricsRoute(app: App, { db, clock }: Pick<AttackList, 'db' | 'clock'>): void {
  app.get(
    '/api/v1/abuse/tokens/:token',
    {
      config: { limit: 'public pages', key: 'report token' },
      schema: {
        summary: 'Get the statistics of a report token, without an account',
        params: TokenParam,
        response: responses(Metrics),
      },
    },
    async ({ params }) => ({
      success: true,
      metrics: await readMetrics(db, params.token, clock()),
    }),
  )
}

function tokenRoutes(app: App, { db, clock }: Pick<AttackList, 'db' | 'clock'>): void {
  app.post(
    '/api/v1/abuse/tokens',
    {
      schema: {
        summary: 'Create a report token, for statistics of your own reports',
        body: Type.Optional(NewToken),
        response: responses(IssuedToken, 201),
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request)
      const { label = '' } = request.body ?? {}
      const { token, ...row } = await issueToken(db, 'report', { workspaceId, label })
      const statsUrl = `/api/v1/abuse/tokens/${token}`
      return reply.code(201).send({ success: true, token, statsUrl, ...row })
    },
  )
  app.get(
    '/api/v1/abuse/tokens',
    {
      schema: {
        summary: 'List your report tokens, newest first, with their statistics',
        response: responses(TokenList),
      },
    },
    async (request) => ({
      success: true,
      data: await listOwnTokens(db, callerOf(request).workspaceId, clock()),
    }),
  )
  app.delete(
    '/api/v1/abuse/tokens/:token',
    {
      schema: {
        summary: 'Revoke a report token',
        params: Type.Object({
          token: { ...Uuid, description: 'The id of the token, not the token itself.' },
        }),
        response: responses(Done),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      await revokeToken(db, 'report', { workspaceId, id: request.params.token })
      return { success: true }
    },
  )
}

function appealRoute(
  app: App,
  { db, reporterOf, clock }: Pick<AttackList, 'db' | 'reporterOf' | 'clock'>,
): void {
  app.post(
    '/api/v1/abuse/appeals',
    {
      config: { limit: 'appeals' },
      schema: {
        summary: 'Appeal a listing',
        description:
          'From the listed address itself an appeal is granted at once, once in 30 days. Otherwise an ' +
          'administrator decides.',
        body: NewAppeal,
        response: responses(Success(Appeal), 201),
      },
    },
    async ({ body, ip }, reply) => {
      const reporter = reporterOf(ip)
      const data = await appeal(
        db,
        { subject: readSubject(body.ip), reason: body.reason, reporter },
        clock(),
      )
      return reply.code(201).send({ success: true, data })
    },
  )
}
