import { sql, type Transaction } from 'kysely'
import type { Plan } from '../config.ts'
import type { Db } from '../store/database.ts'
import type { DB } from '../store/tables.ts'

export type SharedResult = { check: string; madeAt: string; data: unknown }
export type SharedRow = { token: string; target: string; createdAt: Date; expiresAt: Date }

const ROW = ['token', 'target', 'createdAt', 'expiresAt'] as const

type NewShare = {
  token: string
  accountId: string
  target: string
  results: SharedResult[]
  expiresAt: Date
}

export async function insertShared(db: Db, { results, ...share }: NewShare): Promise<SharedRow> {
  const text = JSON.stringify(results)
  return db
    .insertInto('sharedCheck')
    .values({ ...share, results: text, bytes: Buffer.byteLength(text) })
    .returning(ROW)
    .executeTakeFirstOrThrow()
}

/** Selects results that have not expired. */
export async function findShared(
  db: Db,
  token: string,
): Promise<(SharedRow & { results: SharedResult[] }) | undefined> {
  const row = await db
    .selectFrom('sharedCheck')
    .select([...ROW, 'results'])
    .where('token', '=', token)
    .where('expiresAt', '>', new Date())
    .executeTakeFirst()
  return row && { ...row, results: row.results as SharedResult[] }
}

/** An account's own that have not expired, newest first. */
export async function listShared(db: Db, accountId: string): Promise<SharedRow[]> {
  return db
    .selectFrom('sharedCheck')
    .select(ROW)
    .where('accountId', '=', accountId)
    .where('expiresAt', '>', new Date())
    .orderBy('createdAt', 'desc')
    .execute()
}

/** An account's plan; it shares nothing else until the transaction ends. */
export async function lockSharing(trx: Transaction<DB>, accountId: string): Promise<Plan> {
  const account = trx.selectFrom('account').select('plan').where('id', '=', accountId).forUpdate()
  return ((await account.executeTakeFirst())?.plan ?? 'free') as Plan
}

/**
 * Sums the bytes that accounts share, and when the oldest result expires; without accounts that
 * share nothing.
 */
export async function listSharedUsage(db: Db, accountIds: string[]) {
  const { rows } = await sql<{ accountId: string; bytes: number; count: number; endsAt: Date }>`
    select account_id, sum(bytes)::bigint as bytes, count(*) as count, min(expires_at) as ends_at
    from shared_check where account_id = any (${accountIds}::uuid[]) and expires_at > ${new Date()}
    group by account_id`.execute(db)
  return rows
}

export async function deleteShared(db: Db, accountId: string, token: string): Promise<boolean> {
  const row = await db
    .deleteFrom('sharedCheck')
    .where('token', '=', token)
    .where('accountId', '=', accountId)
    .returning('token')
    .executeTakeFirst()
  return row !== undefined
}

/** How many had expired. */
export async function deleteExpiredShares(db: Db): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('sharedCheck')
    .where('expiresAt', '<=', new Date())
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
