import { sql } from 'kysely'
import { withStatementTimeout, type Db } from '../../store/database.ts'
import { VACUUM_TIMEOUT_MS } from '../limits.ts'

/** Endpoints that have more requests than are kept. */
export async function listOverfull(db: Db, kept: number): Promise<string[]> {
  const rows = await db
    .selectFrom('webhookRequest')
    .select('endpointId')
    .groupBy('endpointId')
    .having(({ fn }) => fn.countAll(), '>', kept)
    .execute()
  return rows.map(({ endpointId }) => endpointId)
}

/** An endpoint, and the number up to which its requests were deleted already. */
export type Trimmed = { endpointId: string; upTo: number }

/**
 * Deletes the oldest beyond those kept, of each of these endpoints; at most `limit`, so that no deletion takes long. What
 * was deleted lies in the index until it is vacuumed: looking through it again would cost more than all the rest. It comes
 * after whoever else deletes requests, which costs less than locking each.
 * @returns those of which something was deleted, and how much
 */
export async function deleteBeyond(
  db: Db,
  endpoints: Trimmed[],
  kept: number,
  limit: number,
): Promise<(Trimmed & { deleted: number })[]> {
  const ids = endpoints.map(({ endpointId }) => endpointId)
  const upTo = endpoints.map((endpoint) => endpoint.upTo)
  const { rows } = await sql<Trimmed & { deleted: number }>`
    with turn as materialized (select take_turn_deleting_requests()),
    gone as (
      delete from webhook_request where ctid = any (array(
        select r.ctid
        from turn, unnest(${ids}::uuid[], ${upTo}::bigint[]) as e (id, up_to)
        cross join lateral (
          select seq from webhook_request where endpoint_id = e.id and seq > e.up_to
          order by seq desc offset ${kept} limit 1) as oldest
        join webhook_request r on r.endpoint_id = e.id and r.seq > e.up_to and r.seq <= oldest.seq
        order by r.endpoint_id, r.seq
        limit ${limit}))
      returning endpoint_id, seq)
    select endpoint_id, max(seq) as up_to, count(*) as deleted from gone group by endpoint_id`.execute(db)
  return rows
}

/** Deletes what is older than this, at most `limit`. */
export async function deleteOlder(db: Db, before: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from webhook_request where (endpoint_id, seq) in (
      select endpoint_id, seq from webhook_request where received_at < ${before}
      limit ${limit} for update skip locked)`.execute(db)
  return Number(numAffectedRows ?? 0)
}

/**
 * Makes the room free that deleted requests take (VACUUM), where they are more than this share of those kept: looking through
 * the index costs by how many there are. PostgreSQL does it by itself, a minute late: by then, at full load, a minute's
 * captures have gone to the disk that nobody will read, and whoever captures waits for it.
 * @returns whether it was worth it
 */
export async function freeRoom(db: Db, deleted: number, share: number): Promise<boolean> {
  const { rows } = await sql<{ kept: number }>`
    select reltuples::float8 as kept from pg_class where oid = 'webhook_request'::regclass`.execute(db)
  if (deleted < (rows[0]?.kept ?? 0) * share) return false
  const vacuum = sql`vacuum (skip_locked) webhook_request`
  await withStatementTimeout(db, VACUUM_TIMEOUT_MS, (connection) => vacuum.execute(connection))
  return true
}
