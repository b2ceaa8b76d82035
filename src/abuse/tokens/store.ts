import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'

export type ReportTokenRow = { id: string; label: string; lastFour: string; createdAt: Date }

const TOKEN = ['id', 'label', 'lastFour', 'createdAt'] as const

export async function insertReportToken(
  db: Db,
  token: { workspaceId: string; label: string; hash: Buffer; lastFour: string },
): Promise<ReportTokenRow> {
  return db.insertInto('abuseToken').values(token).returning(TOKEN).executeTakeFirstOrThrow()
}

export type TokenFigures = {
  totalReports: number
  last7d: number
  currentlyListedFromMyReports: number
}

/**
 * Lists tokens, newest first, each with the number of its reports.
 * @param weekAgo the day (`2026-11-21`) after which reports count for the last seven days
 */
export async function listReportTokens(
  db: Db,
  workspaceId: string,
  weekAgo: string,
): Promise<(ReportTokenRow & TokenFigures)[]> {
  const { rows } = await sql<ReportTokenRow & TokenFigures>`
    select token.id, token.label, token.last_four, token.created_at,
      coalesce(sum(counted.reports), 0)::int as total_reports,
      coalesce(sum(counted.reports) filter (where counted.day > ${weekAgo}), 0)::int as last7d,
      (select count(distinct report.address)::int from abuse_report as report
        join abuse_address as known on known.address = report.address
        where report.token_id = token.id and known.state = 'listed') as currently_listed_from_my_reports
    from abuse_token as token
    left join abuse_token_count as counted on counted.token_id = token.id
    where token.workspace_id = ${workspaceId}
    group by token.id
    order by token.id desc`.execute(db)
  return rows
}

export async function countReportTokens(db: Db, workspaceId: string): Promise<number> {
  const { count } = await db
    .selectFrom('abuseToken')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('workspaceId', '=', workspaceId)
    .executeTakeFirstOrThrow()
  return count
}

export async function deleteReportToken(db: Db, workspaceId: string, id: string): Promise<boolean> {
  const row = await db
    .deleteFrom('abuseToken')
    .where('id', '=', id)
    .where('workspaceId', '=', workspaceId)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

export async function findToken(db: Db, hash: Buffer): Promise<string | undefined> {
  const row = await db
    .selectFrom('abuseToken')
    .select('id')
    .where('hash', '=', hash)
    .executeTakeFirst()
  return row?.id
}

export async function sumTokenReports(
  db: Db,
  tokenId: string,
): Promise<{ day: string; service: string; count: number }[]> {
  const { rows } = await sql<{ day: string; service: string; count: number }>`
    select day, service, reports as count from abuse_token_count where token_id = ${tokenId}`.execute(
    db,
  )
  return rows
}

/** Counts listed addresses that were reported with this token in the last thirty days. */
export async function countListedOf(db: Db, tokenId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(distinct report.address) as count from abuse_report as report
    join abuse_address as known on known.address = report.address
    where report.token_id = ${tokenId} and known.state = 'listed'`.execute(db)
  return rows[0]?.count ?? 0
}
