import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyRequest, preValidationAsyncHookHandler } from 'fastify'
import { finished } from 'node:stream'
import type { Static, TSchema } from 'typebox'
import { Fault } from '../../errors.ts'
import { sendParts } from '../../http/send-parts.ts'
import type { App } from '../../http/http-server.ts'
import { oneLine } from '../../http/shown-name.ts'
import { sendFailure } from './crowdsec-failures.ts'
import { findSession } from './agent-session.ts'
import type { TokenAuth } from '../../abuse/tokens/token-auth.ts'
import type { TokenOwner } from '../../abuse/tokens/report-tokens.sql.ts'
import { bouncerKeyOf, requireBouncerKey } from '../bouncer-key.ts'
import type { Fleets } from '../fleet.ts'
import { filterOf } from './decisions.ts'
import { findDecisions } from './find-decisions.ts'
import {
  ApiFailure,
  BouncerHeaders,
  Decisions,
  DecisionsQuery,
  DecisionsStream,
  StreamQuery,
  UsageMetrics,
} from './shapes.ts'
import { saveBouncerMetrics, type BouncerKey, type BouncerMetrics } from './fleet-bouncers.sql.ts'
import { streamDecisions } from './stream.ts'

const MAX_NAME_CHARS = 100
const MAX_METRICS = 50

/**
 * `/v1/…`: the part of CrowdSec’s local API that bouncers use, with the fleet list and, if the
 * workspace chose it, the shared list. Paths, fields and failures are those of CrowdSec.
 */
export function crowdsecRoutes(app: App, fleets: Fleets, reportTokens: TokenAuth): void {
  void app.register(async (plain) => {
    const scope = plain.withTypeProvider<TypeBoxTypeProvider>() as App
    scope.setErrorHandler((error, request, reply) => sendFailure(error, request, reply))
    streamRoute(scope, fleets)
    decisionsRoute(scope, fleets)
    metricsRoute(scope, fleets, reportTokens)
  })
}

const failures: Record<string, TSchema> = { '4xx': ApiFailure, '5xx': ApiFailure }

/** The document’s `null` type: a response without a body. */
const STORED = { type: 'null', description: 'Stored.' } as TSchema

const describe = (operationId: string, summary: string, success: Record<string, TSchema>) => ({
  operationId,
  summary,
  headers: BouncerHeaders,
  response: { ...success, ...failures },
})

function streamRoute(app: App, fleets: Fleets): void {
  app.get(
    '/v1/decisions/stream',
    {
      config: { limit: 'fleet lists', key: 'bouncer key' },
      preValidation: authenticate(fleets),
      schema: {
        ...describe('streamCrowdSecDecisions', 'Get decisions for CrowdSec bouncers', {
          200: DecisionsStream,
        }),
        description:
          'With `startup=true` the whole list, then the changes since the last request of this bouncer, which its key, ' +
          'address and User-Agent identify.',
        querystring: StreamQuery,
      },
    },
    async (request, reply) => {
      // A check whether the key is valid; it must not change what comes next.
      if (request.method === 'HEAD') return reply.type('text/plain').send('')
      const { startup, ...query } = request.query
      const { token, bouncer } = bouncerOf(request, fleets)
      // As CrowdSec reads it: the first value, in this spelling.
      const isStart = [startup].flat()[0] === 'true'
      const wanted = { token, bouncer, startup: isStart, filter: filterOf(query) }
      const { body, state } = await streamDecisions(fleets, wanted)
      // Only what arrived completely is not sent again.
      finished(reply.raw, { readable: false }, (error) => {
        if (!error) fleets.bouncers.received(bouncer, state)
      })
      return reply.type('application/json').send(body)
    },
  )
}

function decisionsRoute(app: App, fleets: Fleets): void {
  app.get(
    '/v1/decisions',
    {
      config: { limit: 'fleet lists', key: 'bouncer key' },
      preValidation: authenticate(fleets),
      schema: {
        ...describe('listCrowdSecDecisions', 'Find the decisions about an address, for CrowdSec bouncers', { 200: Decisions }), // prettier-ignore
        description: '`null` when there are none.',
        querystring: DecisionsQuery,
      },
    },
    async (request, reply) => {
      const { token } = bouncerOf(request, fleets)
      if (request.method === 'HEAD') return reply.type('text/plain').send('')
      const found = findDecisions(fleets, token.workspaceId, request.query)
      return sendParts(reply.type('application/json'), arrayOrNull(found))
    },
  )
}

/** A list as CrowdSec writes it: `null` when it is empty. */
async function* arrayOrNull(parts: AsyncIterable<object[]>): AsyncGenerator<string> {
  let before = '['
  for await (const part of parts) {
    yield before + JSON.stringify(part).slice(1, -1)
    before = ','
  }
  yield before === '[' ? 'null' : ']'
}

function metricsRoute(app: App, { db, clock, ...fleets }: Fleets, reportTokens: TokenAuth): void {
  const authenticateBouncer = authenticate(fleets)
  const authenticateAny: preValidationAsyncHookHandler = async function (request, reply) {
    // The figures of agents are about their parsers, and are not stored.
    if ((await findSession(reportTokens, request)) !== undefined) return reply.code(201).send()
    return authenticateBouncer.call(this, request, reply)
  }

  app.post(
    '/v1/usage-metrics',
    {
      config: { limit: 'fleet lists', key: 'either key' },
      preValidation: authenticateAny,
      schema: {
        ...describe('sendCrowdSecMetrics', 'Store the metrics of a CrowdSec bouncer', {
          201: STORED,
        }),
        body: UsageMetrics,
      },
    },
    async (request, reply) => {
      const [component] = request.body.remediation_components ?? []
      if (!component) throw new Fault('invalid_request', 'Missing remediation component data')
      const { bouncer } = bouncerOf(request, fleets)
      await saveBouncerMetrics(db, bouncer, metricsOf(component), new Date(clock()))
      return reply.code(201).send()
    },
  )
}

type Component = NonNullable<Static<typeof UsageMetrics>['remediation_components']>[number]

/** Sums the figures of a bouncer by name and unit, over all origins. */
function metricsOf({ type = '', version = '', metrics = [] }: Component): BouncerMetrics {
  const values: Record<string, number> = {}
  for (const { name = '', unit = '', value = 0 } of metrics.flatMap(({ items = [] }) => items)) {
    const key = `${name} ${unit}`.trim()
    if (key in values || Object.keys(values).length < MAX_METRICS)
      values[key] = (values[key] ?? 0) + value
  }
  return { type, version, values }
}

const authenticate = ({ followers }: Pick<Fleets, 'followers'>) =>
  requireBouncerKey(followers, () => new Fault('forbidden', 'access forbidden'))

function bouncerOf(
  request: FastifyRequest,
  { presence }: Pick<Fleets, 'presence'>,
): { token: TokenOwner; bouncer: BouncerKey } {
  const token = bouncerKeyOf(request)
  const name = oneLine(request.headers['user-agent'] ?? '', MAX_NAME_CHARS)
  presence.seen(token.workspaceId, { address: request.ip, tokenId: token.id, client: name })
  return { token, bouncer: { tokenId: token.id, address: request.ip, name } }
}
