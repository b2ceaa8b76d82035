import { sql } from 'kysely'
import type { Db } from '../../../store/database.ts'
import { dueInTurn, lockDueRows, type DueRows } from '../../../store/due-rows.ts'
import { updateRows } from '../../../store/row.ts'
import { isMutedIncident } from '../../silence/alert-silence.sql.ts'
import type { Escalation, RuleQuietHours, RuleSettings } from '../rule.ts'

/** Incidents whose next step is due. Each is locked while its step is taken. */
const DUE_ESCALATIONS: DueRows = {
  table: 'alert_incident',
  dueAt: 'escalates_at',
  join: sql`left join alert_rule on alert_rule.id = r.rule_id`,
}

/** Incidents whose next step is due, of accounts in turn. */
export async function listDueEscalations(db: Db, limit: number): Promise<string[]> {
  const { rows } = await dueInTurn<{ id: string }>(DUE_ESCALATIONS, { limit }).execute(db)
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
  const incident = sql`r.id, r.workspace_id, r.severity, r.kind, r.opened_at,
    r.resolved_at is not null or r.acknowledged_at is not null or ${isMutedIncident('r')} as is_over,
    case when r.snoozed_until > now() then r.snoozed_until end as snoozed_until,
    r.escalation_step as step, alert_rule.id as rule_id, enabled, escalation, quiet_hours, critical_anytime,
    (select a.id from alert a where a.incident_id = r.id and a.phase <> 'resolved'
      order by a.id desc limit 1) as alert_id`
  const where = sql`r.id = ${id}`
  const { rows } = await lockDueRows<DueEscalation>(DUE_ESCALATIONS, { where }, incident).execute(
    db,
  )
  return rows[0]
}

/** @param at when the next step is due; null when none is left */
export async function scheduleEscalation(
  db: Db,
  id: string,
  { step, at }: { step: number; at: Date | null },
): Promise<void> {
  await updateRows(db, 'alertIncident', { id }, { escalationStep: step, escalatesAt: at })
}
