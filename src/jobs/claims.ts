import type { Pool, PoolClient } from 'pg'
import type { Db as BossDb, Job as BossJob, PgBoss } from 'pg-boss'
import { ADVISORY_LOCKS } from '../store/advisory-locks.ts'
import { PREPARED } from '../store/database.ts'
import { notificationArguments } from '../store/notifications.ts'
import type { Job } from './job.ts'
import { findOverShare, listGroups, nextGroup, type Group } from './shares.ts'

/** A job that this process has claimed. `claim` identifies this attempt. */
export type ClaimedJob = { id: string; attempt: number; data: object; claim: Attempt }

/** What pg-boss returns of a claimed job, with a property that its types lack. */
type Attempt = BossJob & { retryCount: number }

export type Claims = {
  /** Names of the jobs of which at least one waits and is due. */
  listDue(): Promise<string[]>
  /**
   * Claims up to `count` jobs, oldest first, within their concurrency over all instances. Empty
   * when there is none.
   */
  claim(job: Job, count: number): Promise<ClaimedJob[]>
  /**
   * Asks the account that uses more than its share to return a slot where others wait: its worker
   * gets a notification.
   */
  rebalance(job: Job): Promise<void>
}

/** The notification that a job must return its slot to others. Its payload is the job’s id. */
export const PUT_BACK_REQUESTED = 'job.wanted-back'

/** @param jobs all jobs that this process may claim */
export function createClaims(boss: PgBoss, pool: Pool, jobs: Job[]): Claims {
  const names = jobs.map(({ name }) => name)
  const inTurn = createTurns()
  const served: Served = new Map()
  const counted: Counted = new Map()
  return {
    listDue: () => listDue(pool, names),
    async claim(job, count) {
      const { name, concurrency } = job
      const fetched = concurrency
        ? await inTurn(() =>
            withClaimLock(pool, name, (db) => claimNext(boss, db, { served, counted }, job)),
          )
        : await boss.fetch<object>(name, { batchSize: count })
      return fetched.map((attempt) => ({
        id: attempt.id,
        attempt: (attempt as Attempt).retryCount + 1,
        data: attempt.data ?? {},
        claim: attempt as Attempt,
      }))
    },
    rebalance: (job) => inTurn(() => rebalance(pool, counted, job)),
  }
}

/** Reads one entry of an index for each name. */
async function listDue(pool: Pool, names: string[]): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select queue.name from unnest($1::text[]) as queue(name)
    cross join lateral (
      select from pgboss.job
      where job.name = queue.name and state < 'active' and not blocked and start_after <= now()
      limit 1
    ) as due`,
    [names],
  )
  return rows.map(({ name }) => name)
}

/**
 * Claims one job of the account whose turn it is. pg-boss could claim several of one account at
 * once.
 */
async function claimNext(
  boss: PgBoss,
  db: BossDb,
  { served, counted }: { served: Served; counted: Counted },
  { name, concurrency }: Job,
) {
  const groups = await listGroups(db, name)
  counted.set(name, groups)
  const next = nextGroup(
    groups,
    concurrency ?? Infinity,
    ({ id }) => served.get(`${name} ${id}`) ?? 0,
  )
  if (next === null) return []
  remember(served, `${name} ${next.id}`)
  const others = groups.filter((group) => group !== next && group.waiting > 0)
  const claimed = await boss.fetch<object>(name, { db, ignoreGroups: others.map(({ id }) => id) })
  next.running += claimed.length
  next.waiting -= claimed.length
  return claimed
}

/** The accounts of each job as the last claim left them, until they were balanced. */
type Counted = Map<string, Group[]>

/** When each account was last served by this instance, by job name and account, oldest first. */
type Served = Map<string, number>

const MAX_SERVED = 10_000

function remember(served: Served, key: string): void {
  served.delete(key)
  served.set(key, performance.now())
  const [oldest] = served.keys()
  if (served.size > MAX_SERVED && oldest !== undefined) served.delete(oldest)
}

async function rebalance(
  pool: Pool,
  counted: Counted,
  { name, concurrency = Infinity }: Job,
): Promise<void> {
  const count = (db: BossDb) => listGroups(db, name)
  const known = counted.get(name) ?? (await count(prepared(pool)))
  counted.delete(name)
  // Mostly no other account waits, which is known without a lock.
  if (!findOverShare(known, concurrency)) return
  await withClaimLock(pool, name, async (db) => {
    const over = findOverShare(await count(db), concurrency)
    if (over)
      await db.executeSql(
        'select pg_notify($1, $2)',
        notificationArguments(PUT_BACK_REQUESTED, over.newest),
      )
  })
}

/** For the statements of which a worker runs some for each job. */
export function prepared(db: Pool | PoolClient): BossDb {
  return { executeSql: (text, values) => db.query(PREPARED + text, values) }
}

/** Two instances that count running jobs at once would both find a free slot. */
async function withClaimLock<T>(
  pool: Pool,
  name: string,
  work: (db: BossDb) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  try {
    // Two statements in one round trip.
    await client.query(
      `begin; select pg_advisory_xact_lock(${ADVISORY_LOCKS.jobClaim}, hashtext(${client.escapeLiteral(name)}))`,
    )
    const result = await work(prepared(client))
    await client.query('commit')
    client.release()
    return result
  } catch (error) {
    client.release(true)
    throw error
  }
}

/**
 * Returns a function that runs claims one after another: a claim holds a connection while it waits
 * for a second one, so that many could deadlock.
 */
function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work)
    last = turn.catch(() => {})
    return turn
  }
}
