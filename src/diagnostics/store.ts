import type { Db } from '../store/database.ts'

export type SharedResult = { check: string; madeAt: string; data: unknown }
export type SharedRow = { token: string; target: string; createdAt: Date; expiresAt: Date }

const ROW = ['token', 'target', 'createdAt', 'expiresAt'] as const

type NewShare = { token: string; accountId: string; target: string; results: SharedResult[]; expiresAt: Date }

export async function insertShared(db: Db, { results, ...share }: NewShare): Promise<SharedRow> {
  return db
    .insertInto('sharedCheck')
    .values({ ...share, results: JSON.stringify(results) })
    .returning(ROW)
    .executeTakeFirstOrThrow()
}

/** Of those that have not expired. */
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
