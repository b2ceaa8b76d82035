import { sendMissingAs } from '../http/errors.ts'
import { sendFailure as sendAbuseIpdbFailure } from './abuseipdb/failures.ts'
import { sendFailure as sendLapiFailure } from './fleet/crowdsec/failures.ts'
import { Type } from 'typebox'
import { callerOf } from '../http/auth.ts'
import { responses, Done, Success, Uuid } from '../http/schema.ts'
import type { Routes } from '../http/scopes.ts'
import type { App } from '../http/server.ts'
import type { Job } from '../jobs/job.ts'
import type { Queue } from '../jobs/queue.ts'
import { administratorRoutes } from './admin-routes.ts'
import type { AbuseOptions, AbuseServices } from './create-services.ts'
import { agentRoutes } from './crowdsec/agent-routes.ts'
import { notificationRoute } from './crowdsec/notification-route.ts'
import { abuseIpdbRoutes } from './abuseipdb/routes.ts'
import { mispRoutes } from './indicators/misp-routes.ts'
import { sendFailure as sendTaxiiFailure, taxiiRoutes } from './indicators/taxii-routes.ts'
import { peerRoutes } from './federation/peers/routes.ts'
import { federationRoutes } from './federation/protocol/routes.ts'
import { figureRoutes } from './fleet/figures/routes.ts'
import { fleetRoutes } from './fleet/routes.ts'
import { fleetExportRoute } from './fleet/export/route.ts'
import { crowdsecRoutes } from './fleet/crowdsec/routes.ts'
import { followerRoutes } from './fleet/feed/routes.ts'
import { optOutRoutes } from './abuse-mails/opt-out-routes.ts'
import { abuseMailAdministrationRoutes, abuseMailRoutes } from './abuse-mails/routes.ts'
import type { AbuseMailDeps } from './abuse-mails/send-mails.ts'
import { feedAdministrationRoutes, feedListRoute } from './public-feeds/routes.ts'
import { relayRoutes } from './relays/routes.ts'
import type { RelayDeps } from './relays/send-due.ts'
import { installerRoutes } from './installer/installer-routes.ts'
import { TAGS } from './tags.ts'
import { appeal } from './appeals/appeals.ts'
import { describeAddress } from './lookup/check.ts'
import { exportRoute } from './export/route.ts'
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
import { issueToken, listOwnTokens, readMetrics, revokeToken } from './tokens/tokens.ts'
import { watchedNetworkRoutes } from './watched-networks/routes.ts'

/** The work that routes start or test. */
export type AbuseWork = {
  updateFeeds: Job
  checkNetworks: Job
  relays: RelayDeps
  mails: AbuseMailDeps
}

/** `/api/v1/abuse/…`: reports in, a list out. */
export function abuseRoutes(
  services: AbuseServices,
  { reportsUrl }: Pick<AbuseOptions, 'reportsUrl'>,
  { updateFeeds, checkNetworks, relays, mails }: AbuseWork,
): Routes<{ queue: Pick<Queue, 'enqueue'> }> {
  return {
    public(app) {
      attackReportRoutes(app, services)
      lookupRoutes(app, services)
      exportRoute(app, services)
      tokenMetricsRoute(app, services)
      appealRoute(app, services)
      installerRoutes(app, { reportsUrl })
      optOutRoutes(app, mails)
      followerRoutes(app, services.fleets)
      crowdsecRoutes(app, services.fleets, services.reportTokens)
      sendMissingAs(app, '/v1', sendLapiFailure)
      abuseIpdbRoutes(app, services)
      sendMissingAs(app, '/api/v2', sendAbuseIpdbFailure)
      mispRoutes(app, services)
      taxiiRoutes(app, services)
      sendMissingAs(app, '/taxii2', sendTaxiiFailure)
      fleetExportRoute(app, services.fleets)
      figureRoutes(app, services.fleets)
      notificationRoute(app, services)
      agentRoutes(app, services)
      federationRoutes(app, services.federation)
    },
    account(app, { queue }) {
      tokenRoutes(app, services)
      fleetRoutes(app, services.fleets)
      feedListRoute(app, services)
      relayRoutes(app, relays)
      abuseMailRoutes(app, mails)
      watchedNetworkRoutes(app, services, { queue, checkNetworks })
    },
    administrator(app, { queue }) {
      administratorRoutes(app, services)
      abuseMailAdministrationRoutes(app, mails)
      feedAdministrationRoutes(app, services, { queue, updateFeeds })
      peerRoutes(app, services.federation)
    },
  }
}

function lookupRoutes(app: App, abuse: AbuseServices): void {
  const { lookup, stats, attackMap, publicFeeds, clock } = abuse
  app.get(
    '/api/v1/abuse/report',
    {
      schema: {
        summary: 'List the services that can be reported',
        operationId: 'listAbuseServices',
        tags: TAGS,
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
        tags: TAGS,
        querystring: CheckQuery,
        response: responses(CheckAnswer),
      },
    },
    async ({ query }) => {
      const subject = readSubject(query.ip)
      const described = describeAddress(subject, await lookup(subject.key), abuse, clock())
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
        tags: TAGS,
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
        tags: TAGS,
        querystring: AttackMapQuery,
        response: responses(AttackMap),
      },
    },
    async ({ query }) => ({ success: true, data: await attackMap(query.day) }),
  )
}

function tokenMetricsRoute(app: App, { db, clock }: AbuseServices): void {
  app.get(
    '/api/v1/abuse/tokens/:token',
    {
      config: { limit: 'public pages', key: 'report token' },
      schema: {
        summary: 'Get the statistics of a report token, without an account',
        tags: TAGS,
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

function tokenRoutes(app: App, { db, clock }: AbuseServices): void {
  app.post(
    '/api/v1/abuse/tokens',
    {
      schema: {
        summary: 'Create a report token, for statistics of your own reports',
        tags: TAGS,
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
        tags: TAGS,
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
        tags: TAGS,
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

function appealRoute(app: App, { db, reporterOf, clock }: AbuseServices): void {
  app.post(
    '/api/v1/abuse/appeals',
    {
      config: { limit: 'appeals' },
      schema: {
        summary: 'Appeal a listing',
        description:
          'From the listed address itself an appeal is granted at once, once in 30 days. Otherwise an ' +
          'administrator decides.',
        tags: TAGS,
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
