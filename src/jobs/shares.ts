import type { Pool } from 'pg'
import type { Db as BossDb } from 'pg-boss'

/** An account's jobs of one name. */
export type Group = {
  id: string
  running: number
  /** Ready to be claimed. */
  waiting: number
  /** When the first of those was put into the queue, in milliseconds since 1970. */
  waitingSince: number
  /** The id of the running one that was claimed last. */
  newest: string | null
}

/** Who has and wants how many slots. Jobs of a name with a limit all have a group. */
export async function listGroups(db: BossDb, name: string): Promise<Group[]> {
  const { rows } = await db.executeSql(
    `select coalesce(group_id, 'all') as id,
      count(*) filter (where state = 'active')::int as running,
      count(*) filter (where state < 'active')::int as waiting,
      coalesce(extract(epoch from min(created_on) filter (where state < 'active')) * 1000, 0)::float8 as "waitingSince",
      (array_agg(id order by started_on desc) filter (where state = 'active'))[1] as newest
    from pgboss.job
    where name = $1 and (state = 'active' or (state < 'active' and not blocked and start_after <= now()))
    group by 1`,
    [name],
  )
  return rows as Group[]
}

/**
 * Whose turn it is: the account that runs least, of those the one that was served longest ago.
 * Null: nobody's.
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
 * The account that has to give a slot back: all slots are taken, it has more of them than its
 * share, and another account with less waits. The share is what is left when the slots are divided
 * among all accounts that run or wait, one at least.
 */
export function findOverShare(groups: Group[], concurrency: number): Group | null {
  const running = groups.reduce((sum, group) => sum + group.running, 0)
  if (running < concurrency) return null
  const share = Math.max(1, Math.floor(concurrency / groups.length))
  const isWaited = groups.some((group) => group.waiting > 0 && group.running < share)
  const [most] = groups.toSorted((a, b) => b.running - a.running)
  return isWaited && most && most.running > share ? most : null
}

/** Written by hand: pg-boss gives back only what failed, and that for a limited number of times. */
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
