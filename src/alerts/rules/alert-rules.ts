import type { Kysely } from 'kysely'
import { Fault, invalidField } from '../../errors.ts'
import { notifyChange } from '../../store/changes.ts'
import type { Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'
import { listChannels } from '../channels/alert-channels.sql.ts'
import { requireTimeZone } from '../quiet-hours.ts'
import { MAX_RULES_PER_WORKSPACE } from './limits.ts'
import { areAlwaysQuiet } from './quiet.ts'
import type { RuleRow, RuleSettings } from './rule.ts'
import type { NewRuleBody, RuleChangesBody } from './shapes.ts'
import {
  deleteRule,
  findRuleById,
  insertRule,
  listRules,
  lockAndCountRules,
  orderRules,
  updateRule,
} from './alert-rules.sql.ts'

/** @throws Fault `invalid_request`, `conflict` beyond the limit */
export async function createRule(
  db: Kysely<DB>,
  workspaceId: string,
  body: NewRuleBody,
): Promise<RuleRow> {
  const settings = settingsOf(body)
  await validateSettings(db, workspaceId, settings)
  return db.transaction().execute(async (trx) => {
    if ((await lockAndCountRules(trx, workspaceId)) >= MAX_RULES_PER_WORKSPACE) {
      const sentence = `A workspace can have up to ${MAX_RULES_PER_WORKSPACE} alert rules. Delete one first.`
      throw new Fault('conflict', sentence)
    }
    const rule = await insertRule(trx, workspaceId, settings)
    await notifyChange(trx, workspaceId, 'alerts', rule.id)
    return rule
  })
}

/** Changes the given settings. @throws Fault `invalid_request`, `not_found` */
export async function changeRule(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  { escalation, ...body }: RuleChangesBody,
): Promise<RuleRow> {
  await requireRule(db, workspaceId, id)
  const changes = {
    ...body,
    ...(escalation !== undefined && { escalation: completeEscalation(escalation) }),
  }
  await validateSettings(db, workspaceId, changes)
  return db.transaction().execute(async (trx) => {
    const rule = (await updateRule(trx, workspaceId, id, changes)) ?? ruleNotFound()
    await notifyChange(trx, workspaceId, 'alerts', id)
    return rule
  })
}

/** @throws Fault `not_found` */
export async function removeRule(db: Kysely<DB>, workspaceId: string, id: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await deleteRule(trx, workspaceId, id))) ruleNotFound()
    await notifyChange(trx, workspaceId, 'alerts', id)
  })
}

/**
 * Puts the rules in this order.
 * @throws Fault `invalid_request` where an ID is unknown, `conflict` where a rule is missing
 */
export async function reorderRules(
  db: Kysely<DB>,
  workspaceId: string,
  ids: string[],
): Promise<RuleRow[]> {
  return db.transaction().execute(async (trx) => {
    await lockAndCountRules(trx, workspaceId)
    const known = new Set((await listRules(trx, workspaceId)).map(({ id }) => id))
    const unknown = ids.find((id) => !known.has(id))
    if (unknown !== undefined) throw invalid('ids', `contains ${unknown}, which is not a rule`)
    if (ids.length < known.size)
      throw new Fault('conflict', 'The order must name all rules. Reload the rules and try again.')
    await orderRules(trx, workspaceId, ids)
    await notifyChange(trx, workspaceId, 'alerts')
    return listRules(trx, workspaceId)
  })
}

/** @throws Fault `not_found` */
export async function requireRule(db: Db, workspaceId: string, id: string): Promise<RuleRow> {
  return (await findRuleById(db, workspaceId, id)) ?? ruleNotFound()
}

function ruleNotFound(): never {
  throw new Fault('not_found', 'Alert rule not found.')
}

/** All settings of a rule, with defaults. */
export function settingsOf(body: NewRuleBody): RuleSettings {
  return {
    name: body.name ?? '',
    enabled: body.enabled ?? true,
    kinds: body.kinds ?? null,
    objects: body.objects ?? null,
    labels: body.labels ?? null,
    minSeverity: body.minSeverity ?? null,
    channels: body.channels,
    quietHours: body.quietHours ?? null,
    criticalAnytime: body.criticalAnytime ?? true,
    escalation: completeEscalation(body.escalation ?? null),
  }
}

function completeEscalation(
  escalation: NonNullable<NewRuleBody['escalation']> | null,
): RuleSettings['escalation'] {
  return escalation && { ...escalation, repeats: escalation.repeats ?? 0 }
}

/** @throws Fault `invalid_request` for a channel or a time zone that does not exist */
export async function validateSettings(
  db: Db,
  workspaceId: string,
  { channels = [], quietHours, escalation }: Partial<RuleSettings>,
): Promise<void> {
  if (quietHours) requireTimeZone(quietHours)
  if (quietHours && areAlwaysQuiet(quietHours))
    throw invalid('quietHours', 'cover the whole week, so that no alert would be sent')
  const known = new Set((await listChannels(db, workspaceId)).map(({ id }) => id))
  const named = [
    ...channels.map((id) => ({ id, path: 'channels' })),
    ...(escalation?.steps ?? []).flatMap((step, index) =>
      step.channels.map((id) => ({ id, path: `escalation.steps.${index}.channels` })),
    ),
  ]
  const unknown = named.find(({ id }) => !known.has(id))
  if (unknown) {
    throw invalid(
      unknown.path,
      `names ${unknown.id}, which is not an alert channel of this workspace`,
    )
  }
}

function invalid(path: string, message: string): Fault {
  return invalidField(path, message, `The field ${path}`)
}
