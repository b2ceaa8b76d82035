import { sql } from 'kysely'
import type { Pool } from 'pg'
import { PREPARED, type Db } from '../store/database.ts'
import { notifyAll } from '../store/notifications.ts'
import { ENQUEUED } from './job.ts'

/**
 * Holds a job back until the workspace is erased, after which it finds nothing to do, or until
 * `releaseHeldJobs`. The lock lets it see a restore that is being committed.
 * @returns false when the workspace does not exist any more
 */
export async function holdJob(
  pool: Pool,
  name: string,
  { id, retryCount }: { id: string; retryCount: number },
  workspaceId: string,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `with kept as (select delete_after from workspace where id = $4 for share)
    update pgboss.job set state = 'retry', created_on = now(), started_on = null, heartbeat_on = null,
      start_after = coalesce((select delete_after from kept), now())
    where name = $1 and id = $2 and state = 'active' and retry_count = $3 and exists (select from kept)`,
    [name, id, retryCount, workspaceId],
  )
  return rowCount !== 0
}

/** Lets the jobs of a workspace run again, in the transaction that restores it. */
export async function releaseHeldJobs(db: Db, workspaceId: string): Promise<void> {
  // The command line can restore a workspace before the service has created its queue.
  const { rows: tables } = await sql<{ exists: boolean }>`
    select to_regclass('pgboss.job') is not null as exists`.execute(db)
  if (!tables[0]?.exists) return
  const { rows } = await sql<{ name: string }>`
    update pgboss.job set start_after = now()
    where state < 'active' and start_after > now() and data ->> 'workspaceId' = ${workspaceId}
    returning name`.execute(db)
  const names = new Set(rows.map(({ name }) => name))
  await notifyAll(
    db,
    [...names].map((name) => [ENQUEUED, name]),
  )
}

/** Which of these workspaces are deleted, or do not exist any more. */
export async function listDeleted(pool: Pool, workspaceIds: string[]): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `${PREPARED}select id from unnest($1::uuid[]) as given(id)
    where not exists (select from workspace w where w.id = given.id and w.delete_after is null)`,
    [workspaceIds],
  )
  return rows.map(({ id }) => id)
}
