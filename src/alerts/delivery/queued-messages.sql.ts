import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import { DEFAULT_ROUTE, type AlertRoute } from '../rules/route-alert.ts'
import { SEVERITIES, type Phase, type Severity } from '../severity.ts'

type QueuedAlert = {
  workspaceId: string
  kind: string
  severity: Severity
  phase: Phase
  incidentId: string | null
  /** Restricts the channel types that get it; all without it. */
  types?: { only: string[] } | { except: string[] }
}

/**
 * Adds an alert to the next message of each channel of the workspace, unless it is deleted. The end
 * of an incident goes only where something about it arrived.
 * @param batchedTypes channel types whose messages collect alerts; others get a message of their
 *   own
 * @param route channels that a rule names, instead of those whose settings fit
 */
export async function queueAlert(
  db: Db,
  alert: QueuedAlert,
  alertId: string,
  batchedTypes: string[],
  { channels, quietRuleId }: AlertRoute = DEFAULT_ROUTE,
): Promise<void> {
  const { kind, severity, incidentId, types = { except: [] } } = alert
  const hasType =
    'only' in types ? sql`type = any(${types.only})` : sql`type <> all(${types.except})`
  const isEnd = alert.phase === 'resolved' && incidentId !== null
  if (isEnd) await dropUnsent(db, incidentId, alertId)
  const settingsFit = sql`(kinds is null or split_part(${kind}, '.', 1) = any(kinds))
        and (min_severity is null or ${alert.phase} = 'resolved'
          or array_position(${SEVERITIES}::text[], ${severity}) <= array_position(${SEVERITIES}::text[], min_severity))`
  const filter = isEnd
    ? sql`exists (select from alert_message_content c
        join alert_message m on m.id = c.message_id join alert a on a.id = c.alert_id
        where m.channel_id = alert_channel.id and a.incident_id = ${incidentId} and a.id <> ${alertId}
          and (not c.dropped and m.state <> 'failed' or c.dropped and m.state = 'waiting' and m.due_at > now()))`
    : channels === null
      ? settingsFit
      : sql`id = any(${channels}::uuid[])`
  await insertContent(
    db,
    { ...alert, alertId, hasType, filter, quietRuleId, escalatedMinutes: null },
    batchedTypes,
  )
}

/**
 * Adds an alert to the next message of channels again, because it was not acknowledged.
 * @returns the number of channels that can receive it
 */
export async function queueEscalation(
  db: Db,
  alert: { workspaceId: string; severity: Severity; alertId: string; minutes: number },
  channels: string[],
  batchedTypes: string[],
): Promise<number> {
  const filter = sql`id = any(${channels}::uuid[])`
  const content = {
    ...alert,
    hasType: sql`true`,
    filter,
    quietRuleId: null,
    escalatedMinutes: alert.minutes,
  }
  return insertContent(db, content, batchedTypes)
}

type NewContent = {
  workspaceId: string
  severity: Severity
  alertId: string
  /** Conditions of the channels. */
  hasType: RawBuilder<unknown>
  filter: RawBuilder<unknown>
  quietRuleId: string | null
  escalatedMinutes: number | null
}

/**
 * Alerts that may wait for the quiet hours of a rule collect in a message of their own.
 * @returns the number of channels
 */
async function insertContent(
  db: Db,
  { workspaceId, severity, alertId, hasType, filter, quietRuleId, escalatedMinutes }: NewContent,
  batchedTypes: string[],
): Promise<number> {
  const isBatched = sql`type = any(${batchedTypes})`
  const [collecting, forRule, target] =
    quietRuleId === null
      ? [isBatched, sql`false`, sql`(channel_id) where collecting`]
      : [
          sql`false`,
          isBatched,
          sql`(channel_id, rule_id) where rule_collecting and state = 'waiting' and attempts = 0`,
        ]
  // Locked, so that one that is being deleted is skipped and does not fail the foreign key.
  const { numAffectedRows = 0n } = await sql`
    with receiving as (
      select id, type from alert_channel
      where workspace_id = ${workspaceId} and enabled and disabled_reason is null and confirmed_at is not null
        and ${hasType}
        and ${filter}
        and not ${isInDeletedWorkspace('workspace_id')}
      order by id for key share),
    message as (
      insert into alert_message as m (channel_id, collecting, rule_id, rule_collecting)
      select id, ${collecting}, ${quietRuleId}::uuid, ${forRule} from receiving order by id
      on conflict ${target} do update set collecting = m.collecting,
        due_at = case when ${severity} = 'critical' then least(m.due_at, now()) else m.due_at end
      returning id)
    insert into alert_message_content (message_id, alert_id, escalated_minutes)
    select id, ${alertId}, ${escalatedMinutes}::int from message
    on conflict (message_id, alert_id) do update set escalated_minutes = excluded.escalated_minutes`.execute(
    db,
  )
  return Number(numAffectedRows)
}

/**
 * Takes the alerts of an incident that ended out of messages that were never attempted. Where those
 * only wait for a moment, the end is not sent either; where they wait for the end of quiet hours,
 * the end is the one line that remains.
 */
async function dropUnsent(db: Db, incidentId: string, endId: string): Promise<void> {
  await sql`
    with unsent as (
      select c.message_id, c.alert_id from alert_message m join alert_message_content c on c.message_id = m.id
      where m.state = 'waiting' and m.attempts = 0 and not c.dropped
        and c.alert_id in (select id from alert where incident_id = ${incidentId})
      for update of m),
    dropped as (
      update alert_message_content c set dropped = true from unsent u
      where c.message_id = u.message_id and c.alert_id = u.alert_id returning c.message_id)
    insert into alert_message_content (message_id, alert_id, dropped)
    select distinct d.message_id, ${endId}::uuid, true from dropped d join alert_message m on m.id = d.message_id
    where m.due_at <= now() and not exists (
      select from alert_message_content c join alert_message sent on sent.id = c.message_id
      where sent.channel_id = m.channel_id and sent.state <> 'waiting' and sent.state <> 'failed' and not c.dropped
        and c.alert_id in (select id from alert where incident_id = ${incidentId}))
    on conflict do nothing`.execute(db)
}
