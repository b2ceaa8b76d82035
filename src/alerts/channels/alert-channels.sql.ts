import { sql, type Kysely } from 'kysely'
import type { Db } from '../../store/database.ts'
import { countRows, findRow } from '../../store/row.ts'
import type { DB } from '../../store/tables.ts'
import { CHANNEL_DELETED } from '../messages.ts'
import { CHANNEL, type ChannelRow, type ChannelSettings, type PreparedChannel } from './channel.ts'

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
  return countRows(db, 'alertChannel', { workspaceId })
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
  return findRow(db, 'alertChannel', CHANNEL, { workspaceId, id })
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

/** Lists the webhook channels whose URL is stored as text. */
export async function listPlainUrls(db: Db): Promise<{ id: string; target: string }[]> {
  return db
    .selectFrom('alertChannel')
    .select(['id', 'target'])
    .where('type', '=', 'webhook')
    .where('settingsEncrypted', 'is', null)
    .execute()
}

/** Replaces the URL of a channel, if it is still this one. */
export async function saveEncryptedUrl(
  db: Db,
  id: string,
  url: string,
  { target, settingsEncrypted }: Pick<PreparedChannel, 'target' | 'settingsEncrypted'>,
): Promise<void> {
  // A channel with the same URL may have been added meanwhile.
  await sql`
    update alert_channel c set settings_encrypted = ${settingsEncrypted},
      target = ${target} || case when exists (select from alert_channel o
        where o.workspace_id = c.workspace_id and o.type = c.type and o.target = ${target}) then '-' || c.id else '' end
    where c.id = ${id} and c.target = ${url} and c.settings_encrypted is null`.execute(db)
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
