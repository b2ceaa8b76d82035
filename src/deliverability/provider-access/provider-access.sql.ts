import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import type { DueRows } from '../../store/due-rows.ts'
import { STATISTICS_LEASE_SECONDS } from '../limits.ts'

/** The accesses of workspaces to statistics of providers; each is one row of a workspace. */
export const ACCESS_TABLES = ['postmaster_access', 'snds_access', 'snds_sign_in'] as const
export type AccessTable = (typeof ACCESS_TABLES)[number]

/** Accesses whose statistics are fetched next. */
export const dueAccesses = (table: AccessTable): DueRows => ({
  table,
  key: 'workspace_id',
  dueAt: 'due_at',
  leaseSeconds: STATISTICS_LEASE_SECONDS,
})

/** Records a fetch. */
export async function recordFetch(
  db: Db,
  table: AccessTable,
  workspaceId: string,
  afterSeconds: number,
): Promise<void> {
  await sql`
    update ${sql.table(table)} set fetched_at = now(), failures = 0, failing_since = null,
      problem = null, is_ended = false, due_at = now() + make_interval(secs => ${afterSeconds})
    where workspace_id = ${workspaceId}`.execute(db)
}

export type Failure = {
  failures: number
  failingSince: Date
  /** Whether it has failed for so many days. */
  isLong: boolean
}

/**
 * Records a fetch that failed, and plans the next one.
 * @param retry the seconds until the first and at most, unless the provider says how many
 */
export async function recordFailure(
  db: Db,
  table: AccessTable,
  workspaceId: string,
  {
    problem,
    retry,
    retryAfter,
    longDays,
  }: {
    problem: string
    retry: { first: number; last: number }
    retryAfter: number | null
    longDays: number
  },
): Promise<Failure | undefined> {
  const seconds = sql`greatest(${retryAfter ?? 0}::int,
    least(${retry.last}::int, ${retry.first}::int * 2 ^ least(failures, 10)))`
  const { rows } = await sql<Failure>`
    update ${sql.table(table)} set failures = failures + 1, problem = ${problem},
      failing_since = coalesce(failing_since, now()),
      due_at = now() + make_interval(secs => least(${seconds}, 86400))
    where workspace_id = ${workspaceId}
    returning failures, failing_since,
      failing_since <= now() - make_interval(days => ${longDays}) as is_long`.execute(db)
  return rows[0]
}

/** Records that an access has ended: nothing is fetched until a person renews it. */
export async function recordEnd(
  db: Db,
  table: AccessTable,
  workspaceId: string,
  problem: string,
): Promise<Pick<Failure, 'failingSince'> | undefined> {
  const { rows } = await sql<Pick<Failure, 'failingSince'>>`
    update ${sql.table(table)} set problem = ${problem}, is_ended = true, due_at = null,
      failing_since = coalesce(failing_since, now())
    where workspace_id = ${workspaceId} returning failing_since`.execute(db)
  return rows[0]
}

/** Fetches statistics soon, as after a sign-in. @returns whether there is such an access */
export async function makeDue(db: Db, table: AccessTable, workspaceId: string): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update ${sql.table(table)} set due_at = now() where workspace_id = ${workspaceId}
      and not is_ended`.execute(db)
  return numAffectedRows > 0n
}
