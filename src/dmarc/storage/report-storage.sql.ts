import { sql, type Transaction } from 'kysely'
import type { Plan } from '../../config.ts'
import type { Db } from '../../store/database.ts'
import { largestPlanOf, workspacesOf } from '../../store/responsible.ts'
import type { DB } from '../../store/tables.ts'

/** The files of a workspace, and those of all workspaces of the account that answers for it. */
export type FileUsage = { plan: Plan; bytes: number; accountPlan: Plan; accountBytes: number }

const ACCOUNT_USAGE = sql`${largestPlanOf(sql`w.responsible_id`)} as account_plan, (
    select coalesce(sum(a.report_bytes), 0)::bigint from workspace_usage a
    where a.workspace_id in ${workspacesOf(sql`w.responsible_id`)}) as account_bytes`

/**
 * The file usage of a workspace, locked until the transaction ends; that of other workspaces of the
 * account may grow meanwhile.
 */
export async function lockFileUsage(
  trx: Transaction<DB>,
  workspaceId: string,
): Promise<FileUsage | undefined> {
  const { rows } = await sql<FileUsage>`
    with row as (
      insert into workspace_usage as u (workspace_id) select id from workspace where id = ${workspaceId}
      on conflict (workspace_id) do update set report_bytes = u.report_bytes returning workspace_id, report_bytes)
    select w.plan, row.report_bytes as bytes, ${ACCOUNT_USAGE} from row join workspace w on w.id = row.workspace_id`.execute(
    trx,
  )
  return rows[0]
}

/** Stored bytes of these deliveries. */
export async function sumStored(trx: Transaction<DB>, ids: string[]): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(octet_length(content)), 0)::bigint as bytes
    from dmarc_delivery where id = any (${ids}::uuid[])`.execute(trx)
  return rows[0]?.bytes ?? 0
}

/** A workspace's plan, its file usage, and the arrival of its oldest file. */
export async function findFileUsage(
  db: Db,
  workspaceId: string,
): Promise<(FileUsage & { oldest: Date | null }) | undefined> {
  const { rows } = await sql<FileUsage & { oldest: Date | null }>`
    select w.plan, coalesce(u.report_bytes, 0) as bytes, ${ACCOUNT_USAGE},
      (select min(received_at) from dmarc_delivery where workspace_id = w.id and content is not null) as oldest
    from workspace w left join workspace_usage u on u.workspace_id = w.id where w.id = ${workspaceId}`.execute(
    db,
  )
  return rows[0]
}

/** File usage of these workspaces, without workspaces that have no files. */
export async function listFileUsage(
  db: Db,
  workspaceIds: string[],
): Promise<{ workspaceId: string; bytes: number }[]> {
  return db
    .selectFrom('workspaceUsage')
    .select(['workspaceId', 'reportBytes as bytes'])
    .where('workspaceId', '=', sql<string>`any(${workspaceIds}::uuid[])`)
    .execute()
}
