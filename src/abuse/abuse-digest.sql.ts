// What the digest shows of attack reports.
import { sql } from 'kysely'
import type { Db } from '../store/database.ts'

export type OwnReports = {
  reports: number
  reportsBefore: number
  /** Most reports first. */
  services: { service: string; reports: number }[]
  /** Addresses that the workspace reported and that are listed now. */
  listed: number
}

type Days = { from: string; to: string }

const MAX_SERVICES = 5

/** Sums the reports of a workspace’s tokens on these days (inclusive) and on the days before. */
export async function sumOwnReports(
  db: Db,
  workspaceId: string,
  { now, before }: { now: Days; before: Days },
): Promise<OwnReports> {
  const { rows } = await sql<{ service: string; reports: number; reportsBefore: number }>`
    select c.service, coalesce(sum(c.reports) filter (where c.day >= ${now.from}), 0)::float8 as reports,
      coalesce(sum(c.reports) filter (where c.day < ${now.from}), 0)::float8 as reports_before
    from abuse_token t join abuse_token_count c on c.token_id = t.id
    where t.workspace_id = ${workspaceId} and c.day between ${before.from} and ${now.to}
    group by c.service order by reports desc, c.service`.execute(db)
  const sum = (of: 'reports' | 'reportsBefore') => rows.reduce((total, row) => total + row[of], 0)
  const reports = sum('reports')
  return {
    reports,
    reportsBefore: sum('reportsBefore'),
    services: rows.filter((row) => row.reports > 0).slice(0, MAX_SERVICES),
    listed: reports === 0 ? 0 : await countListed(db, workspaceId),
  }
}

async function countListed(db: Db, workspaceId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(distinct r.address)::int as count
    from abuse_token t join abuse_report r on r.token_id = t.id
    join abuse_address a on a.address = r.address and a.state = 'listed'
    where t.workspace_id = ${workspaceId}`.execute(db)
  return rows[0]?.count ?? 0
}
