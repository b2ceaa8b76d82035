import { sql } from 'kysely'
import type { Db } from '../store/database.ts'
import type { QuietHours } from './quiet.ts'

export type AlertRow = {
  id: string
  kind: string
  title: string
  text: string
  nextStep: string
  at: Date
}

type AlertToInsert = Omit<AlertRow, 'id'> & { accountId: string; key: string }

/** @returns its id; null when the account has one with this key */
export async function insertAlert(db: Db, alert: AlertToInsert): Promise<string | null> {
  const { accountId, kind, key, title, text, nextStep, at } = alert
  const row = await db
    .insertInto('alert')
    .values({ accountId, kind, key, title, text, nextStep, at })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  return row?.id ?? null
}

/** Until an account says otherwise it is told by mail to its own address. */
export async function insertFirstChannel(db: Db, accountId: string): Promise<void> {
  await sql`
    with first as (
      insert into alert_first_channel values (${accountId}) on conflict do nothing returning account_id)
    insert into alert_channel (account_id, type, target, label, confirmed_at)
    select id, 'email', email, 'my address', now() from account where id in (select account_id from first)
    on conflict do nothing`.execute(db)
}

/** Puts an alert into what each channel of the account sends next: mails collect, each request to a webhook has one. */
export async function queueAlert(db: Db, { accountId, kind }: AlertToInsert, alertId: string): Promise<void> {
  await sql`
    with message as (
      insert into alert_message (channel_id, collecting)
      select id, type = 'email' from alert_channel
      where account_id = ${accountId} and enabled and disabled_reason is null and confirmed_at is not null
        and (kinds is null or split_part(${kind}, '.', 1) = any(kinds))
      order by id
      on conflict (channel_id) where collecting do update set collecting = true
      returning id)
    insert into alert_message_content (message_id, alert_id) select id, ${alertId} from message`.execute(db)
}

export type AlertFilter = { kind?: string | undefined }

