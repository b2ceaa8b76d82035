import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../../store/database.ts'
import type { AlertRow } from '../../alerts.sql.ts'
import { coversIncident } from '../alert-silence.sql.ts'

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
      and exists (select from ${arrivedAt(sql.ref('c.id'), incidentId)} and m.state <> 'failed')
    order by c.id for key share of c`.execute(db)
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
