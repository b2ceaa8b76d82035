import type { Kysely } from 'kysely'
import { Fault, type FaultDetail } from '../../errors.ts'
import type { Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'
import { parseConditions } from '../conditions/conditions.ts'
import {
  createRequestValues,
  parseField,
  type ReadableRequest,
} from '../conditions/request-values.ts'
import { notifyEndpointChange, requireEndpoint } from '../endpoints/endpoints.ts'
import { findWrongBody } from '../endpoints/response-settings.ts'
import { findWrongHeaders } from '../endpoints/response-headers.ts'
import { MAX_RULES, MAX_RULES_BYTES } from '../limits.ts'
import type { RuleAnswer, RuleSettings } from './shapes.ts'
import {
  deleteRule,
  insertRule,
  listRules,
  lockRules,
  orderRules,
  resetSequences,
  updateRule,
  type RuleRow,
  type RuleValues,
} from './webhook-rules.sql.ts'
import { storedKey } from './sequences.ts'

export type RuleDeps = { db: Kysely<DB>; hasOwnOrigin: boolean }

/** The endpoint of rules, within the workspace of the caller. */
export type RulesOf = { workspaceId: string; endpointId: string }

/** @throws Fault `not_found` */
export async function listEndpointRules(db: Db, of: RulesOf): Promise<RuleRow[]> {
  await requireEndpoint(db, of.workspaceId, of.endpointId)
  return listRules(db, of.endpointId)
}

/**
 * Adds a rule behind the others.
 * @throws Fault `not_found`, `invalid_request`, `conflict` where there are too many
 */
export async function addRule(
  deps: RuleDeps,
  of: RulesOf,
  settings: RuleSettings,
): Promise<{ rule: RuleRow; token: string }> {
  const values = completeRule(settings, deps)
  return changing(deps.db, of, async (trx, before) => {
    if (before.length >= MAX_RULES)
      throw new Fault('conflict', `An endpoint can have up to ${MAX_RULES} rules. Delete one.`)
    requireRoom([...before, values])
    return insertRule(trx, of.endpointId, values)
  })
}

/**
 * Changes the given settings of a rule. Other answers, or another key, restart its sequence.
 * @throws Fault `not_found`, `invalid_request`
 */
export async function changeRule(
  deps: RuleDeps,
  of: RulesOf,
  id: string,
  settings: RuleSettings,
): Promise<{ rule: RuleRow; token: string }> {
  const values = completeRule(settings, deps)
  return changing(deps.db, of, async (trx, before) => {
    requireRoom(before.map((rule) => (rule.id === id ? { ...rule, ...values } : rule)))
    const rule = await updateRule(trx, of.endpointId, id, values)
    if (!rule) throw ruleNotFound()
    const restarts = values.answers ?? values.after ?? values.key
    if (restarts !== undefined) await resetSequences(trx, id, undefined)
    return rule
  })
}

/** @throws Fault `not_found` */
export async function removeRule(db: Kysely<DB>, of: RulesOf, id: string): Promise<string> {
  const { token } = await changing(db, of, async (trx) => {
    if (!(await deleteRule(trx, of.endpointId, id))) throw ruleNotFound()
  })
  return token
}

/** @throws Fault `not_found`, `invalid_request` unless these are all rules, each once */
export async function reorderRules(
  db: Kysely<DB>,
  of: RulesOf,
  ids: string[],
): Promise<{ rule: RuleRow[]; token: string }> {
  return changing(db, of, async (trx, before) => {
    const wanted = new Set(ids)
    if (ids.length !== before.length || before.some(({ id }) => !wanted.has(id)))
      throw invalid([{ path: 'ids', message: 'must be the ids of all rules, each once' }])
    await orderRules(trx, of.endpointId, ids)
    return listRules(trx, of.endpointId)
  })
}

/**
 * Restarts a sequence, for one key or for all.
 * @returns the number of keys
 * @throws Fault `not_found`
 */
export async function resetRule(
  db: Kysely<DB>,
  of: RulesOf,
  id: string,
  key: string | undefined,
): Promise<number> {
  const rules = await listEndpointRules(db, of)
  if (!rules.some((rule) => rule.id === id)) throw ruleNotFound()
  return resetSequences(db, id, key === undefined ? undefined : storedKey(key))
}

/** Which rules match a request that was captured. */
export function previewRules(
  rules: RuleRow[],
  request: ReadableRequest,
  isVerified: () => boolean,
): { answering: string | null; rules: { id: string; enabled: boolean; matches: boolean }[] } {
  const values = createRequestValues(request, isVerified)
  const results = rules.map(({ id, enabled, when }) => {
    const parsed = parseConditions(when)
    return { id, enabled, matches: 'matches' in parsed && parsed.matches(values) }
  })
  const answering = results.find(({ enabled, matches }) => enabled && matches)
  return { answering: answering?.id ?? null, rules: results }
}

/** Changes the rules of an endpoint, one caller at a time, and notifies every instance. */
async function changing<T>(
  db: Kysely<DB>,
  { workspaceId, endpointId }: RulesOf,
  change: (trx: Db, before: RuleRow[]) => Promise<T>,
): Promise<{ rule: T; token: string }> {
  return db.transaction().execute(async (trx) => {
    await lockRules(trx, workspaceId)
    const endpoint = await requireEndpoint(trx, workspaceId, endpointId)
    const rule = await change(trx, await listRules(trx, endpointId))
    await notifyEndpointChange(trx, workspaceId, endpoint)
    return { rule, token: endpoint.token }
  })
}

/** Validates given settings, and completes the answers. */
function completeRule({ answers, ...settings }: RuleSettings, { hasOwnOrigin }: RuleDeps) {
  const details: FaultDetail[] = []
  if (settings.when) {
    const parsed = parseConditions(settings.when)
    if ('wrong' in parsed) details.push(parsed.wrong)
  }
  if (typeof settings.key === 'string' && parseField(settings.key) === null)
    details.push({ path: 'key', message: 'must be a field such as headers.webhook-id or body/id' })
  const complete = answers?.map(completeAnswer)
  complete?.forEach((answer, index) =>
    details.push(...findWrongAnswer(answer, `answers.${index}`, hasOwnOrigin)),
  )
  if (details.length > 0) throw invalid(details)
  const given = Object.entries({ ...settings, answers: complete }).filter(
    ([, value]) => value !== undefined,
  )
  return Object.fromEntries(given) as RuleValues
}

const DEFAULT_ANSWER: RuleAnswer = {
  status: 200,
  headers: [],
  body: '',
  type: 'text/plain; charset=utf-8',
  template: false,
  delayMs: 0,
  fault: null,
  times: 1,
}

type GivenAnswer = NonNullable<RuleSettings['answers']>[number]

function completeAnswer(given: GivenAnswer): RuleAnswer {
  const names = Object.keys(DEFAULT_ANSWER) as (keyof RuleAnswer)[]
  const chosen = names.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]]))
  return { ...DEFAULT_ANSWER, ...Object.fromEntries(chosen) }
}

