import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { Fault } from '../../errors.ts'
import { callerOf } from '../../http/auth.ts'
import { Done, responses, Uuid } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { requireEndpoint } from '../endpoints/endpoints.ts'
import { findRequest } from '../requests/captured-requests.sql.ts'
import { verifyRequestSignature } from '../requests/verify-signature.ts'
import { NewRule, RuleChange, RuleOrder, RulePreview, WebhookRule } from './shapes.ts'
import {
  addRule,
  changeRule,
  listEndpointRules,
  previewRules,
  removeRule,
  reorderRules,
  resetRule,
  type RuleDeps,
  type RulesOf,
} from './webhook-rules.ts'

type RuleRoutesDeps = RuleDeps & {
  secretKey: string
  /** Called with the token of the endpoint whose rules changed. */
  forget: (token: string) => void
}

const params = Type.Object({ id: Uuid })
const ruleParams = Type.Object({ id: Uuid, ruleId: Uuid })
const OneRule = Type.Object({ success: Type.Literal(true), rule: WebhookRule })
const AllRules = Type.Object({ success: Type.Literal(true), rules: Type.Array(WebhookRule) })
const Reset = Type.Object({ success: Type.Literal(true), reset: Type.Integer() })

const PATH = '/api/webhook/endpoints/:id/rules'

/** Registers `/api/webhook/endpoints/{id}/rules…`. */
export function webhookRuleRoutes(app: App, deps: RuleRoutesDeps): void {
  listRoutes(app, deps)
  oneRuleRoutes(app, deps)
  previewRoute(app, deps)
}

function rulesOf(request: FastifyRequest): RulesOf {
  const { id } = request.params as { id: string }
  return { workspaceId: callerOf(request).workspaceId, endpointId: id }
}

function listRoutes(app: App, deps: RuleRoutesDeps): void {
  const common = { params }
  app.get(
    PATH,
    {
      schema: {
        summary: 'List the rules of a webhook endpoint in their order',
        description:
          'The first rule whose conditions a request meets answers it; without one, the endpoint’s own response.',
        ...common,
        response: responses(AllRules),
      },
    },
    async (request) => ({
      success: true,
      rules: await listEndpointRules(deps.db, rulesOf(request)),
    }),
  )
  app.post(
    PATH,
    {
      schema: {
        summary: 'Add a rule behind the others',
        ...common,
        body: NewRule,
        response: responses(OneRule, 201),
      },
    },
    async (request, reply) => {
      const { rule, token } = await addRule(deps, rulesOf(request), request.body)
      deps.forget(token)
      return reply.code(201).send({ success: true, rule })
    },
  )
  app.put(
    `${PATH}/order`,
    {
      schema: {
        summary: 'Order the rules of a webhook endpoint',
        ...common,
        body: RuleOrder,
        response: responses(AllRules),
      },
    },
    async (request) => {
      const { rule: rules, token } = await reorderRules(deps.db, rulesOf(request), request.body.ids)
      deps.forget(token)
      return { success: true, rules }
    },
  )
}

function oneRuleRoutes(app: App, deps: RuleRoutesDeps): void {
  const common = { params: ruleParams }
  app.put(
    `${PATH}/:ruleId`,
    {
      schema: {
        summary: 'Change settings of a rule',
        description: 'Other answers or another key restart its sequence.',
        ...common,
        body: RuleChange,
        response: responses(OneRule),
      },
    },
    async (request) => {
      const { ruleId } = request.params
      const { rule, token } = await changeRule(deps, rulesOf(request), ruleId, request.body)
      deps.forget(token)
      return { success: true, rule }
    },
  )
  app.delete(
    `${PATH}/:ruleId`,
    { schema: { summary: 'Delete a rule', ...common, response: responses(Done) } },
    async (request) => {
      deps.forget(await removeRule(deps.db, rulesOf(request), request.params.ruleId))
      return { success: true }
    },
  )
  app.post(
    `${PATH}/:ruleId/reset`,
    {
      schema: {
        summary: 'Restart the sequence of a rule',
        description: 'For one key, or for all. Returns the number of keys.',
        ...common,
        body: Type.Object({ key: Type.Optional(Type.String({ maxLength: 1_000 })) }),
        response: responses(Reset),
      },
    },
    async (request) => {
      const { ruleId } = request.params
      const reset = await resetRule(deps.db, rulesOf(request), ruleId, request.body.key)
      return { success: true, reset }
    },
  )
}

function previewRoute(app: App, { db, secretKey }: RuleRoutesDeps): void {
  app.post(
    `${PATH}/preview`,
    {
      schema: {
        summary: 'Show which rules a captured request matches',
        description: 'Changes nothing, and advances no sequence.',
        params,
        body: Type.Object({ requestId: Uuid }),
        response: responses(RulePreview),
      },
    },
    async (request) => {
      const { workspaceId, endpointId } = rulesOf(request)
      const endpoint = await requireEndpoint(db, workspaceId, endpointId)
      const row = await findRequest(db, endpointId, request.body.requestId)
      if (!row)
        throw new Fault('not_found', 'The captured request was not found, or it has been deleted.')
      const isVerified = () => verifyRequestSignature(row, endpoint, secretKey)?.status === 'valid'
      const rules = await listEndpointRules(db, { workspaceId, endpointId })
      return { success: true, ...previewRules(rules, row, isVerified) }
    },
  )
}
