import { sql, type RawBuilder } from 'kysely'
import type { Pool } from 'pg'
import type { Db as BossDb } from 'pg-boss'

/** The jobs of one name of an account. */
export type Group = {
  id: string
  running: number
  /** Ready to be claimed. */
  waiting: number
  /** When the oldest of them was enqueued, in milliseconds since 1970. */
  waitingSince: number
  /** The id of the running job that was claimed last. */
  newest: string | null
}

/**
 * Lists the accounts with running or waiting jobs of a name. All jobs of a name with a limit have a
 * group. Each part uses an index of its own: the table has all jobs of a day that have ended.
 */
export async function listGroups(db: BossDb, name: string): Promise<Group[]> {
  const { rows } = await db.executeSql(
    `select group_id as id,
      count(*) filter (where state = 'active')::int as running,
      count(*) filter (where state < 'active')::int as waiting,
      coalesce(extract(epoch from min(created_on) filter (where state < 'active')) * 1000, 0)::float8 as "waitingSince",
      (array_agg(job_id order by started_on desc) filter (where state = 'active'))[1] as newest
    from (
      select group_id, state, created_on, started_on, id as job_id from pgboss.job
      where name = $1 and state = 'active' and group_id is not null
      union all
      select coalesce(group_id, 'all'), state, created_on, started_on, id from pgboss.job
      where name = $1 and state < 'active' and not blocked and start_after <= now()
    ) as open
    group by 1`,
    [name],
  )
  return rows as Group[]
}

/** Selects the jobs of an account that can be claimed now: not those that wait for a time. */
export function claimableJobs(name: string, account: string): RawBuilder<unknown> {
  return sql`select from pgboss.job where name = ${name} and group_id = ${account}
    and state < 'active' and not blocked and start_after <= now()`
}

/**
 * Returns the account whose turn it is: the one with the fewest runs, among those the one that was
 * served longest ago; null when none waits.
 * @param servedAt larger is later; 0 for never
 */
export function nextGroup(
  groups: Group[],
  concurrency: number,
  servedAt: (group: Group) => number,
): Group | null {
  const running = groups.reduce((sum, group) => sum + group.running, 0)
  if (running >= concurrency) return null
  const waiting = groups.filter((group) => group.waiting > 0)
  const [next = null] = waiting.toSorted(
    (a, b) => a.running - b.running || servedAt(a) - servedAt(b) || a.waitingSince - b.waitingSince,
  )
  return next
}

/**
 * Returns the account that must return a slot: all slots are used, it uses more than its share, and
 * another account with fewer waits. The share is the number of slots divided by the accounts that
 * run or wait, at least one.
 */
export function findOverShare(groups: Group[], concurrency: number): Group | null {
  const running = groups.reduce((sum, group) => sum + group.running, 0)
  if (running < concurrency) return null
  const share = Math.max(1, Math.floor(concurrency / groups.length))
  const isWaited = groups.some((group) => group.waiting > 0 && group.running < share)
  const [most] = groups.toSorted((a, b) => b.running - a.running)
  return isWaited && most && most.running > share ? most : null
}

/** Written as SQL, because pg-boss only returns failed jobs, and a limited number of times. */
export async function putBack(
  pool: Pool,
  name: string,
  { id, retryCount }: { id: string; retryCount: number },
  delayMs: number,
): Promise<void> {
  await pool.query(
    `update pgboss.job set state = 'retry', created_on = now(), started_on = null, heartbeat_on = null,
      start_after = now() + $4 * interval '1 millisecond'
    where name = $1 and id = $2 and state = 'active' and retry_count = $3`,
    [name, id, retryCount, delayMs],
  )
}
