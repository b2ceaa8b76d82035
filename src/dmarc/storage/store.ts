import { sql, type Transaction } from 'kysely'
import type { Plan } from '../../config.ts'
import type { Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'

export type FileUsage = { plan: Plan; bytes: number }

/** The file usage of an account, locked until the transaction ends. */
export async function lockFileUsage(
  trx: Transaction<DB>,
  accountId: string,
): Promise<FileUsage | undefined> {
  const { rows } = await sql<FileUsage>`
    with row as (
      insert into account_usage as u (account_id) select id from account where id = ${accountId}
      on conflict (account_id) do update set report_bytes = u.report_bytes returning account_id, report_bytes)
    select a.plan, row.report_bytes as bytes from row join account a on a.id = row.account_id`.execute(
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

/** An account's plan, its file usage, and the arrival of its oldest file. */
export async function findFileUsage(
  db: Db,
  accountId: string,
): Promise<(FileUsage & { oldest: Date | null }) | undefined> {
  const { rows } = await sql<FileUsage & { oldest: Date | null }>`
    select a.plan, coalesce(u.report_bytes, 0) as bytes,
      (select min(received_at) from dmarc_delivery where account_id = a.id and content is not null) as oldest
    from account a left join account_usage u on u.account_id = a.id where a.id = ${accountId}`.execute(
    db,
  )
  return rows[0]
}

/** File usage of these accounts, without accounts that have no files. */
export async function listFileUsage(
  db: Db,
  accountIds: string[],
): Promise<{ accountId: string; bytes: number }[]> {
  return db
    .selectFrom('accountUsage')
    .select(['accountId', 'reportBytes as bytes'])
    .where('accountId', '=', sql<string>`any(${accountIds}::uuid[])`)
    .execute()
}
