import { sql, type Kysely } from 'kysely'
import type { Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'
import { CHANNEL_DELETED } from '../messages.ts'
import type { QuietHours } from '../quiet-hours.ts'
import type { Severity } from '../severity.ts'

export type ChannelRow = {
  id: string
  workspaceId: string
  /** ID of a channel type. */
  type: string
  /** Address or URL; for types with encrypted settings a hash of them. */
  target: string
  settingsEncrypted: string | null
  /** What may be shown of the settings; null for types without encrypted ones. */
  settingsShown: Record<string, string> | null
  label: string
  kinds: string[] | null
  /** Alerts that are less urgent are not sent; null for all. */
  minSeverity: Severity | null
  /** Whether critical alerts are sent during quiet hours. */
  criticalAnytime: boolean
  quietHours: QuietHours | null
  /** Whether messages contain links with which anyone can act on an incident. */
  actionLinks: boolean
  secret: string | null
  confirmedAt: Date | null
  enabled: boolean
  disabledReason: string | null
  failingSince: Date | null
  lastError: string | null
  deadAt: Date | null
  lastSentAt: Date | null
  createdAt: Date
}

/** What distinguishes a channel from others of its workspace, and what is kept of its settings. */
export type PreparedChannel = {
  target: string
  secret: string | null
  settingsEncrypted: string | null
  settingsShown: Record<string, string> | null
}

/** Columns of a `ChannelRow`. */
export const CHANNEL = [
  'id',
  'workspaceId',
  'type',
  'target',
  'settingsEncrypted',
  'settingsShown',
  'minSeverity',
  'criticalAnytime',
  'deadAt',
  'label',
  'kinds',
  'quietHours',
  'actionLinks',
  'secret',
  'confirmedAt',
  'enabled',
  'disabledReason',
  'failingSince',
  'lastError',
  'lastSentAt',
  'createdAt',
] as const

export type ChannelSettings = Partial<
  Pick<
    ChannelRow,
    'label' | 'kinds' | 'quietHours' | 'enabled' | 'minSeverity' | 'criticalAnytime' | 'actionLinks'
  >
>

export type ChannelToInsert = ChannelSettings &
  Pick<
    ChannelRow,
    | 'id'
    | 'workspaceId'
    | 'type'
    | 'target'
    | 'secret'
    | 'settingsEncrypted'
    | 'settingsShown'
    | 'confirmedAt'
  > & {
    codeHash: Buffer | null
  }

/** Context under which a channel’s secret is encrypted. */
export function secretContext(channelId: string): string {
  return `alert-channel/${channelId}`
}

/** The incident of a channel that the service disabled. */
export function channelIncident(channelId: string): string {
  return `channel/${channelId}`
}

/** Creates an ID before the row exists, because the secret is encrypted under it. */
export async function createChannelId(db: Db): Promise<string> {
  const { rows } = await sql<{ id: string }>`select uuid_v7() as id`.execute(db)
  return (rows[0] as { id: string }).id
}

/**
 * Inserts a workspace’s first channel, the email address of its owner, unless it ever had one. An address
 * that was only claimed at sign-up and not verified needs a code like any other.
 */
export async function insertFirstChannel(db: Db, workspaceId: string): Promise<void> {
  await sql`
    with first as (
      insert into alert_first_channel values (${workspaceId}) on conflict do nothing returning workspace_id)
    insert into alert_channel (workspace_id, type, target, label, confirmed_at)
    select workspace_id, 'email', email, 'my address', case when email_verified then now() end
    from workspace_contact where workspace_id in (select workspace_id from first)
    on conflict do nothing`.execute(db)
}

/** Whether this is the verified address of a member. */
export async function isMemberAddress(
  db: Db,
  workspaceId: string,
  address: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('membership')
    .innerJoin('account', 'account.id', 'accountId')
    .select('account.id')
    .where('workspaceId', '=', workspaceId)
    .where('emailVerified', '=', true)
    .where(sql<boolean>`email = lower(${address})`)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * @returns undefined when the workspace already has this channel; email addresses are compared
 *   case-insensitively
 */
export async function insertChannel(
  db: Kysely<DB>,
  { quietHours = null, settingsShown, ...channel }: ChannelToInsert,
): Promise<ChannelRow | undefined> {
  return db.transaction().execute(async (trx) => {
    // Serialises two spellings of one address that are added at the same moment.
    await trx
      .selectFrom('workspace')
      .select('id')
      .where('id', '=', channel.workspaceId)
      .forNoKeyUpdate()
      .execute()
    if (channel.type === 'email' && (await hasAddress(trx, channel.workspaceId, channel.target)))
      return undefined
    const row = await trx
      .insertInto('alertChannel')
      .values({
        ...channel,
        settingsShown: settingsShown && JSON.stringify(settingsShown),
        quietHours: quietHours && JSON.stringify(quietHours),
        codeSentAt: new Date(),
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning(CHANNEL)
      .executeTakeFirst()
    return row as ChannelRow | undefined
  })
}

async function hasAddress(db: Db, workspaceId: string, address: string): Promise<boolean> {
  const row = await db
    .selectFrom('alertChannel')
    .select('id')
    .where('workspaceId', '=', workspaceId)
    .where('type', '=', 'email')
    .where(sql<boolean>`lower(target) = lower(${address})`)
    .executeTakeFirst()
  return row !== undefined
}

export async function countChannels(db: Db, workspaceId: string): Promise<number> {
  const { count } = await db
    .selectFrom('alertChannel')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('workspaceId', '=', workspaceId)
    .executeTakeFirstOrThrow()
  return count
}

/** Lists the channels of a workspace, oldest first. */
export async function listChannels(db: Db, workspaceId: string): Promise<ChannelRow[]> {
  const rows = await db
    .selectFrom('alertChannel')
    .select(CHANNEL)
    .where('workspaceId', '=', workspaceId)
    .orderBy('id')
    .execute()
  return rows as ChannelRow[]
}

/** Counts the alerts that wait to be sent, by channel; channels without any are missing. */
export async function countWaiting(
  db: Db,
  channelIds: readonly string[],
): Promise<Map<string, number>> {
  if (channelIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('alertMessage')
    .innerJoin('alertMessageContent', 'messageId', 'alertMessage.id')
    .select(['channelId', ({ fn }) => fn.countAll<number>().as('count')])
    .$narrowType<{ channelId: string }>()
    .where('channelId', 'in', [...channelIds])
    .where('state', '=', 'waiting')
    .where('dropped', '=', false)
    .groupBy('channelId')
    .execute()
  return new Map(rows.map(({ channelId, count }) => [channelId, count]))
}

export async function findChannel(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<ChannelRow | undefined> {
  const row = await db
    .selectFrom('alertChannel')
    .select(CHANNEL)
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row as ChannelRow | undefined
}

/**
 * Updates the given settings. Enabling a channel also clears the reason for which it was disabled.
 */
export async function updateChannel(
  db: Db,
  workspaceId: string,
  id: string,
  { quietHours, ...settings }: ChannelSettings,
): Promise<ChannelRow | undefined> {
  const row = await db
    .updateTable('alertChannel')
    .set({
      ...settings,
      ...(quietHours !== undefined && { quietHours: quietHours && JSON.stringify(quietHours) }),
      ...(settings.enabled === true && {
        disabledReason: null,
        failingSince: null,
        retryAt: null,
        deadAt: null,
      }),
      id,
    })
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', id)
    .returning(CHANNEL)
    .executeTakeFirst()
  return row as ChannelRow | undefined
}

/**
 * Replaces the encrypted settings; false when the workspace has another channel with the same.
 * @param before the encrypted settings that are replaced; false when these are others meanwhile
 */
export async function updateEncryptedSettings(
  db: Db,
  id: string,
  { target, settingsEncrypted, settingsShown }: PreparedChannel,
  before?: string | null,
): Promise<boolean> {
  const row = await db
    .updateTable('alertChannel')
    .set({
      target,
      settingsEncrypted,
      settingsShown: JSON.stringify(settingsShown),
      retryAt: null,
      deadAt: null,
    })
    .where('id', '=', id)
    .$if(before !== undefined, (query) => query.where('settingsEncrypted', '=', before ?? null))
    .where(
      sql<boolean>`not exists (select from alert_channel other where other.target = ${target} and other.id <> ${id}
        and other.workspace_id = alert_channel.workspace_id and other.type = alert_channel.type)`,
    )
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Deletes a channel. What was sent stays with its name; what waits has failed.
 * @param name without secrets
 */
export async function deleteChannel(
  db: Kysely<DB>,
  { id, workspaceId, type }: Pick<ChannelRow, 'id' | 'workspaceId' | 'type'>,
  name: string,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    // Nothing more is queued for it.
    await trx.selectFrom('alertChannel').select('id').where('id', '=', id).forUpdate().execute()
    await sql`
      update alert_message set channel_id = null, collecting = false, rule_collecting = false,
        workspace_id = ${workspaceId}, deleted_channel_type = ${type}, deleted_channel_name = ${name},
        state = case state when 'waiting' then 'failed' else state end,
        ended_at = case state when 'waiting' then now() else ended_at end,
        error = case state when 'waiting' then ${CHANNEL_DELETED} else error end
      where channel_id = ${id}`.execute(trx)
    await trx
      .deleteFrom('alertChannel')
      .where('workspaceId', '=', workspaceId)
      .where('id', '=', id)
      .execute()
  })
}

/** Seconds until a new code may be sent; 0 or less when it may be sent now. */
export async function secondsUntilNextCode(db: Db, id: string): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select coalesce(ceil(extract(epoch from code_sent_at + interval '1 minute' - now())), 0)::int as seconds
    from alert_channel where id = ${id}`.execute(db)
  return rows[0]?.seconds ?? 0
}

/**
 * Stores a new code; false when the last one is younger than a minute, or the channel is confirmed.
 */
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

/** @param error why the code could not be emailed; null when it was */
export async function saveCodeError(db: Db, id: string, error: string | null): Promise<void> {
  await db.updateTable('alertChannel').set({ lastError: error }).where('id', '=', id).execute()
}

/** Counts the attempt, and confirms the channel when the code is right and attempts are left. */
export async function confirmChannel(
  db: Db,
  id: string,
  codeHash: Buffer,
  maxAttempts: number,
): Promise<boolean> {
  const row = await db
    .updateTable('alertChannel')
    .set({
      codeTries: sql<number>`code_tries + 1`,
      confirmedAt: sql<Date | null>`case when code_hash = ${codeHash} and code_tries < ${maxAttempts} then now() end`,
    })
    .where('id', '=', id)
    .where('confirmedAt', 'is', null)
    .returning('confirmedAt')
    .executeTakeFirst()
  return row !== undefined && row.confirmedAt !== null
}

/**
 * @param retryAt before which nothing is sent; null for a failure of one message only
 * @param isDead whether the service said that the settings no longer work
 * @returns since when every attempt on this channel has failed
 */
export async function recordChannelFailure(
  db: Db,
  channelId: string,
  error: string,
  { retryAt, isDead }: { retryAt: Date | null; isDead: boolean },
): Promise<Date> {
  const row = await db
    .updateTable('alertChannel')
    .set({
      failingSince: sql<Date>`coalesce(failing_since, now())`,
      lastError: error,
      retryAt,
      ...(isDead && { deadAt: sql<Date>`now()` }),
    })
    .where('id', '=', channelId)
    .returning('failingSince')
    .executeTakeFirst()
  return row?.failingSince ?? new Date()
}

/** Disables a channel and fails its waiting messages; false when it is disabled already. */
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
