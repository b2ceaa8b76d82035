import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import type { Severity } from '../severity.ts'
import { covers } from './mutes/store.ts'

/** Why an alert is recorded and not sent. */
export const SILENCES = ['muted', 'snoozed', 'acknowledged', 'summarised'] as const
export type Silence = (typeof SILENCES)[number]

/**
 * SQL condition: whether nothing is sent about an incident at the moment, because it is snoozed or
 * a mute covers it. An acknowledged incident is not silent by this condition: it has
 * `acknowledged_at`.
 * @param incident alias of `alert_incident` in the query
 */
export function isSilent(incident: string): RawBuilder<boolean> {
  return sql<boolean>`(coalesce(${sql.ref(`${incident}.snoozed_until`)} > now(), false) or ${isMutedIncident(incident)})`
}

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
  await db.updateTable('alert').set({ silenced }).where('id', '=', alertId).execute()
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

/** Whether the snooze of an incident is over. */
export async function hasOverdueSnooze(db: Db): Promise<boolean> {
  const { rows } = await sql<{ exists: boolean }>`
    select exists (select from alert_incident where snoozed_until <= now()
      and not ${isInDeletedWorkspace('workspace_id')}) as exists`.execute(db)
  return rows[0]?.exists ?? false
}

/** Ends one snooze that is over, unless another instance does; undefined where there is none. */
export async function endOverdueSnooze(db: Db): Promise<EndedSnooze | undefined> {
  return endSnoozeWhere(
    db,
    sql`i.id = (select id from alert_incident where snoozed_until <= now()
      and not ${isInDeletedWorkspace('workspace_id')}
      order by snoozed_until limit 1 for no key update skip locked)`,
  )
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

export type HeldBackAlert = { id: string; kind: string; title: string; phase: string }

/** The alerts that were held back by the snooze of an incident, oldest first. */
export async function listHeldBack(db: Db, incidentId: string): Promise<HeldBackAlert[]> {
  return db
    .selectFrom('alert')
    .select(['id', 'kind', 'title', 'phase'])
    .where('incidentId', '=', incidentId)
    .where('silenced', '=', 'snoozed')
    .orderBy('at')
    .orderBy('id')
    .execute()
}

/** Records why alerts that a snooze had held back were not sent; null where they are sent now. */
export async function releaseHeldBack(
  db: Db,
  ids: string[],
  silenced: Silence | null,
): Promise<void> {
  if (ids.length === 0) return
  await db.updateTable('alert').set({ silenced }).where('id', 'in', ids).execute()
}

export async function countAlertOf(db: Db, incidentId: string): Promise<void> {
  await sql`update alert_incident set alerts = alerts + 1, updated_at = now()
    where id = ${incidentId}`.execute(db)
}

/**
 * Takes alerts out of messages that wait to be sent.
 * @param which SQL condition on `alert` `a` and its incident `i`
 */
export async function holdBackWaiting(
  db: Db,
  workspaceId: string,
  which: RawBuilder<unknown>,
  silenced: Silence,
): Promise<void> {
  await sql`
    with held as (
      delete from alert_message_content c using alert_message m, alert a
        left join alert_incident i on i.id = a.incident_id
      where m.id = c.message_id and m.state = 'waiting' and not c.dropped and a.id = c.alert_id
        and a.workspace_id = ${workspaceId} and ${which}
      returning c.alert_id)
    update alert set silenced = ${silenced} where id in (select alert_id from held)`.execute(db)
}

/** Takes the waiting alerts of an incident out of their messages. */
export async function holdBackIncident(
  db: Db,
  workspaceId: string,
  incidentId: string,
): Promise<void> {
  await holdBackWaiting(db, workspaceId, sql`a.incident_id = ${incidentId}`, 'snoozed')
}

/** Takes waiting news of an acknowledged incident out of their messages. */
export async function holdBackUpdates(
  db: Db,
  workspaceId: string,
  incidentId: string,
): Promise<void> {
  const which = sql`a.incident_id = ${incidentId} and a.phase = 'update'`
  await holdBackWaiting(db, workspaceId, which, 'acknowledged')
}

/** Takes waiting alerts that a mute covers out of their messages. */
export async function holdBackMuted(db: Db, workspaceId: string, muteId: string): Promise<void> {
  const subject = {
    workspaceId: sql.ref('a.workspace_id'),
    kind: sql.ref('a.kind'),
    path: sql.ref('a.path'),
    key: sql.ref('i.key'),
  }
  const which = sql`a.phase <> 'resolved'
    and exists (select from alert_mute m where m.id = ${muteId} and ${covers(subject)})`
  await holdBackWaiting(db, workspaceId, which, 'muted')
}
