import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../../store/database.ts'
import { dueInTurn, lockDueRows, type DueRows } from '../../../store/due-rows.ts'
import type { Severity } from '../../severity.ts'
import { isMutedIncident } from '../alert-silence.sql.ts'

/** An incident whose snooze has ended. */
export type EndedSnooze = {
  id: string
  workspaceId: string
  key: string
  kind: string
  severity: Severity
  title: string
  path: string
  isOpen: boolean
  isAcknowledged: boolean
  isMuted: boolean
  snoozedAt: Date
  snoozedUntil: Date
}

const OVERDUE_SNOOZES: DueRows = { table: 'alert_incident', dueAt: 'snoozed_until' }

/** Whether the snooze of an incident is over. */
export async function hasOverdueSnooze(db: Db): Promise<boolean> {
  const due = dueInTurn(OVERDUE_SNOOZES, { limit: 1 })
  return (await due.execute(db)).rows.length > 0
}

/** Ends one snooze that is over, unless another instance does; undefined where there is none. */
export async function endOverdueSnooze(db: Db): Promise<EndedSnooze | undefined> {
  return endSnoozeWhere(db, sql`i.id = (${lockDueRows(OVERDUE_SNOOZES, { limit: 1 })})`)
}

/** Ends the snooze of an open incident; undefined where it is not snoozed. */
export async function endSnoozeOf(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<EndedSnooze | undefined> {
  return endSnoozeWhere(
    db,
    sql`i.workspace_id = ${workspaceId} and i.id = ${id} and i.resolved_at is null`,
  )
}

async function endSnoozeWhere(
  db: Db,
  where: RawBuilder<unknown>,
): Promise<EndedSnooze | undefined> {
  const { rows } = await sql<EndedSnooze>`
    with before as materialized (
      select i.id, i.snoozed_at, i.snoozed_until from alert_incident i
      where ${where} and i.snoozed_until is not null for no key update)
    update alert_incident i
    set snoozed_at = null, snoozed_until = null, snoozed_by = null, snoozed_via = null
    from before where i.id = before.id
    returning i.id, i.workspace_id, i.key, i.kind, i.severity, i.title, i.path,
      i.resolved_at is null as is_open, i.acknowledged_at is not null as is_acknowledged,
      ${isMutedIncident('i')} as is_muted, before.snoozed_at, before.snoozed_until`.execute(db)
  return rows[0]
}

export async function countAlertOf(db: Db, incidentId: string): Promise<void> {
  await sql`update alert_incident set alerts = alerts + 1, updated_at = now()
    where id = ${incidentId}`.execute(db)
}
