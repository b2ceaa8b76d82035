import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'

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
