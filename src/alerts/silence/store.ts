import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import type { Severity } from '../severity.ts'
import type { AlertRow } from '../store.ts'
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

/** How an incident is handled. People are email addresses. */
export type HandlingRow = {
  id: string
  acknowledgedAt: Date | null
  acknowledgedBy: string | null
  /** Channel whose link was used. */
  acknowledgedVia: string | null
  snoozedUntil: Date | null
  snoozedBy: string | null
  snoozedVia: string | null
  /** The mute that covers it. */
  mute: {
    id: string
    reason: string
    until: string | null
    by: string | null
    via: string | null
  } | null
}

/** How these incidents of a workspace are handled. */
export async function listHandling(db: Db, ids: string[]): Promise<HandlingRow[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<HandlingRow>`
    select i.id, i.acknowledged_at, acknowledger.email as acknowledged_by, i.acknowledged_via,
      case when i.snoozed_until > now() and i.resolved_at is null then i.snoozed_until end as snoozed_until,
      snoozer.email as snoozed_by, i.snoozed_via,
      case when i.resolved_at is null then (
        select jsonb_build_object('id', m.id, 'reason', m.reason, 'until', m.ends_at, 'by', muter.email, 'via', m.created_via)
        from alert_mute m left join account muter on muter.id = m.created_by
        where ${coversIncident('i')} order by m.ends_at desc nulls first limit 1) end as mute
    from alert_incident i
    left join account acknowledger on acknowledger.id = i.acknowledged_by
    left join account snoozer on snoozer.id = i.snoozed_by
    where i.id = any(${ids}::uuid[])`.execute(db)
  return rows
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

/** Takes waiting updates of an acknowledged incident out of their messages. */
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

/** SQL condition: whether alerts of this incident went to channel `c`, as message `m`. */
function arrivedAt(channel: RawBuilder<unknown>, incidentId: string): RawBuilder<unknown> {
  return sql`alert_message_content content
    join alert_message m on m.id = content.message_id join alert a on a.id = content.alert_id
    where m.channel_id = ${channel} and a.incident_id = ${incidentId}
      and not content.dropped and a.phase <> 'resolved'`
}

/** Queues a message that shows who handles an incident, where the service can and knows it. */
export async function queueHandling(
  db: Db,
  workspaceId: string,
  incidentId: string,
  types: string[],
): Promise<void> {
  await sql`
    insert into alert_message (channel_id, collecting, handling_of)
    select c.id, false, ${incidentId} from alert_channel c
    where c.workspace_id = ${workspaceId} and c.type = any(${types}) and c.enabled
      and c.disabled_reason is null and c.confirmed_at is not null
      and exists (select from ${arrivedAt(sql.ref('c.id'), incidentId)} and m.state <> 'failed')`.execute(
    db,
  )
}

/** The last alert of an open incident that a channel got; undefined where there is none. */
export async function findArrivedAlert(
  db: Db,
  channelId: string,
  incidentId: string,
): Promise<AlertRow | undefined> {
  const { rows } = await sql<AlertRow>`
    select a.id, a.kind, a.title, a.text, a.next_step, a.path, a.at, a.phase, a.severity, a.incident_id,
      (select key from alert_incident where id = a.incident_id) as incident
    from ${arrivedAt(sql`${channelId}::uuid`, incidentId)} and m.state = 'sent'
      and exists (select from alert_incident where id = a.incident_id and resolved_at is null)
    order by a.id desc limit 1`.execute(db)
  return rows[0]
}
