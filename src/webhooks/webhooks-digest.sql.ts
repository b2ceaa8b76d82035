// What the digest shows of webhook endpoints.
import { sql } from 'kysely'
import { boundedOf, type Bounded, type Period } from '../store/bounded.ts'
import type { Db } from '../store/database.ts'

export type FailingEndpoint = { id: string; label: string; rejected: number; aborted: number }

/** Endpoints with rejected or aborted requests in the period, most of them first. */
export async function listFailingEndpoints(
  db: Db,
  workspaceId: string,
  { from, to }: Period,
  limit: number,
): Promise<Bounded<FailingEndpoint>> {
  const { rows } = await sql<FailingEndpoint & { total: number }>`
    select e.id, e.label, c.rejected, c.aborted, count(*) over ()::int as total
    from webhook_endpoint e cross join lateral (
      select (count(*) filter (where rejected is not null))::int as rejected,
        (count(*) filter (where rejected is null and aborted))::int as aborted
      from webhook_request r where r.endpoint_id = e.id and r.received_at >= ${from} and r.received_at < ${to}) c
    where e.workspace_id = ${workspaceId} and c.rejected + c.aborted > 0
    order by c.rejected + c.aborted desc, e.id limit ${limit}`.execute(db)
  return boundedOf(rows)
}

export type SilentEndpoint = { id: string; label: string; silentSince: Date }

/** Endpoints that an alert said receive no requests, those that wait longest first. */
export async function listSilentEndpoints(
  db: Db,
  workspaceId: string,
  limit: number,
): Promise<Bounded<SilentEndpoint>> {
  const { rows } = await sql<SilentEndpoint & { total: number }>`
    select e.id, e.label, a.silent_since, count(*) over ()::int as total
    from webhook_alert a join webhook_endpoint e on e.id = a.endpoint_id
    where e.workspace_id = ${workspaceId} and a.silent_since is not null
    order by a.silent_since, e.id limit ${limit}`.execute(db)
  return boundedOf(rows)
}
