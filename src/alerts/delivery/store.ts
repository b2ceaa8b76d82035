import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import { CHANNEL, type ChannelRow } from '../channels/store.ts'
import type { QuietHours } from '../quiet-hours.ts'
import { escalatedAlert } from '../rules/messages.ts'
import type { RuleQuietHours } from '../rules/rule.ts'
import type { AlertRow } from '../store.ts'

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

export type Batching = {
  /**
   * Milliseconds for which a message collects alerts, and between two batched messages of a
   * channel.
   */
  holdMs: number
  gapMs: number
  /** Milliseconds for which chats collect the alerts of a burst. */
  burstHoldMs: number
}

/** A message that is due, with what decides whether it is sent now. */
export type DueMessage = {
  id: string
  quietHours: QuietHours | null
  /** Of the rule whose quiet hours it may wait for. */
  ruleQuietHours: RuleQuietHours | null
  criticalAnytime: boolean
  hasCritical: boolean
}

export type TypesByDelivery = {
  /** Types that collect alerts for `burstHoldMs`. */
  bursts: string[]
  /** Messages a minute by type: those channels send one message after the other. */
  perMinute: Record<string, number>
}

/**
 * Lists due messages with the quiet hours of their channels. Workspaces take turns, and none gets
 * more than its share of messages in transit over all instances. Messages of deleted ones wait.
 */
export async function listDue(
  db: Db,
  { holdMs, gapMs, burstHoldMs }: Batching,
  { bursts, perMinute }: TypesByDelivery,
  { limit, perWorkspace }: { limit: number; perWorkspace: number },
): Promise<DueMessage[]> {
  const { rows } = await sql<DueMessage>`
    with sending as (
      select c.workspace_id, count(*) as count from alert_message m join alert_channel c on c.id = m.channel_id
      where m.state in ('sending', 'handed-over') group by c.workspace_id),
    ready as (
      select m.id, m.due_at, m.created_at, m.channel_id, c.quiet_hours, c.critical_anytime, c.workspace_id, m.rule_id,
        ${JSON.stringify(perMinute)}::jsonb ? c.type as is_serial
      from alert_message m join alert_channel c on c.id = m.channel_id
      where m.state = 'waiting' and m.due_at <= now() and not ${isInDeletedWorkspace('c.workspace_id')}
        and coalesce(c.retry_at, '-infinity') <= now()
        and (not (m.collecting or m.rule_collecting)
          or c.type = any(${bursts}) and m.created_at <= now() - ${burstHoldMs} * interval '1 millisecond'
          or c.type <> all(${bursts}) and m.created_at <= now() - ${holdMs} * interval '1 millisecond'
            and coalesce(c.last_sent_at, '-infinity') <= now() - ${gapMs} * interval '1 millisecond')
        and (not ${JSON.stringify(perMinute)}::jsonb ? c.type
          or ${tokensNow(perMinute)} >= 1
          and not exists (select from alert_message t where t.channel_id = c.id and t.state in ('sending', 'handed-over')))),
    first as (
      select ready.*, row_number() over (partition by channel_id order by created_at, id) as turn from ready),
    due as (
      select first.*, row_number() over (partition by workspace_id order by due_at, id) as place
      from first where not is_serial or turn = 1)
    select due.id, due.quiet_hours, due.critical_anytime,
      (select r.quiet_hours from alert_rule r where r.id = due.rule_id) as rule_quiet_hours,
      exists (select from alert_message_content c join alert a on a.id = c.alert_id
        where c.message_id = due.id and not c.dropped and a.severity = 'critical' and a.phase <> 'resolved') as has_critical
    from due left join sending using (workspace_id)
    where due.place + coalesce(sending.count, 0) <= ${perWorkspace}
    order by due.place + coalesce(sending.count, 0), due.due_at limit ${limit}`.execute(db)
  return rows
}

/** Messages that may be sent at once after a pause. */
const BURST_TOKENS = 5

/** The tokens of channel `c` at this time. */
function tokensNow(perMinute: Record<string, number>) {
  return sql`least(${BURST_TOKENS}, coalesce(c.tokens, ${BURST_TOKENS})
    + extract(epoch from now() - coalesce(c.tokens_at, now())) * (${JSON.stringify(perMinute)}::jsonb ->> c.type)::real / 60)`
}

