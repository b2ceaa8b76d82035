import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import { CHANNEL, type ChannelRow } from '../channels/store.ts'
import type { QuietHours } from '../quiet-hours.ts'
import type { AlertRow } from '../store.ts'

/** A message with its channel; `attempts` identifies this attempt. */
export type ClaimedMessage = {
  id: string
  attempts: number
  channel: ChannelRow
  alerts: AlertRow[]
}

export type Batching = {
  /**
   * Milliseconds for which a message collects alerts, and between two batched messages of a
   * channel.
   */
  holdMs: number
  gapMs: number
}

/**
 * Adds an alert to the next message of each channel of the workspace, unless it is deleted.
 * @param batchedTypes channel types whose messages collect alerts; others get a message of their
 *   own
 */
export async function queueAlert(
  db: Db,
  { workspaceId, kind }: { workspaceId: string; kind: string },
  alertId: string,
  batchedTypes: string[],
): Promise<void> {
  await sql`
    with message as (
      insert into alert_message (channel_id, collecting)
      select id, type = any(${batchedTypes}) from alert_channel
      where workspace_id = ${workspaceId} and enabled and disabled_reason is null and confirmed_at is not null
        and (kinds is null or split_part(${kind}, '.', 1) = any(kinds))
        and not ${isInDeletedWorkspace('workspace_id')}
      order by id
      on conflict (channel_id) where collecting do update set collecting = true
      returning id)
    insert into alert_message_content (message_id, alert_id) select id, ${alertId} from message`.execute(
    db,
  )
}

/**
 * Lists due messages with the quiet hours of their channels. Workspaces take turns, and none gets
 * more than its share of messages in transit over all instances. Messages of deleted ones wait.
 */
export async function listDue(
  db: Db,
  { holdMs, gapMs }: Batching,
  { limit, perWorkspace }: { limit: number; perWorkspace: number },
) {
  const { rows } = await sql<{ id: string; quietHours: QuietHours | null }>`
    with sending as (
      select c.workspace_id, count(*) as count from alert_message m join alert_channel c on c.id = m.channel_id
      where m.state in ('sending', 'handed-over') group by c.workspace_id),
    due as (
      select m.id, m.due_at, c.quiet_hours, c.workspace_id,
        row_number() over (partition by c.workspace_id order by m.due_at, m.id) as place
      from alert_message m join alert_channel c on c.id = m.channel_id
      where m.state = 'waiting' and m.due_at <= now() and not ${isInDeletedWorkspace('c.workspace_id')}
        and (not m.collecting or (m.created_at <= now() - ${holdMs} * interval '1 millisecond'
          and coalesce(c.last_sent_at, '-infinity') <= now() - ${gapMs} * interval '1 millisecond')))
    select due.id, due.quiet_hours from due left join sending using (workspace_id)
    where due.place + coalesce(sending.count, 0) <= ${perWorkspace}
    order by due.place + coalesce(sending.count, 0), due.due_at limit ${limit}`.execute(db)
  return rows
}

export async function postponeMessage(db: Db, id: string, dueAt: Date): Promise<void> {
  await db
    .updateTable('alertMessage')
    .set({ dueAt })
    .where('id', '=', id)
    .where('state', '=', 'waiting')
    .execute()
}

/** Claims those of these messages that no other sender has claimed. */
export async function claimMessages(
  db: Db,
  ids: string[],
  leaseSeconds: number,
): Promise<ClaimedMessage[]> {
  const { rows } = await sql<{ id: string; attempts: number; channelId: string }>`
    update alert_message set state = 'sending', collecting = false, attempts = attempts + 1,
      claimed_until = now() + ${leaseSeconds} * interval '1 second'
    where id in (
      select id from alert_message where id = any(${ids}) and state = 'waiting' and due_at <= now() for update skip locked)
    returning id, attempts, channel_id`.execute(db)
  return Promise.all(
    rows.map(async ({ id, attempts, channelId }) => {
      const channel = db.selectFrom('alertChannel').select(CHANNEL).where('id', '=', channelId)
      return {
        id,
        attempts,
        channel: (await channel.executeTakeFirstOrThrow()) as ChannelRow,
        alerts: await listContent(db, id),
      }
    }),
  )
}

async function listContent(db: Db, messageId: string): Promise<AlertRow[]> {
  const rows = await db
    .selectFrom('alertMessageContent as content')
    .innerJoin('alert', 'alert.id', 'content.alertId')
    .select(['alert.id', 'kind', 'title', 'text', 'nextStep', 'path', 'at', 'phase', 'severity'])
    .where('content.messageId', '=', messageId)
    .orderBy('at')
    .orderBy('alert.id')
    .execute()
  return rows as AlertRow[]
}

/**
 * Records that the receiver may have the message from now on; false when another sender has claimed
 * it.
 */
export async function markHandedOver(db: Db, message: ClaimedMessage): Promise<boolean> {
  return changeClaimed(db, message, { state: 'handed-over' })
}

export async function markSent(db: Db, message: ClaimedMessage): Promise<void> {
  const isOurs = await changeClaimed(db, message, {
    state: 'sent',
    endedAt: new Date(),
    error: null,
  })
  if (!isOurs) return
  await db
    .updateTable('alertChannel')
    .set({ lastSentAt: sql<Date>`now()`, failingSince: null, lastError: null })
    .where('id', '=', message.channel.id)
    .execute()
}

/** Schedules another attempt. */
export async function markPostponed(
  db: Db,
  message: ClaimedMessage,
  dueAt: Date,
  error: string,
): Promise<void> {
  await changeClaimed(db, message, { state: 'waiting', dueAt, error })
}

export async function markMessageEnded(
  db: Db,
  message: ClaimedMessage,
  state: 'failed' | 'uncertain',
  error: string,
): Promise<void> {
  await changeClaimed(db, message, { state, endedAt: new Date(), error })
}

type MessageChange = { state: string; dueAt?: Date; endedAt?: Date; error?: string | null }

async function changeClaimed(
  db: Db,
  { id, attempts }: ClaimedMessage,
  change: MessageChange,
): Promise<boolean> {
  const row = await db
    .updateTable('alertMessage')
    .set(change)
    .where('id', '=', id)
    .where('attempts', '=', attempts)
    .where('state', 'in', ['sending', 'handed-over'])
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Recovers the messages of senders that died: they are sent again unless the receiver may have
 * them, in which case they end as uncertain.
 */
export async function recoverMessages(db: Db): Promise<void> {
  await sql`
    update alert_message set
      state = case state when 'sending' then 'waiting' else 'uncertain' end,
      ended_at = case state when 'sending' then null else now() end,
      error = 'The service stopped while sending.'
    where state in ('sending', 'handed-over') and claimed_until < now()`.execute(db)
}

export type DeliveryRow = {
  alertId: string
  channelId: string
  type: string
  state: string
  at: Date | null
  error: string | null
}

/** Lists the deliveries of these alerts on each channel. */
export async function listDeliveries(db: Db, alertIds: string[]): Promise<DeliveryRow[]> {
  if (alertIds.length === 0) return []
  return db
    .selectFrom('alertMessageContent as content')
    .innerJoin('alertMessage as message', 'message.id', 'content.messageId')
    .innerJoin('alertChannel as channel', 'channel.id', 'message.channelId')
    .select(['content.alertId', 'channel.id as channelId', 'channel.type'])
    .select(['message.state', 'message.endedAt as at', 'message.error'])
    .where('content.alertId', 'in', alertIds)
    .orderBy('message.id')
    .execute()
}
