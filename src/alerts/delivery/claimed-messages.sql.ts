import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import { CHANNEL, type ChannelRow } from '../channels/channel.ts'
import { escalatedAlert } from '../rules/messages.ts'
import type { AlertRow } from '../alerts.sql.ts'
import { hasTurn, OUTBOX, tokensNow, type TypesByDelivery } from './due-messages.sql.ts'

/** A message with its channel; `attempts` identifies this attempt. */
export type ClaimedMessage = {
  id: string
  attempts: number
  createdAt: Date
  /** Above 0: a message about so many alerts that could not be sent. */
  summarises: number
  /** The incident whose handling it shows; null for a message with alerts. */
  handlingOf: string | null
  channel: ChannelRow
  alerts: AlertRow[]
}

/**
 * Claims those of these messages that no other sender has claimed. A message of a burst with few
 * alerts becomes one for each, which follow in their order.
 */
export async function claimMessages(
  db: Db,
  ids: string[],
  leaseSecondsOf: (channel: ChannelRow) => number,
  { bursts, perMinute }: TypesByDelivery,
  maxUngrouped: number,
): Promise<ClaimedMessage[]> {
  const claimed: ClaimedMessage[] = []
  for (const id of ids) {
    const message = await db.transaction().execute(async (trx) => {
      const channel = await lockChannelOf(trx, id)
      if (!channel) return undefined
      await lockMessage(trx, id)
      await splitMessage(trx, id, bursts, maxUngrouped)
      const taken = await takeMessage(trx, id, leaseSecondsOf(channel), perMinute)
      return taken && { ...taken, channel, alerts: await listContent(trx, id) }
    })
    if (message) claimed.push(message)
  }
  return claimed
}

/**
 * Serialises the senders of a channel, so that each sees what the one before it claimed. Alerts can
 * be queued meanwhile.
 */
async function lockChannelOf(db: Db, messageId: string): Promise<ChannelRow | undefined> {
  const row = await db
    .selectFrom('alertChannel')
    .select(CHANNEL)
    .where('id', '=', (query) =>
      query.selectFrom('alertMessage').select('channelId').where('id', '=', messageId),
    )
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row as ChannelRow | undefined
}

/** Waits for alerts that are being added, so that the next statement sees them. */
async function lockMessage(db: Db, id: string): Promise<void> {
  await db.selectFrom('alertMessage').select('id').where('id', '=', id).forUpdate().execute()
}

/** Claims a message and a token of its channel; undefined where another sender has it. */
async function takeMessage(
  db: Db,
  id: string,
  leaseSeconds: number,
  perMinute: Record<string, number>,
): Promise<Omit<ClaimedMessage, 'channel' | 'alerts'> | undefined> {
  const isPicked = sql`r.id in (select id from picked)`
  const columns = ['id', 'attempts', 'created_at', 'summarises', 'handling_of']
  const claim = OUTBOX.claim(isPicked, columns, { leaseSeconds, set: { collecting: false } })
  const { rows } = await sql<Omit<ClaimedMessage, 'channel' | 'alerts'>>`
    with picked as (
      select m.id, m.channel_id from alert_message m join alert_channel c on c.id = m.channel_id
      where m.id = ${id} and m.state = 'waiting' and m.due_at <= now()
        and not ${isInDeletedWorkspace('c.workspace_id')}
        and ${hasTurn(perMinute)}),
    taken as (
      update alert_channel c set tokens = ${tokensNow(perMinute)} - 1, tokens_at = now()
      from picked where c.id = picked.channel_id and ${JSON.stringify(perMinute)}::jsonb ? c.type)
    ${claim}`.execute(db)
  return rows[0]
}

/**
 * Keeps the first alert of a message with few, and gives each of the others its own message. What
 * has waited for the quiet hours of a rule stays one summary.
 */
async function splitMessage(
  db: Db,
  id: string,
  bursts: string[],
  maxUngrouped: number,
): Promise<void> {
  await sql`
    with message as (
      update alert_message m set collecting = false from alert_channel c
      where m.id = ${id} and m.state = 'waiting' and m.attempts = 0 and c.id = m.channel_id and c.type = any(${bursts})
        and not (m.rule_collecting and m.due_at > m.created_at)
      returning m.id, m.channel_id, m.due_at, m.created_at),
    content as (
      select c.alert_id, row_number() over (order by a.at, a.id) as place, count(*) over () as count
      from alert_message_content c join message on message.id = c.message_id join alert a on a.id = c.alert_id
      where not c.dropped),
    others as (
      select alert_id, place, uuid_v7() as new_id from content
      where place > 1 and count <= ${maxUngrouped}),
    inserted as (
      insert into alert_message (id, channel_id, collecting, due_at, created_at)
      select new_id, channel_id, false, due_at, created_at + place * interval '1 microsecond' from others, message returning id),
    removed as (
      delete from alert_message_content c using others, message
      where c.message_id = message.id and c.alert_id = others.alert_id)
    insert into alert_message_content (message_id, alert_id) select new_id, alert_id from others`.execute(
    db,
  )
}

async function listContent(db: Db, messageId: string): Promise<AlertRow[]> {
  const rows = await db
    .selectFrom('alertMessageContent as content')
    .innerJoin('alert', 'alert.id', 'content.alertId')
    .leftJoin('alertIncident as incident', 'incident.id', 'alert.incidentId')
    .select(['alert.id', 'alert.kind', 'alert.title', 'text', 'nextStep', 'alert.path', 'at'])
    .select(['phase', 'alert.severity', 'alert.incidentId', 'incident.key as incident'])
    .select('content.escalatedMinutes')
    .where('content.messageId', '=', messageId)
    .where('content.dropped', '=', false)
    .orderBy('at')
    .orderBy('alert.id')
    .execute()
  return rows.map(({ escalatedMinutes, ...row }) => asEscalated(row as AlertRow, escalatedMinutes))
}

function asEscalated(alert: AlertRow, minutes: number | null): AlertRow {
  if (minutes === null) return alert
  const { title, text } = alert
  return {
    ...alert,
    title: escalatedAlert.title(title),
    text: `${escalatedAlert.text(minutes)}\n\n${text}`,
  }
}
