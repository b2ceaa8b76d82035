import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'

/** Endpoints with the same name whose labels count. */
const MAX_NAMESAKES = 20

/** The labels of the objects of a workspace with one of these names, whatever they are. */
export async function findLabels(
  db: Db,
  workspaceId: string,
  names: readonly string[],
): Promise<string[]> {
  const isNamed = (column: string) =>
    sql`workspace_id = ${workspaceId} and ${sql.ref(column)} = any(${names}::text[])`
  const { rows } = await sql<{ label: string }>`
    select distinct unnest(labels) as label from (
      select labels from monitored_host where ${isNamed('host')}
      union all select labels from watched_domain where ${isNamed('domain')}
      union all select labels from dmarc_domain where ${isNamed('domain')}
      union all select labels from webhook_endpoint where ${isNamed('token')}
      union all (select labels from webhook_endpoint where ${isNamed('label')} limit ${MAX_NAMESAKES})
    ) as named order by label`.execute(db)
  return rows.map(({ label }) => label)
}

/** The labels that objects of a workspace have, with the number of objects. */
export async function listLabels(
  db: Db,
  workspaceId: string,
  limit: number,
): Promise<{ label: string; objects: number }[]> {
  const { rows } = await sql<{ label: string; objects: number }>`
    select label, count(*)::int as objects from (
      select unnest(labels) as label from monitored_host where workspace_id = ${workspaceId}
      union all select unnest(labels) from watched_domain where workspace_id = ${workspaceId}
      union all select unnest(labels) from dmarc_domain where workspace_id = ${workspaceId}
      union all select unnest(labels) from webhook_endpoint where workspace_id = ${workspaceId}
    ) as used group by label order by count(*) desc, label limit ${limit}`.execute(db)
  return rows
}
