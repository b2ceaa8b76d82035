import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { findRow } from '../../store/row.ts'
import type { ChannelRow } from '../channels/channel.ts'
import type { ClaimedMessage } from './claimed-messages.sql.ts'
import { OUTBOX } from './due-messages.sql.ts'

/** The message at the service about an incident; null where there is none. */
export async function findRef(
  db: Db,
  channelId: string,
  incidentId: string,
): Promise<string | null> {
  const row = await findRow(db, 'alertIncidentRef', ['ref'], { channelId, incidentId })
  return row?.ref ?? null
}

/** Stores the message at the service about an incident, where both still exist. */
export async function saveRef(
  db: Db,
  { channelId, incidentId, ref }: { channelId: string; incidentId: string; ref: string },
): Promise<void> {
  await sql`
    insert into alert_incident_ref (channel_id, incident_id, ref)
    select c.id, i.id, ${ref} from alert_channel c, alert_incident i
    where c.id = ${channelId} and i.id = ${incidentId} for key share
    on conflict (channel_id, incident_id) do update set ref = excluded.ref`.execute(db)
}

export async function markSent(db: Db, message: ClaimedMessage): Promise<void> {
  const isOurs = await OUTBOX.end(db, [message], 'sent', { endedAt: new Date(), error: null })
  // All its alerts were dropped: nothing was sent.
  if (!isOurs || (message.alerts.length === 0 && message.summarises === 0)) return
  await db
    .updateTable('alertChannel')
    .set({
      lastSentAt: sql<Date>`now()`,
      failingSince: null,
      lastError: null,
      retryAt: null,
      deadAt: null,
    })
    .where('id', '=', message.channel.id)
    .execute()
}

/** @returns false when another sender has it */
export function markMessageEnded(
  db: Db,
  message: ClaimedMessage,
  state: 'failed' | 'uncertain',
  error: string,
): Promise<boolean> {
  return OUTBOX.end(db, [message], state, { endedAt: new Date(), error })
}

/** Fails a message, and counts its alerts in one that is sent once the service is back. */
export async function giveUpMessage(
  db: Db,
  message: ClaimedMessage,
  error: string,
  summaryAt: Date,
): Promise<void> {
  const count = message.alerts.length + message.summarises
  const isOurs = await markMessageEnded(db, message, 'failed', error)
  if (!isOurs || count === 0) return
  await sql`
    insert into alert_message as m (channel_id, collecting, summarises, due_at)
    select id, false, ${count}, ${summaryAt}::timestamptz from alert_channel
    where id = ${message.channel.id} for key share
    on conflict (channel_id) where summarises > 0 and state = 'waiting'
    do update set summarises = m.summarises + excluded.summarises`.execute(db)
}

export type DeliveryRow = {
  alertId: string
  channel:
    | Pick<ChannelRow, 'id' | 'type' | 'target' | 'settingsShown' | 'label'>
    /** It was deleted. */
    | { type: string; name: string }
  state: string
  dropped: boolean
  at: Date | null
  error: string | null
}

/** Lists the deliveries of these alerts on each channel, also on deleted ones. */
export async function listDeliveries(db: Db, alertIds: string[]): Promise<DeliveryRow[]> {
  if (alertIds.length === 0) return []
  const rows = await db
    .selectFrom('alertMessageContent as content')
    .innerJoin('alertMessage as message', 'message.id', 'content.messageId')
    .leftJoin('alertChannel as channel', 'channel.id', 'message.channelId')
    .select(['content.alertId', 'content.dropped', 'message.state', 'message.endedAt as at'])
    .select(['message.error', 'channel.id', 'channel.type', 'channel.target', 'channel.label'])
    .select(['channel.settingsShown', 'deletedChannelType', 'deletedChannelName'])
    .where('content.alertId', 'in', alertIds)
    .orderBy('message.id')
    .execute()
  return rows.map(({ deletedChannelType, deletedChannelName, ...row }) => {
    const { id, type, target, label, settingsShown, ...delivery } = row
    const channel = { id, type, target, label, settingsShown }
    return {
      ...delivery,
      channel:
        id === null
          ? { type: deletedChannelType ?? '', name: deletedChannelName ?? '' }
          : (channel as Extract<DeliveryRow['channel'], { id: string }>),
    }
  })
}
