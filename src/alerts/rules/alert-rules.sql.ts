import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { countRows, deleteRows, findRow } from '../../store/row.ts'
import type { RuleRow, RuleSettings } from './rule.ts'

const RULE = [
  'id',
  'name',
  'enabled',
  'kinds',
  'objects',
  'labels',
  'minSeverity',
  'channels',
  'quietHours',
  'criticalAnytime',
  'escalation',
  'createdAt',
] as const

/** Lists the rules of a workspace, in their order. */
export async function listRules(db: Db, workspaceId: string): Promise<RuleRow[]> {
  const rows = await db
    .selectFrom('alertRule')
    .select(RULE)
    .where('workspaceId', '=', workspaceId)
    .orderBy('position')
    .orderBy('id')
    .execute()
  return rows as unknown as RuleRow[]
}

export async function findRuleById(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<RuleRow | undefined> {
  return findRow(db, 'alertRule', RULE, { workspaceId, id })
}

/** Counts the rules of a workspace, and serialises changes of their number and order. */
export async function lockAndCountRules(db: Db, workspaceId: string): Promise<number> {
  await db
    .selectFrom('workspace')
    .select('id')
    .where('id', '=', workspaceId)
    .forNoKeyUpdate()
    .execute()
  return countRows(db, 'alertRule', { workspaceId })
}

/** Inserts a rule after all others. */
export async function insertRule(
  db: Db,
  workspaceId: string,
  settings: RuleSettings,
): Promise<RuleRow> {
  const row = await db
    .insertInto('alertRule')
    .values({
      workspaceId,
      ...written(settings),
      channels: settings.channels,
      position: sql<number>`(select coalesce(max(position), 0) + 1 from alert_rule where workspace_id = ${workspaceId})`,
    })
    .returning(RULE)
    .executeTakeFirstOrThrow()
  return row as unknown as RuleRow
}

/** Updates the given settings, and makes what waits for the quiet hours of the rule due. */
export async function updateRule(
  db: Db,
  workspaceId: string,
  id: string,
  settings: Partial<RuleSettings>,
): Promise<RuleRow | undefined> {
  const row = await db
    .updateTable('alertRule')
    // A statement needs something to set; setting the ID to itself changes nothing.
    .set({ id, ...written(settings) })
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', id)
    .returning(RULE)
    .executeTakeFirst()
  if (row) await releaseHeld(db, id)
  return row as RuleRow | undefined
}

function written({ quietHours, escalation, ...settings }: Partial<RuleSettings>) {
  return {
    ...settings,
    ...(quietHours !== undefined && { quietHours: quietHours && JSON.stringify(quietHours) }),
    ...(escalation !== undefined && { escalation: escalation && JSON.stringify(escalation) }),
  }
}

export async function deleteRule(db: Db, workspaceId: string, id: string): Promise<boolean> {
  const rule = await findRuleById(db, workspaceId, id)
  if (!rule) return false
  await releaseHeld(db, id)
  await deleteRows(db, 'alertRule', { id })
  return true
}

/** Makes messages that wait for the quiet hours of a rule due; the sender checks them again. */
async function releaseHeld(db: Db, ruleId: string): Promise<void> {
  await sql`
    update alert_message set due_at = now()
    where rule_id = ${ruleId} and state = 'waiting' and attempts = 0 and due_at > now()`.execute(db)
}

/** Numbers the rules in this order. */
export async function orderRules(db: Db, workspaceId: string, ids: string[]): Promise<void> {
  await sql`
    update alert_rule set position = array_position(${ids}::uuid[], id)
    where workspace_id = ${workspaceId}`.execute(db)
}

/** IDs of channels that can receive alerts, or that a member turned off on purpose. */
export async function listUsableChannels(db: Db, workspaceId: string): Promise<Set<string>> {
  const rows = await db
    .selectFrom('alertChannel')
    .select('id')
    .where('workspaceId', '=', workspaceId)
    .where('confirmedAt', 'is not', null)
    .where('disabledReason', 'is', null)
    .execute()
  return new Set(rows.map(({ id }) => id))
}

/**
 * Records the rule of an incident. Another rule than before starts its escalation, unless the
 * incident is acknowledged or the workspace has too many that wait.
 * @param escalatesAt when the first step is due; null without an escalation
 */
export async function assignRule(
  db: Db,
  incidentId: string,
  { ruleId, escalatesAt }: { ruleId: string | null; escalatesAt: Date | null },
  maxEscalating: number,
): Promise<void> {
  const isSame = sql`i.rule_id is not distinct from ${ruleId}::uuid`
  await sql`
    update alert_incident i set rule_id = ${ruleId}::uuid,
      escalation_step = case when ${isSame} then escalation_step else 0 end,
      escalates_at = case
        when ${isSame} and (escalates_at is not null or escalation_step > 0) then escalates_at
        when acknowledged_at is not null or (
          select count(*) from alert_incident other
          where other.workspace_id = i.workspace_id and other.escalates_at is not null) >= ${maxEscalating} then null
        else ${escalatesAt}::timestamptz end
    where id = ${incidentId} and (rule_id is not null or ${ruleId}::uuid is not null)`.execute(db)
}

/** Where the rule of an incident sends alerts about it; null for an incident without a rule. */
export async function findRouteOfIncident(
  db: Db,
  incidentId: string,
): Promise<{ channels: string[]; quietRuleId: string | null } | null> {
  const row = await db
    .selectFrom('alertIncident')
    .innerJoin('alertRule', 'alertRule.id', 'alertIncident.ruleId')
    .select(['alertRule.id', 'channels', 'quietHours'])
    .where('alertIncident.id', '=', incidentId)
    .where('enabled', '=', true)
    .executeTakeFirst()
  return row
    ? { channels: row.channels, quietRuleId: row.quietHours === null ? null : row.id }
    : null
}

/** The rule of an incident, if it has quiet hours. */
export async function findQuietRule(db: Db, incidentId: string): Promise<string | null> {
  const row = await db
    .selectFrom('alertIncident')
    .innerJoin('alertRule', 'alertRule.id', 'alertIncident.ruleId')
    .select('alertRule.id')
    .where('alertIncident.id', '=', incidentId)
    .where('quietHours', 'is not', null)
    .executeTakeFirst()
  return row?.id ?? null
}
