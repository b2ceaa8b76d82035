import { sql } from 'kysely'
import type { Db } from '../../../store/database.ts'
import { isInDeletedWorkspace } from '../../../store/deleted-workspaces.ts'
import { isMutedIncident } from '../../silence/store.ts'
import type { Escalation, RuleQuietHours, RuleSettings } from '../rule.ts'

/**
 * Incidents whose next step is due. Workspaces take turns, so that thousands of one do not delay
 * others; those of deleted ones wait.
 */
export async function listDueEscalations(db: Db, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with due as (
      select id, escalates_at, row_number() over (partition by workspace_id order by escalates_at, id) as turn
      from alert_incident where escalates_at <= now() and not ${isInDeletedWorkspace('workspace_id')})
    select id from due order by turn, escalates_at limit ${limit}`.execute(db)
  return rows.map(({ id }) => id)
}

/** An incident whose next step is due, with its rule. */
export type DueEscalation = {
  id: string
  workspaceId: string
  severity: RuleSettings['minSeverity']
  kind: string
  openedAt: Date
  /** It is resolved, acknowledged or muted. */
  isOver: boolean
  snoozedUntil: Date | null
  step: number
  ruleId: string | null
  enabled: boolean | null
  escalation: Escalation | null
  quietHours: RuleQuietHours | null
  criticalAnytime: boolean | null
  /** Its last alert that did not resolve it. */
  alertId: string | null
}

/** Locks an incident whose step is due; undefined where another instance has taken the step. */
export async function claimEscalation(db: Db, id: string): Promise<DueEscalation | undefined> {
  const { rows } = await sql<DueEscalation>`
    select i.id, i.workspace_id, i.severity, i.kind, i.opened_at,
      i.resolved_at is not null or i.acknowledged_at is not null or ${isMutedIncident('i')} as is_over,
      case when i.snoozed_until > now() then i.snoozed_until end as snoozed_until,
      i.escalation_step as step, r.id as rule_id, r.enabled, r.escalation, r.quiet_hours, r.critical_anytime,
      (select a.id from alert a where a.incident_id = i.id and a.phase <> 'resolved'
        order by a.id desc limit 1) as alert_id
    from alert_incident i left join alert_rule r on r.id = i.rule_id
    where i.id = ${id} and i.escalates_at <= now() and not ${isInDeletedWorkspace('i.workspace_id')}
    for update of i skip locked`.execute(db)
  return rows[0]
}

/** @param at when the next step is due; null when none is left */
export async function scheduleEscalation(
  db: Db,
  id: string,
  { step, at }: { step: number; at: Date | null },
): Promise<void> {
  await db
    .updateTable('alertIncident')
    .set({ escalationStep: step, escalatesAt: at })
    .where('id', '=', id)
    .execute()
}
