import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Plan } from '../../config.ts'
import { withStatementTimeout, type Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'
import { VACUUM_TIMEOUT_MS } from '../limits.ts'
import { largestPlanOf } from '../../store/responsible.ts'
import { ADVISORY_LOCKS } from '../../store/advisory-locks.ts'

/** Lists the endpoints that have more requests than are kept. */
export async function listOverfull(db: Db, kept: number): Promise<string[]> {
  const rows = await db
    .selectFrom('webhookRequest')
    .select('endpointId')
    .groupBy('endpointId')
    .having(({ fn }) => fn.countAll(), '>', kept)
    .execute()
  return rows.map(({ endpointId }) => endpointId)
}

/** An endpoint, and the number up to which its requests were already deleted. */
export type Trimmed = { endpointId: string; upTo: number }
export type Deleted = Trimmed & { workspaceId: string | null; deleted: number; bytes: number }

/**
 * The bytes that a request counts against a quota. Rows of earlier versions have no
 * stored value.
 */
const STORED_BYTES = sql`coalesce(stored_bytes, octet_length(body) + octet_length(path) + octet_length(query)
  + octet_length(headers::text) + 200)`

/**
 * Whether no delivery of a request waits: one that waits keeps its request. `offset 0` finds them by
 * the request: where many wait, reading all that wait for each request would take seconds.
 */
const IS_UNPINNED = sql`not exists (
  select from (select state from webhook_delivery where request_id = r.id offset 0) v
  where v.state in ('waiting', 'sending', 'held'))`

/**
 * Deletes requests and adds their bytes to the deleted ones. The caller holds the lock, or takes it
 * in `before`.
 * @param before named queries that `which` refers to, each followed by a comma
 * @returns the deleted requests and bytes of each endpoint
 */
export async function deleteCounted(
  db: Db,
  which: RawBuilder<unknown>,
  before = sql``,
): Promise<Deleted[]> {
  const { rows } = await sql<Deleted>`
    with ${before} gone as (
      delete from webhook_request where ${which} returning endpoint_id, seq, ${STORED_BYTES} as bytes),
    summed as (
      select endpoint_id, max(seq) as up_to, count(*) as deleted, sum(bytes)::bigint as bytes
      from gone group by endpoint_id),
    counted as (
      insert into webhook_deleted as d (endpoint_id, bytes) select endpoint_id, bytes from summed
      on conflict (endpoint_id) do update set bytes = d.bytes + excluded.bytes)
    select summed.*, (select workspace_id from webhook_endpoint e where e.id = endpoint_id) from summed`.execute(
    db,
  )
  return rows
}

/** What was compared of an endpoint, up to `upTo`, and the first of it that a delivery keeps. */
export type TrimResult = Deleted & { compared: number; firstPinned: number | null }

/**
 * Deletes the oldest requests beyond `kept` of each endpoint. Up to `limit` are compared in total, so
 * that no deletion takes long: captures wait for it. Deleted rows stay in the index until the next
 * VACUUM, and scanning them again would cost more than everything else: hence `upTo`. Deletions run
 * one after another under a lock, which costs less than locking each row.
 * @returns the endpoints of which something was compared
 */
export async function deleteBeyond(
  db: Db,
  endpoints: Trimmed[],
  kept: number,
  limit: number,
): Promise<TrimResult[]> {
  const ids = endpoints.map(({ endpointId }) => endpointId)
  const upTo = endpoints.map((endpoint) => endpoint.upTo)
  const { rows } = await sql<TrimResult>`
    with turn as materialized (select take_turn_deleting_requests()),
    beyond as materialized (
      select r.ctid as place, r.endpoint_id, r.seq, ${IS_UNPINNED} as is_free
      from turn, unnest(${ids}::uuid[], ${upTo}::bigint[]) as e (id, up_to)
      cross join lateral (
        select seq from webhook_request where endpoint_id = e.id and seq > e.up_to
        order by seq desc offset ${kept} limit 1) as oldest
      join webhook_request r on r.endpoint_id = e.id and r.seq > e.up_to and r.seq <= oldest.seq
      order by r.endpoint_id, r.seq
      limit ${limit}),
    gone as (
      delete from webhook_request where ctid = any (array(select place from beyond where is_free))
      returning endpoint_id, ${STORED_BYTES} as bytes),
    summed as (
      select endpoint_id, count(*) as deleted, sum(bytes)::bigint as bytes from gone group by endpoint_id),
    counted as (
      insert into webhook_deleted as d (endpoint_id, bytes) select endpoint_id, bytes from summed
      on conflict (endpoint_id) do update set bytes = d.bytes + excluded.bytes)
    select b.endpoint_id, max(b.seq) as up_to, count(*) as compared,
      min(b.seq) filter (where not b.is_free) as first_pinned,
      coalesce(max(s.deleted), 0) as deleted, coalesce(max(s.bytes), 0) as bytes,
      (select workspace_id from webhook_endpoint e where e.id = b.endpoint_id)
    from beyond b left join summed s on s.endpoint_id = b.endpoint_id
    group by b.endpoint_id`.execute(db)
  return rows
}

/** Deletes requests older than this, up to `limit`. */
export async function deleteOlder(db: Kysely<DB>, before: Date, limit: number): Promise<number> {
  return db.transaction().execute(async (trx) => {
    await lockDeletions(trx)
    const older = sql`(endpoint_id, seq) in (
      select endpoint_id, seq from webhook_request r
      where received_at < ${before} and ${IS_UNPINNED} limit ${limit})`
    const rows = await deleteCounted(trx, older)
    return rows.reduce((sum, { deleted }) => sum + deleted, 0)
  })
}

export type OldestOf = {
  workspaceIds: string[]
  /** The bytes that the workspaces may keep together. */
  limitBytes: number
  /** Requests of each endpoint that are kept in any case. */
  kept: number
  /** Rows that are deleted at most. */
  rows: number
  /** How far its endpoints are already trimmed, as far as known. */
  trimmed: Trimmed[]
}

/**
 * Deletes the oldest requests of workspaces, over all their endpoints, until they store no more than
 * the limit.
 */
export async function deleteOldest(db: Kysely<DB>, oldestOf: OldestOf): Promise<Deleted[]> {
  return db.transaction().execute(async (trx) => {
    // A statement sees the data of its start. The lock is taken before, so that deletions by others
    // are counted.
    await lockDeletions(trx)
    return deleteCounted(
      trx,
      sql`ctid = any (array(select id from chosen))`,
      oldestBeyondLimit(oldestOf),
    )
  })
}

function oldestBeyondLimit({ workspaceIds, limitBytes, kept, rows, trimmed }: OldestOf) {
  const ids = trimmed.map(({ endpointId }) => endpointId)
  const upTo = trimmed.map((endpoint) => endpoint.upTo)
  return sql`
    used as (
      select sum(e.captured_bytes) - coalesce(sum(d.bytes), 0) as bytes
      from webhook_endpoint e left join webhook_deleted d on d.endpoint_id = e.id where e.workspace_id = any (${workspaceIds}::uuid[])),
    oldest as (
      select r.id, r.seq, r.bytes
      from webhook_endpoint e
      left join unnest(${ids}::uuid[], ${upTo}::bigint[]) as t (id, up_to) on t.id = e.id
      cross join lateral (
        select seq from webhook_request where endpoint_id = e.id and seq > coalesce(t.up_to, 0)
        order by seq desc offset ${kept} limit 1) as newest
      cross join lateral (
        select ctid as id, seq, ${STORED_BYTES} as bytes from webhook_request r
        where endpoint_id = e.id and seq > coalesce(t.up_to, 0) and seq <= newest.seq
          and ${IS_UNPINNED}
        order by seq limit ${rows}) as r
      where e.workspace_id = any (${workspaceIds}::uuid[]) order by r.seq limit ${rows}),
    chosen as (
      select id from (select id, sum(bytes) over (order by seq) - bytes as before from oldest) as o, used
      where o.before < used.bytes - ${limitBytes}::bigint),`
}

async function lockDeletions(db: Db): Promise<void> {
  await sql`select take_turn_deleting_requests()`.execute(db)
}

/** The captures of a workspace, and the plans of it and of the account that answers for it. */
export type CaptureUsage = {
  workspaceId: string
  responsibleId: string
  plan: Plan
  accountPlan: Plan
  bytes: number
}

/**
 * Lists the bytes of captures of these workspaces, or of all, without workspaces that have no endpoint.
 */
export async function listUsage(db: Db, workspaceIds?: string[]): Promise<CaptureUsage[]> {
  const isIncluded =
    workspaceIds === undefined ? sql`true` : sql`e.workspace_id = any (${workspaceIds}::uuid[])`
  const { rows } = await sql<CaptureUsage>`
    select e.workspace_id, w.responsible_id, w.plan, ${largestPlanOf(sql`w.responsible_id`)} as account_plan,
      greatest(0, sum(e.captured_bytes) - coalesce(sum(d.bytes), 0))::bigint as bytes
    from webhook_endpoint e join workspace w on w.id = e.workspace_id
    left join webhook_deleted d on d.endpoint_id = e.id
    where ${isIncluded} group by e.workspace_id, w.responsible_id, w.plan`.execute(db)
  return rows
}

/**
 * Frees the space of deleted requests (VACUUM) if they are more than this share of the stored ones:
 * the cost of scanning the index depends on their number. Autovacuum would do so a minute later,
 * and at full load a minute’s deleted captures would by then have been written to the disk while
 * new captures wait.
 * @returns whether a VACUUM ran
 */
export async function vacuumRequests(
  db: Db,
  deleted: { requests: number; bytes: number },
  share: number,
): Promise<boolean> {
  const { rows } = await sql<{ kept: number; size: number }>`
    select reltuples::float8 as kept, pg_total_relation_size(oid)::float8 as size
    from pg_class where oid = 'webhook_request'::regclass`.execute(db)
  const { kept, size } = rows[0] ?? { kept: 0, size: 0 }
  if (deleted.requests < kept * share && deleted.bytes < size * share) return false
  const vacuum = sql`vacuum (skip_locked) webhook_request`
  await withStatementTimeout(db, VACUUM_TIMEOUT_MS, (connection) => vacuum.execute(connection))
  return true
}

/** Reads the bytes of the whole database, and of the files with captured requests. */
export async function readSizes(db: Db): Promise<{ databaseBytes: number; captureBytes: number }> {
  const { rows } = await sql<{ databaseBytes: number; captureBytes: number }>`
    select pg_database_size(current_database())::float8 as database_bytes,
      pg_total_relation_size('webhook_request')::float8 as capture_bytes`.execute(db)
  return rows[0] ?? { databaseBytes: 0, captureBytes: 0 }
}

/** Runs `work` unless another instance is running it. */
export async function withDiskLock(db: Kysely<DB>, work: () => Promise<void>): Promise<void> {
  await db.connection().execute(async (connection) => {
    const { rows } = await sql<{
      ours: boolean
    }>`select pg_try_advisory_lock(${ADVISORY_LOCKS.diskSpace}) as ours`.execute(connection)
    if (!rows[0]?.ours) return
    try {
      await work()
    } finally {
      await sql`select pg_advisory_unlock(${ADVISORY_LOCKS.diskSpace})`.execute(connection)
    }
  })
}