export async function countAlerts(db: Db, accountId: string, filter: AlertFilter): Promise<number> {
  const { count } = await alertsOf(db, accountId, filter)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** Newest first. */
export async function listAlerts(
  db: Db,
  accountId: string,
  filter: AlertFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<AlertRow[]> {
  return alertsOf(db, accountId, filter)
    .select(['id', 'kind', 'title', 'text', 'nextStep', 'at'])
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
}

function alertsOf(db: Db, accountId: string, { kind }: AlertFilter) {
  const all = db.selectFrom('alert').where('accountId', '=', accountId)
  return kind === undefined ? all : all.where(sql<boolean>`(kind = ${kind} or split_part(kind, '.', 1) = ${kind})`)
}

export type DeliveryRow = {
  alertId: string
  channelId: string
  type: string
  state: string
  at: Date | null
  error: string | null
}

/** What became of these alerts on each channel. */
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

/** Deletes alerts older than this with their messages. */
export async function deleteAlertsBefore(db: Db, before: Date): Promise<number> {
  const { numDeletedRows } = await db.deleteFrom('alert').where('createdAt', '<', before).executeTakeFirst()
  await sql`delete from alert_message m where created_at < ${before}
    and not exists (select from alert_message_content where message_id = m.id)`.execute(db)
  return Number(numDeletedRows)
}

export type ChannelRow = {
  id: string
  accountId: string
  type: 'email' | 'webhook'
  target: string
  label: string
  kinds: string[] | null
  quietHours: QuietHours | null
  secret: string | null
  confirmedAt: Date | null
  enabled: boolean
  disabledReason: string | null
  failingSince: Date | null
  lastError: string | null
  lastSentAt: Date | null
  createdAt: Date
}

const CHANNEL = [
  'id',
  'accountId',
  'type',
  'target',
  'label',
  'kinds',
  'quietHours',
  'secret',
  'confirmedAt',
  'enabled',
  'disabledReason',
  'failingSince',
  'lastError',
  'lastSentAt',
  'createdAt',
] as const

export type ChannelSettings = Partial<Pick<ChannelRow, 'label' | 'kinds' | 'quietHours' | 'enabled'>>

export type NewChannel = ChannelSettings &
  Pick<ChannelRow, 'id' | 'accountId' | 'type' | 'target' | 'secret' | 'confirmedAt'> & { codeHash: Buffer | null }

/** For what is sealed under its id before the row is there. */
export async function newId(db: Db): Promise<string> {
  const { rows } = await sql<{ id: string }>`select uuid_v7() as id`.execute(db)
  return (rows[0] as { id: string }).id
}

/** @returns undefined when the account has this channel already */
export async function insertChannel(db: Db, { quietHours = null, ...channel }: NewChannel) {
  const row = await db
    .insertInto('alertChannel')
    .values({ ...channel, quietHours: quietHours && JSON.stringify(quietHours), codeSentAt: new Date() })
    .onConflict((conflict) => conflict.doNothing())
    .returning(CHANNEL)
    .executeTakeFirst()
  return row as ChannelRow | undefined
}

export async function countChannels(db: Db, accountId: string): Promise<number> {
  const { count } = await db
    .selectFrom('alertChannel')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('accountId', '=', accountId)
    .executeTakeFirstOrThrow()
  return count
}

/** Oldest first. */
export async function listChannels(db: Db, accountId: string): Promise<ChannelRow[]> {
  const rows = await db
    .selectFrom('alertChannel')
    .select(CHANNEL)
    .where('accountId', '=', accountId)
    .orderBy('id')
    .execute()
  return rows as ChannelRow[]
}

export async function findChannel(db: Db, accountId: string, id: string): Promise<ChannelRow | undefined> {
  const row = await db
    .selectFrom('alertChannel')
    .select(CHANNEL)
    .where('accountId', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row as ChannelRow | undefined
}

/** Sets what is given. Switching a channel on also takes back that we switched it off. */
export async function updateChannel(
  db: Db,
  accountId: string,
  id: string,
  { quietHours, ...settings }: ChannelSettings,
): Promise<ChannelRow | undefined> {
  const row = await db
    .updateTable('alertChannel')
    .set({
      ...settings,
      ...(quietHours !== undefined && { quietHours: quietHours && JSON.stringify(quietHours) }),
      ...(settings.enabled === true && { disabledReason: null, failingSince: null }),
      id,
    })
    .where('accountId', '=', accountId)
    .where('id', '=', id)
    .returning(CHANNEL)
    .executeTakeFirst()
  return row as ChannelRow | undefined
}

export async function deleteChannel(db: Db, accountId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('alertChannel')
    .where('accountId', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** A new code for a channel that has none of the last minute; false when it has, or is confirmed. */
export async function renewCode(db: Db, id: string, codeHash: Buffer): Promise<boolean> {
  const row = await db
    .updateTable('alertChannel')
    .set({ codeHash, codeSentAt: sql<Date>`now()`, codeTries: 0 })
    .where('id', '=', id)
    .where('confirmedAt', 'is', null)
    .where(sql<boolean>`coalesce(code_sent_at, '-infinity') < now() - interval '1 minute'`)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** Counts the try, and confirms when it is right and not one too many. */
export async function confirmChannel(db: Db, id: string, codeHash: Buffer, mostTries: number): Promise<boolean> {
  const row = await db
    .updateTable('alertChannel')
    .set({
      codeTries: sql<number>`code_tries + 1`,
      confirmedAt: sql<Date | null>`case when code_hash = ${codeHash} and code_tries < ${mostTries} then now() end`,
    })
    .where('id', '=', id)
    .where('confirmedAt', 'is', null)
    .returning('confirmedAt')
    .executeTakeFirst()
  return row !== undefined && row.confirmedAt !== null
}

/** A message with its channel and this try at it; `attempts` names the try, and no later one. */
export type ClaimedMessage = {
  id: string
  attempts: number
  firstAt: Date
  channel: ChannelRow
  alerts: AlertRow[]
}

export type Patience = {
  /** Milliseconds a mail waits for more alerts, and that lie between two mails to one address. */
  hold: number
  gap: number
}

/** Messages that are due, with the quiet hours of their channels. */
export async function listDue(db: Db, { hold, gap }: Patience, limit: number) {
  const rows = await db
    .selectFrom('alertMessage as message')
    .innerJoin('alertChannel as channel', 'channel.id', 'message.channelId')
    .select(['message.id', 'channel.quietHours'])
    .where('message.state', '=', 'waiting')
    .where('message.dueAt', '<=', sql<Date>`now()`)
    .where(
      sql<boolean>`(not message.collecting or (message.created_at <= now() - ${hold} * interval '1 millisecond'
        and coalesce(channel.last_sent_at, '-infinity') <= now() - ${gap} * interval '1 millisecond'))`,
    )
    .orderBy('message.dueAt')
    .limit(limit)
    .execute()
  return rows as { id: string; quietHours: QuietHours | null }[]
}

export async function postponeMessage(db: Db, id: string, dueAt: Date): Promise<void> {
  await db.updateTable('alertMessage').set({ dueAt }).where('id', '=', id).where('state', '=', 'waiting').execute()
}

/** Takes those of these messages that nobody else has taken; whoever has them has them so long. */
export async function claimMessages(db: Db, ids: string[], leaseSeconds: number): Promise<ClaimedMessage[]> {
  const { rows } = await sql<{ id: string; attempts: number; createdAt: Date; channelId: string }>`
    update alert_message set state = 'sending', collecting = false, attempts = attempts + 1,
      claimed_until = now() + ${leaseSeconds} * interval '1 second'
    where id in (
      select id from alert_message where id = any(${ids}) and state = 'waiting' and due_at <= now() for update skip locked)
    returning id, attempts, created_at, channel_id`.execute(db)
  return Promise.all(
    rows.map(async ({ id, attempts, createdAt, channelId }) => {
      const channel = await db
        .selectFrom('alertChannel')
        .select(CHANNEL)
        .where('id', '=', channelId)
        .executeTakeFirstOrThrow()
      return {
        id,
        attempts,
        firstAt: createdAt,
        channel: channel as ChannelRow,
        alerts: await listContent(db, id),
      }
    }),
  )
}

async function listContent(db: Db, messageId: string): Promise<AlertRow[]> {
  return db
    .selectFrom('alertMessageContent as content')
    .innerJoin('alert', 'alert.id', 'content.alertId')
    .select(['alert.id', 'kind', 'title', 'text', 'nextStep', 'at'])
    .where('content.messageId', '=', messageId)
    .orderBy('at')
    .orderBy('alert.id')
    .execute()
}

/** From here on the other side may have it. False when the message is not this try's any more. */
export async function markHandedOver(db: Db, message: ClaimedMessage): Promise<boolean> {
  return changeClaimed(db, message, { state: 'handed-over' })
}

export async function markSent(db: Db, message: ClaimedMessage): Promise<void> {
  const ours = await changeClaimed(db, message, { state: 'sent', endedAt: new Date(), error: null })
  if (!ours) return
  await db
    .updateTable('alertChannel')
    .set({ lastSentAt: sql<Date>`now()`, failingSince: null, lastError: null })
    .where('id', '=', message.channel.id)
    .execute()
}

/** Another try later. */
export async function markPutOff(db: Db, message: ClaimedMessage, dueAt: Date, error: string): Promise<void> {
  await changeClaimed(db, message, { state: 'waiting', dueAt, error })
}

export async function markEnded(
  db: Db,
  message: ClaimedMessage,
  state: 'failed' | 'uncertain',
  error: string,
): Promise<void> {
  await changeClaimed(db, message, { state, endedAt: new Date(), error })
}

type MessageChange = { state: string; dueAt?: Date; endedAt?: Date; error?: string | null }

async function changeClaimed(db: Db, { id, attempts }: ClaimedMessage, change: MessageChange): Promise<boolean> {
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

/** @returns since when every try on this channel has failed */
export async function noteFailure(db: Db, channelId: string, error: string): Promise<Date> {
  const row = await db
    .updateTable('alertChannel')
    .set({ failingSince: sql<Date>`coalesce(failing_since, now())`, lastError: error })
    .where('id', '=', channelId)
    .returning('failingSince')
    .executeTakeFirst()
  return row?.failingSince ?? new Date()
}

/** Switches a channel off with all that waits for it; false when it is off. */
export async function disableChannel(db: Db, channelId: string, reason: string): Promise<boolean> {
  const row = await db
    .updateTable('alertChannel')
    .set({ disabledReason: reason })
    .where('id', '=', channelId)
    .where('disabledReason', 'is', null)
    .returning('id')
    .executeTakeFirst()
  if (!row) return false
  await db
    .updateTable('alertMessage')
    .set({ state: 'failed', collecting: false, endedAt: sql<Date>`now()`, error: reason })
    .where('channelId', '=', channelId)
    .where('state', '=', 'waiting')
    .execute()
  return true
}

/** What a sender that died had in its hands: tried again where nothing can have arrived, else left as it is. */
export async function recoverMessages(db: Db): Promise<void> {
  await sql`
    update alert_message set
      state = case state when 'sending' then 'waiting' else 'uncertain' end,
      ended_at = case state when 'sending' then null else now() end,
      error = 'The service ended while it was being sent.'
    where state in ('sending', 'handed-over') and claimed_until < now()`.execute(db)
}