function findWrongAnswer(
  { status, headers, body, type, delayMs }: RuleAnswer,
  path: string,
  hasOwnOrigin: boolean,
): FaultDetail[] {
  const isReversed = typeof delayMs === 'object' && delayMs.min > delayMs.max
  return [
    ...findWrongBody({ body, type }, { body: `${path}.body`, type: `${path}.type` }),
    ...findWrongHeaders(headers, { path: `${path}.headers`, status, hasOwnOrigin }),
    ...(isReversed
      ? [{ path: `${path}.delayMs`, message: 'must have a min that is not above max' }]
      : []),
  ]
}

/** All rules of an endpoint are in memory where it captures. */
function requireRoom(rules: RuleValues[]): void {
  const bytes = rules.reduce((sum, rule) => sum + Buffer.byteLength(JSON.stringify(rule)), 0)
  if (bytes > MAX_RULES_BYTES)
    throw invalid([
      {
        path: 'answers',
        message: `of all rules together must have up to ${MAX_RULES_BYTES} bytes`,
      },
    ])
}

function invalid(details: FaultDetail[]): Fault {
  const sentence = details.map(({ path, message }) => `${path} ${message}`).join('; ')
  return new Fault('invalid_request', `This rule is not valid: ${sentence}.`, { details })
}

function ruleNotFound(): Fault {
  return new Fault('not_found', 'The rule was not found.')
}
