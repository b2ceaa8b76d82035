import { sql, type Transaction } from 'kysely'
import type { Plan } from '../config.ts'
import type { Db } from '../store/database.ts'
import { isInDeletedWorkspace } from '../store/deleted-workspaces.ts'
import { largestPlanOf, workspacesOf } from '../store/responsible.ts'
import { deleteRows, insertRow } from '../store/row.ts'
import type { DB } from '../store/tables.ts'

export type SharedResult = { check: string; madeAt: string; data: unknown }
export type SharedRow = { token: string; target: string; createdAt: Date; expiresAt: Date }

const ROW = ['token', 'target', 'createdAt', 'expiresAt'] as const

type NewShare = {
  token: string
  workspaceId: string
  target: string
  results: SharedResult[]
  expiresAt: Date
}

export async function insertShared(db: Db, { results, ...share }: NewShare): Promise<SharedRow> {
  const text = JSON.stringify(results)
  return insertRow(
    db,
    'sharedCheck',
    { ...share, results: text, bytes: Buffer.byteLength(text) },
    ROW,
  )
}

/** Selects results that have not expired, unless their workspace is deleted. */
export async function findShared(
  db: Db,
  token: string,
): Promise<(SharedRow & { results: SharedResult[] }) | undefined> {
  const row = await db
    .selectFrom('sharedCheck')
    .select([...ROW, 'results'])
    .where('token', '=', token)
    .where('expiresAt', '>', new Date())
    .where((eb) => eb.not(isInDeletedWorkspace('sharedCheck.workspaceId')))
    .executeTakeFirst()
  return row && { ...row, results: row.results as SharedResult[] }
}

/** A workspace's own that have not expired, newest first. */
export async function listShared(db: Db, workspaceId: string): Promise<SharedRow[]> {
  return db
    .selectFrom('sharedCheck')
    .select(ROW)
    .where('workspaceId', '=', workspaceId)
    .where('expiresAt', '>', new Date())
    .orderBy('createdAt', 'desc')
    .orderBy('token')
    .execute()
}

/**
 * The plans of a workspace and of its account, and the bytes that all workspaces of the account
 * share. The workspace shares nothing else until the transaction ends.
 */
export async function lockSharing(trx: Transaction<DB>, workspaceId: string) {
  const { rows } = await sql<{ plan: Plan; accountPlan: Plan; accountBytes: number }>`
    select w.plan, ${largestPlanOf(sql`w.responsible_id`)} as account_plan, (
      select coalesce(sum(bytes), 0)::bigint from shared_check
      where workspace_id in ${workspacesOf(sql`w.responsible_id`)} and expires_at > ${new Date()}) as account_bytes
    from workspace w where w.id = ${workspaceId} for update`.execute(trx)
  return rows[0] ?? { plan: 'free' as const, accountPlan: 'free' as const, accountBytes: 0 }
}

/**
 * Sums the bytes that workspaces share, and when the oldest result expires; without workspaces that
 * share nothing.
 */
export async function listSharedUsage(db: Db, workspaceIds: string[]) {
  const { rows } = await sql<{ workspaceId: string; bytes: number; count: number; endsAt: Date }>`
    select workspace_id, sum(bytes)::bigint as bytes, count(*) as count, min(expires_at) as ends_at
    from shared_check where workspace_id = any (${workspaceIds}::uuid[]) and expires_at > ${new Date()}
    group by workspace_id`.execute(db)
  return rows
}

export async function deleteShared(db: Db, workspaceId: string, token: string): Promise<boolean> {
  return deleteRows(db, 'sharedCheck', { token, workspaceId })
}
