import { Type } from 'typebox'
import { callerOf } from '../../http/auth.ts'
import { Done, responses, Success, Uuid } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import type { SendDeps } from '../channels/channel-type.ts'
import { listNamedChannels, presentPreview, presentRule } from './present-rule.ts'
import { previewAlert } from './preview/preview.ts'
import {
  changeRule,
  createRule,
  removeRule,
  reorderRules,
  requireRule,
  settingsOf,
  validateSettings,
} from './alert-rules.ts'
import { LabelInUse, NewRule, Rule, RuleChanges, RuleOrder } from './shapes.ts'
import { PreviewRequest, PreviewResult, type PreviewBody } from './preview/shapes.ts'
import { findLabels, listLabels } from './labelled-objects.sql.ts'
import { listRules } from './alert-rules.sql.ts'

const params = Type.Object({ id: Uuid })

/** Labels that the list of labels in use has at most, the most used first. */
const MAX_LISTED_LABELS = 500

type RuleDeps = Pick<SendDeps, 'db' | 'relay'>

/** `/api/v1/alerts/rules…`: which channels get which alerts. */
export function ruleRoutes(app: App, deps: RuleDeps): void {
  listRoutes(app, deps)
  changeRoutes(app, deps)
  previewRoute(app, deps)
}

function listRoutes(app: App, deps: RuleDeps): void {
  const { db } = deps
  app.get(
    '/api/v1/alerts/rules',
    {
      schema: {
        summary: 'List alert rules',
        description:
          'In the order in which they are tried: the first rule that matches decides where an alert goes. Without a match, the settings of the channels decide.',
        response: responses(Success(Type.Array(Rule))),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const rules = await listRules(db, workspaceId)
      const channels = await listNamedChannels(deps, workspaceId)
      return { success: true, data: rules.map((rule) => presentRule(rule, channels)) }
    },
  )
  app.get(
    '/api/v1/alerts/labels',
    {
      schema: {
        summary: 'List the labels of the objects of a workspace',
        description: 'With the number of objects, the most used first.',
        response: responses(Success(Type.Array(LabelInUse))),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      return { success: true, data: await listLabels(db, workspaceId, MAX_LISTED_LABELS) }
    },
  )
}

function changeRoutes(app: App, deps: RuleDeps): void {
  const { db } = deps
  app.post(
    '/api/v1/alerts/rules',
    {
      schema: {
        summary: 'Create an alert rule',
        description:
          'It is tried after all others. For the alerts that match, it replaces the kinds and the least severity of its channels; their quiet hours stay.',
        body: NewRule,
        response: responses(Success(Rule), 201),
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request)
      const rule = await createRule(db, workspaceId, request.body)
      const channels = await listNamedChannels(deps, workspaceId)
      return reply.code(201).send({ success: true, data: presentRule(rule, channels) })
    },
  )
  app.put(
    '/api/v1/alerts/rules/order',
    {
      schema: {
        summary: 'Order the alert rules',
        body: RuleOrder,
        response: responses(Success(Type.Array(Rule))),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const rules = await reorderRules(db, workspaceId, request.body.ids)
      const channels = await listNamedChannels(deps, workspaceId)
      return { success: true, data: rules.map((rule) => presentRule(rule, channels)) }
    },
  )
  app.patch(
    '/api/v1/alerts/rules/:id',
    {
      schema: {
        summary: 'Update an alert rule',
        description: 'Settings that are not given keep their values.',
        params,
        body: RuleChanges,
        response: responses(Success(Rule)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const rule = await changeRule(db, workspaceId, request.params.id, request.body)
      const channels = await listNamedChannels(deps, workspaceId)
      return { success: true, data: presentRule(rule, channels) }
    },
  )
  app.delete(
    '/api/v1/alerts/rules/:id',
    {
      schema: {
        summary: 'Delete an alert rule',
        description: 'Alerts that wait for its quiet hours are sent.',
        params,
        response: responses(Done),
      },
    },
    async (request) => {
      await removeRule(db, callerOf(request).workspaceId, request.params.id)
      return { success: true }
    },
  )
}

function previewRoute(app: App, deps: RuleDeps): void {
  app.post(
    '/api/v1/alerts/rules/preview',
    {
      config: { unaudited: true, role: 'read-only' },
      schema: {
        summary: 'Show where an alert would go',
        description:
          'Names the rule that decides, the channels that get the alert, and its escalation. Sends and stores nothing.',
        body: PreviewRequest,
        response: responses(Success(PreviewResult)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { kind, severity, object, at } = request.body
      const channels = await listNamedChannels(deps, workspaceId)
      const rules = await listPreviewedRules(deps, workspaceId, request.body)
      const labels = await labelsOf(deps, workspaceId, request.body)
      const subject = { kind, severity, names: object ? [object] : [], labels }
      const now = at === undefined ? new Date() : new Date(at)
      const preview = previewAlert(rules, channels, subject, now)
      return { success: true, data: { ...presentPreview(preview, channels), labels } }
    },
  )
}

/** The stored rules with the draft in its place. */
async function listPreviewedRules(
  { db }: RuleDeps,
  workspaceId: string,
  { draft, draftOf }: PreviewBody,
) {
  const rules = await listRules(db, workspaceId)
  if (!draft) return rules
  const settings = settingsOf(draft)
  await validateSettings(db, workspaceId, settings)
  if (draftOf === undefined) return [...rules, { ...settings, id: null }]
  await requireRule(db, workspaceId, draftOf)
  return rules.map((rule) => (rule.id === draftOf ? { ...rule, ...settings } : rule))
}

async function labelsOf(
  { db }: RuleDeps,
  workspaceId: string,
  { object, labels }: PreviewBody,
): Promise<string[]> {
  return labels ?? (object ? findLabels(db, workspaceId, [object]) : [])
}
