import { sql } from 'kysely'
import type { Db } from '../../../store/database.ts'

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
