import { sql, type Kysely } from 'kysely'
import type { Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'
import type { QuietHours } from '../quiet.ts'

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

/** What a row is read by. */
export const CHANNEL = [
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

/**
 * Until an account says otherwise it is told by mail to its own address. One that was only claimed at sign-up, and never proven,
 * needs a code first like any other.
 */
export async function insertFirstChannel(db: Db, accountId: string): Promise<void> {
  await sql`
    with first as (
      insert into alert_first_channel values (${accountId}) on conflict do nothing returning account_id)
    insert into alert_channel (account_id, type, target, label, confirmed_at)
    select id, 'email', email, 'my address', case when email_verified then now() end from account where id in (select account_id from first)
    on conflict do nothing`.execute(db)
}

/** Whether this is the account's own address, and proven to be. */
export async function isOwnAddress(db: Db, accountId: string, address: string): Promise<boolean> {
  const row = await db
    .selectFrom('account')
    .select('id')
    .where('id', '=', accountId)
    .where('emailVerified', '=', true)
    .where(sql<boolean>`email = lower(${address})`)
    .executeTakeFirst()
  return row !== undefined
}

/** @returns undefined when the account has this channel already; a mail address is the same in any case */
export async function insertChannel(
  db: Kysely<DB>,
  { quietHours = null, ...channel }: NewChannel,
): Promise<ChannelRow | undefined> {
  return db.transaction().execute(async (trx) => {
    // Two spellings of one address that are added at the same moment wait for each other here.
    await trx.selectFrom('account').select('id').where('id', '=', channel.accountId).forNoKeyUpdate().execute()
    if (channel.type === 'email' && (await hasAddress(trx, channel.accountId, channel.target))) return undefined
    const row = await trx
      .insertInto('alertChannel')
      .values({ ...channel, quietHours: quietHours && JSON.stringify(quietHours), codeSentAt: new Date() })
      .onConflict((conflict) => conflict.doNothing())
      .returning(CHANNEL)
      .executeTakeFirst()
    return row as ChannelRow | undefined
  })
}

async function hasAddress(db: Db, accountId: string, address: string): Promise<boolean> {
  const row = await db
    .selectFrom('alertChannel')
    .select('id')
    .where('accountId', '=', accountId)
    .where('type', '=', 'email')
    .where(sql<boolean>`lower(target) = lower(${address})`)
    .executeTakeFirst()
  return row !== undefined
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

/** At most 0 when a new code may be sent. */
export async function secondsUntilNextCode(db: Db, id: string): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select coalesce(ceil(extract(epoch from code_sent_at + interval '1 minute' - now())), 0)::int as seconds
    from alert_channel where id = ${id}`.execute(db)
  return rows[0]?.seconds ?? 0
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

/** @param error why the code could not be mailed; null when it was */
export async function noteCode(db: Db, id: string, error: string | null): Promise<void> {
  await db.updateTable('alertChannel').set({ lastError: error }).where('id', '=', id).execute()
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