export async function postponeMessage(db: Db, id: string, dueAt: Date): Promise<void> {
  await db
    .updateTable('alertMessage')
    .set({ dueAt })
    .where('id', '=', id)
    .where('state', '=', 'waiting')
    .execute()
}

/** Moves the alerts of a waiting message that are not critical into one of a later time. */
export async function postponeUncritical(db: Db, id: string, dueAt: Date): Promise<void> {
  await sql`
    with message as (
      update alert_message set collecting = false where id = ${id} and state = 'waiting' returning id, channel_id),
    uncritical as (
      select c.message_id, c.alert_id from alert_message_content c
      join message on message.id = c.message_id join alert a on a.id = c.alert_id
      where not c.dropped and (a.severity <> 'critical' or a.phase = 'resolved')),
    later as (
      insert into alert_message (channel_id, collecting, due_at)
      select channel_id, false, ${dueAt} from message where exists (select from uncritical) returning id)
    update alert_message_content c set message_id = later.id from later, uncritical u
    where c.message_id = u.message_id and c.alert_id = u.alert_id`.execute(db)
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
  const { rows } = await sql<Omit<ClaimedMessage, 'channel' | 'alerts'>>`
    with picked as (
      select m.id, m.channel_id from alert_message m join alert_channel c on c.id = m.channel_id
      where m.id = ${id} and m.state = 'waiting' and m.due_at <= now()
        and (not ${JSON.stringify(perMinute)}::jsonb ? c.type
          or ${tokensNow(perMinute)} >= 1
          and not exists (select from alert_message t where t.channel_id = c.id and t.state in ('sending', 'handed-over')))
      for update of m skip locked),
    taken as (
      update alert_channel c set tokens = ${tokensNow(perMinute)} - 1, tokens_at = now()
      from picked where c.id = picked.channel_id and ${JSON.stringify(perMinute)}::jsonb ? c.type)
    update alert_message set state = 'sending', collecting = false, attempts = attempts + 1,
      claimed_until = now() + ${leaseSeconds} * interval '1 second'
    where id in (select id from picked)
    returning id, attempts, created_at, summarises, handling_of`.execute(db)
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

/** The message at the service about an incident; null where there is none. */
export async function findRef(
  db: Db,
  channelId: string,
  incidentId: string,
): Promise<string | null> {
  const row = await db
    .selectFrom('alertIncidentRef')
    .select('ref')
    .where('channelId', '=', channelId)
    .where('incidentId', '=', incidentId)
    .executeTakeFirst()
  return row?.ref ?? null
}

export async function saveRef(
  db: Db,
  row: { channelId: string; incidentId: string; ref: string },
): Promise<void> {
  await db
    .insertInto('alertIncidentRef')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['channelId', 'incidentId']).doUpdateSet({ ref: row.ref }),
    )
    .execute()
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

/** Fails a message, and counts its alerts in one that is sent once the service is back. */
export async function giveUpMessage(
  db: Db,
  message: ClaimedMessage,
  error: string,
  summaryAt: Date,
): Promise<void> {
  const count = message.alerts.length + message.summarises
  const isOurs = await changeClaimed(db, message, { state: 'failed', endedAt: new Date(), error })
  if (!isOurs || count === 0) return
  await sql`
    insert into alert_message as m (channel_id, collecting, summarises, due_at)
    values (${message.channel.id}, false, ${count}, ${summaryAt})
    on conflict (channel_id) where summarises > 0 and state = 'waiting'
    do update set summarises = m.summarises + excluded.summarises`.execute(db)
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
 * them, in which case they end as uncertain, or their channel was deleted.
 */
export async function recoverMessages(db: Db): Promise<void> {
  await sql`
    update alert_message set
      state = case when state = 'handed-over' then 'uncertain' when channel_id is null then 'failed' else 'waiting' end,
      ended_at = case when state = 'sending' and channel_id is not null then null else now() end,
      error = 'The service stopped while sending.'
    where state in ('sending', 'handed-over') and claimed_until < now()`.execute(db)
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
