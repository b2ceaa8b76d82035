import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../store/database.ts'
import { updateRows } from '../../store/row.ts'
import type { Severity } from '../severity.ts'
import { covers } from './mutes.sql.ts'

/** Why an alert is recorded and not sent. */
const SILENCES = ['muted', 'snoozed', 'acknowledged', 'summarised'] as const
export type Silence = (typeof SILENCES)[number]

/** SQL condition: whether a mute covers an incident. */
export function isMutedIncident(incident: string): RawBuilder<boolean> {
  return sql<boolean>`exists (select from alert_mute m where ${coversIncident(incident)})`
}

/** SQL condition: whether mute `m` covers an incident. */
export function coversIncident(incident: string): RawBuilder<boolean> {
  return covers({
    workspaceId: sql.ref(`${incident}.workspace_id`),
    kind: sql.ref(`${incident}.kind`),
    path: sql.ref(`${incident}.path`),
    key: sql.ref(`${incident}.key`),
  })
}

/** An open incident before an alert about it. */
export type IncidentBefore = { severity: Severity; isAcknowledged: boolean; isSnoozed: boolean }

/** The open incident of this name, locked until the transaction ends. */
export async function lockIncident(
  db: Db,
  workspaceId: string,
  key: string,
): Promise<IncidentBefore | undefined> {
  const { rows } = await sql<IncidentBefore>`
    select severity, acknowledged_at is not null as is_acknowledged,
      coalesce(snoozed_until > now(), false) as is_snoozed
    from alert_incident where workspace_id = ${workspaceId} and key = ${key} and resolved_at is null
    for no key update`.execute(db)
  return rows[0]
}

export async function markSilenced(db: Db, alertId: string, silenced: Silence): Promise<void> {
  await updateRows(db, 'alert', { id: alertId }, { silenced })
}

/** Who acts: an account, or the holder of a link that a channel got. */
export type Actor = { accountId: string | null; via: string | null }

/** Acknowledges an open incident; false where it is not open, or acknowledged already. */
export async function acknowledge(
  db: Db,
  workspaceId: string,
  id: string,
  { accountId, via }: Actor,
): Promise<boolean> {
  return changeOpen(
    db,
    workspaceId,
    id,
    sql`acknowledged_at = now(), acknowledged_by = ${accountId}::uuid, acknowledged_via = ${via}::text`,
    sql`acknowledged_at is null`,
  )
}

export async function unacknowledge(db: Db, workspaceId: string, id: string): Promise<boolean> {
  return changeOpen(
    db,
    workspaceId,
    id,
    sql`acknowledged_at = null, acknowledged_by = null, acknowledged_via = null`,
    sql`acknowledged_at is not null`,
  )
}

/** Snoozes an open incident, or changes until when; false where it is not open. */
export async function snooze(
  db: Db,
  workspaceId: string,
  id: string,
  { accountId, via, until }: Actor & { until: Date },
): Promise<boolean> {
  return changeOpen(
    db,
    workspaceId,
    id,
    sql`snoozed_at = coalesce(snoozed_at, now()), snoozed_until = ${until},
      snoozed_by = ${accountId}::uuid, snoozed_via = ${via}::text`,
    sql`true`,
  )
}

async function changeOpen(
  db: Db,
  workspaceId: string,
  id: string,
  change: RawBuilder<unknown>,
  where: RawBuilder<unknown>,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update alert_incident set ${change}
    where workspace_id = ${workspaceId} and id = ${id} and resolved_at is null and ${where}`.execute(
    db,
  )
  return numAffectedRows > 0n
}
