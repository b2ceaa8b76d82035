import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type, type TSchema } from 'typebox'
import { Fault } from '../../errors.ts'
import type { App } from '../../http/http-server.ts'
import { HOUR_MS } from '../../time.ts'
import type { AttackList } from '../../abuse/attack-list.ts'
import { ApiFailure } from '../../fleet/crowdsec/shapes.ts'
import { sendFailure } from '../../fleet/crowdsec/crowdsec-failures.ts'
import { requireAllowed } from '../../abuse/intake/report-receipt.ts'
import { hashReportToken } from '../../abuse/tokens/report-tokens.ts'
import { allowlistRoutes } from './allowlist-routes.ts'
import { ALERTS_BODY_LIMIT } from './notification-route.ts'
import { AlertIds, Alerts, Credentials, Session } from './shapes.ts'
import { describeAgentRoute, requireSession } from './crowdsec-session.ts'
import { submitAlerts } from './submit-alerts.ts'

/** After this time an agent signs in again. */
const SESSION_MS = 24 * HOUR_MS

/**
 * `/v1/watchers`, `/v1/alerts`, `/v1/heartbeat` and `/v1/allowlists`: the part of CrowdSec’s local API
 * that its agents use. The password of an agent is a report token, and so is the token of its session.
 */
export function agentRoutes(app: App, abuse: AttackList): void {
  void app.register(async (plain) => {
    const scope = plain.withTypeProvider<TypeBoxTypeProvider>() as App
    scope.setErrorHandler((error, request, reply) => sendFailure(error, request, reply))
    signInRoutes(scope, abuse)
    heartbeatRoute(scope, abuse)
    alertsRoute(scope, abuse)
    allowlistRoutes(scope, abuse)
  })
}

const failures: Record<string, TSchema> = { '4xx': ApiFailure, '5xx': ApiFailure }

/** The document’s `null` type: a response without a body. */
const EMPTY = (description: string) => ({ type: 'null', description }) as TSchema

function signInRoutes(
  app: App,
  { reportTokens, clock }: Pick<AttackList, 'reportTokens' | 'clock'>,
): void {
  app.post(
    '/v1/watchers',
    {
      config: { limit: 'fleet lists', key: 'report token' },
      schema: {
        operationId: 'registerCrowdSecAgent',
        summary: 'Register a CrowdSec agent whose password is a report token',
        description:
          'Changes nothing: an agent needs no registration, only a report token as its password.',
        body: Credentials,
        response: { 201: EMPTY('Registered.'), ...failures },
      },
    },
    async ({ body }, reply) => {
      if (!(await reportTokens.find(body.password)))
        throw new Fault('forbidden', 'agents are not registered here: set password in local_api_credentials.yaml to a report token of Portreeve') // prettier-ignore
      return reply.code(201).send()
    },
  )
  app.post(
    '/v1/watchers/login',
    {
      config: { limit: 'fleet lists', key: 'report token' },
      schema: {
        operationId: 'signInCrowdSecAgent',
        summary: 'Sign in as a CrowdSec agent, with a report token as the password',
        body: Credentials,
        response: { 200: Session, ...failures },
      },
    },
    async ({ body }) => {
      if (!(await reportTokens.find(body.password)))
        throw new Fault('unauthenticated', 'incorrect Username or Password')
      const expire = new Date(clock() + SESSION_MS).toISOString()
      return { code: 200, expire, token: body.password }
    },
  )
}

function heartbeatRoute(app: App, abuse: AttackList): void {
  app.get(
    '/v1/heartbeat',
    {
      config: { limit: 'fleet lists', key: 'report token' },
      schema: describeAgentRoute('sendCrowdSecHeartbeat', 'Show that a CrowdSec agent is running', { 200: EMPTY('Signed in.') }), // prettier-ignore
    },
    async (request, reply) => {
      await requireSession(abuse, request)
      return reply.code(200).send()
    },
  )
}

function alertsRoute(app: App, abuse: AttackList): void {
  app.post(
    '/v1/alerts',
    {
      bodyLimit: ALERTS_BODY_LIMIT,
      config: { key: 'report token' },
      schema: {
        ...describeAgentRoute(
          'sendCrowdSecAlerts',
          'Report the attackers of alerts, as a CrowdSec agent',
          { 201: Type.Unsafe<string[]>(AlertIds) },
        ),
        description:
          'Up to 1,000 alerts. Scenarios are mapped to services; log lines are not stored.',
        body: Alerts,
      },
    },
    async (request, reply) => {
      const { token } = await requireSession(abuse, request)
      const { body } = request
      const isManual = body.some(({ decisions }) =>
        decisions?.some(({ origin = '' }) => origin.startsWith('cscli')),
      )
      if (isManual)
        throw new Fault(
          'invalid_request',
          'add and remove bans in the dashboard or API of Portreeve',
        )
      const sender = { reporter: abuse.reporterOf(request.ip), tokenHash: hashReportToken(token) }
      const { receipt } = await submitAlerts(abuse, body, sender)
      if (receipt) requireAllowed(reply, receipt)
      return reply.code(201).send(body.map((_, index) => String(index + 1)))
    },
  )
}
