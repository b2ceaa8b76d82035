import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'

/** A server of a fleet, as its metrics have it. Totals count accepted reports. */
export type ServerFigures = {
  id: string
  label: string
  reports: number
  reportedAt: Date | null
  followedAt: Date | null
}

/** The tokens and keys of a workspace, which are a bounded number. */
export async function listServerFigures(db: Db, workspaceId: string): Promise<ServerFigures[]> {
  const { rows } = await sql<ServerFigures>`
    select t.id, t.label,
      coalesce((select sum(reports) from abuse_token_count c where c.token_id = t.id), 0)::bigint as reports,
      (select max(reported_at) from fleet_server s where s.token_id = t.id) as reported_at,
      (select max(followed_at) from fleet_server s where s.token_id = t.id) as followed_at
    from abuse_token t where t.workspace_id = ${workspaceId}
    order by t.id limit 200`.execute(db)
  return rows
}

/** What a badge shows. */
export type BadgeFigures = { bans: number; reportsToday: number }

/** Undefined for an unknown id, and for a deleted workspace. */
export async function findBadge(
  db: Db,
  id: string,
  today: string,
): Promise<BadgeFigures | undefined> {
  const { rows } = await sql<BadgeFigures>`
    select
      (select count(*) from fleet_ban b where b.workspace_id = f.workspace_id and b.expires_at > now())::int as bans,
      (select coalesce(sum(c.reports), 0) from abuse_token_count c
        join abuse_token t on t.id = c.token_id
        where t.workspace_id = f.workspace_id and c.day = ${today})::int as reports_today
    from fleet f join workspace w on w.id = f.workspace_id
    where f.badge_id = ${id} and w.delete_after is null`.execute(db)
  return rows[0]
}
