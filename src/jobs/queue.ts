import { CompiledQuery } from 'kysely'
import type { Pool } from 'pg'
import { PgBoss, type Db as BossDb, type Job as BossJob } from 'pg-boss'
import { Check } from 'typebox/value'
import { messageOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import { openUnlimited, type Db } from '../store/database.ts'
import { notificationArguments, notify } from '../store/notifications.ts'
import { clampQueueTimestamps } from './clamp-timestamps.ts'
import { placeOf, type Enqueue, type Job } from './job.ts'
import { findOverShare, listGroups, nextGroup, putBack } from './shares.ts'
import { setSchedules } from './schedule.ts'
import { DAY_SECONDS } from '../time.ts'
import { ADVISORY_LOCKS } from '../store/advisory-locks.ts'

/** A job that this process has claimed. `claim` identifies this attempt. */
export type ClaimedJob = { id: string; attempt: number; data: object; claim: object }

export type Queue = {
  enqueue: Enqueue
  /**
   * Claims up to `count` jobs, oldest first, within their concurrency over all instances. Empty
   * when there is none.
   */
  claim(job: Job, count: number): Promise<ClaimedJob[]>
  /** Extends the claim. False when it is lost to another instance. */
  heartbeat(job: Job, claimed: ClaimedJob): Promise<boolean>
  complete(job: Job, claimed: ClaimedJob): Promise<void>
  /**
   * Asks the account that uses more than its share to return a slot where others wait: its worker
   * gets a notification.
   */
  rebalance(job: Job): Promise<void>
  /** Returns it to the end of the queue after a delay. No attempt is lost. */
  putBack(job: Job, claimed: ClaimedJob, delayMs: number): Promise<void>
  /** Returns it for another attempt, or ends it after the last. */
  fail(job: Job, claimed: ClaimedJob, error: unknown): Promise<void>
  /** Numbers of jobs, up to a few seconds old. */
  stats(): Promise<JobStats[]>
  /** Call when a clock was set back: timestamps in the future would block the queue. */
  clampTimestamps(): Promise<void>
  close: () => Promise<void>
}

/**
 * Numbers of delayed, ready and running jobs of a name, and of those failed within the last day.
 */
export type JobStats = {
  name: string
  later: number
  ready: number
  running: number
  failed: number
}

/** The notification of an enqueued job. Its payload is the job’s name. */
export const ENQUEUED = 'job.enqueued'

/** The notification that a job must return its slot to others. Its payload is the job’s id. */
export const PUT_BACK_REQUESTED = 'job.wanted-back'

/** Seconds without a heartbeat after which a job is released. Heartbeats come twice as often. */
export const HEARTBEAT_SECONDS = 20

/** Seconds between two searches for jobs of crashed instances and for due schedules. */
const SUPERVISION_SECONDS = 10

const COMPLETED_RETENTION_SECONDS = DAY_SECONDS

/**
 * The monotonic clock: with the system clock, timers would wait for the hours by which it was set
 * back.
 */
const MONOTONIC_CLOCK = {
  now: () => performance.timeOrigin + performance.now(),
  setTimeout: (work: () => void, milliseconds: number) => setTimeout(work, milliseconds),
  clearTimeout: (timer: unknown) => clearTimeout(timer as NodeJS.Timeout),
  setInterval: (work: () => void, milliseconds: number) => setInterval(work, milliseconds),
  clearInterval: (timer: unknown) => clearInterval(timer as NodeJS.Timeout),
}

/**
 * Opens the queue: its tables in the schema `pgboss`, a queue for each job, and the schedules.
 * @param jobs all jobs of this version, whether or not this instance runs them
 */
export async function openQueue({
  pool,
  jobs,
  log,
}: {
  pool: Pool
  jobs: Job[]
  log: Logger
}): Promise<Queue> {
  let asked = openUnlimited(pool, 2)
  const boss = new PgBoss({
    db: { executeSql: (text, values) => asked.query(text, values) },
    schema: 'pgboss',
    superviseIntervalSeconds: SUPERVISION_SECONDS,
    monitorIntervalSeconds: SUPERVISION_SECONDS,
    cronMonitorIntervalSeconds: SUPERVISION_SECONDS,
    clockMonitorIntervalSeconds: SUPERVISION_SECONDS,
    clock: MONOTONIC_CLOCK,
  })
  boss.on('error', (error) => log.warn({ err: error }, 'the queue could not reach the database'))
  // `watchClocks` reports clocks that differ.
  boss.on('warning', ({ message, data }) =>
    log[/clock skew/i.test(message) ? 'debug' : 'warn']({ data }, message),
  )
  const unlimited = asked
  try {
    await withStartLock(unlimited, async () => {
      await boss.start()
      for (const job of jobs) await makeQueue(boss, job)
      await setSchedules(boss, jobs)
    })
  } finally {
    asked = pool
    await unlimited.end()
  }
  const inTurn = createTurns()
  const served: Served = new Map()
  return {
    enqueue: (db, job, data, options) => enqueue(boss, db, job, data, options?.startAfter),
    claim: (job, count) => claim({ boss, pool, inTurn, served }, job, count),
    heartbeat: async (job, { claim: attempt }) =>
      affected(await boss.touch(job.name, attempt as BossJob)) > 0,
    complete: async (job, { claim: attempt }) =>
      void (await boss.complete(job.name, attempt as BossJob)),
    rebalance: (job) => inTurn(() => rebalance(pool, job)),
    putBack: (job, { claim: attempt }, delayMs) =>
      putBack(pool, job.name, attempt as BossJob & Attempt, delayMs),
    fail: async (job, { claim: attempt }, error) =>
      // Only the message: other properties of an error may contain secrets.
      void (await boss.fail(job.name, attempt as BossJob, { message: messageOf(error) })),
    stats: () => readStats(boss, jobs),
    clampTimestamps: () => clampQueueTimestamps(pool),
    close: () => boss.stop({ graceful: false }),
  }
}

/** Instances that start together for the first time would create the same tables. */
async function withStartLock(pool: Pool, work: () => Promise<void>): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [ADVISORY_LOCKS.queueStart])
    await work()
  } finally {
    // Closing the connection releases the lock.
    client.release(true)
  }
}

async function makeQueue(boss: PgBoss, job: Job): Promise<void> {
  const { name, deadline = 900, retry = {} } = job
  const options = {
    expireInSeconds: deadline,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    deleteAfterSeconds: COMPLETED_RETENTION_SECONDS,
    retryLimit: retry.limit ?? 3,
    retryDelay: retry.delay ?? 5,
    retryDelayMax: retry.maxDelay ?? 600,
    retryBackoff: true,
  }
  // Creation leaves a queue of an earlier version unchanged; the update applies this version’s
  // settings.
  await boss.createQueue(name, { ...options, policy: job.uniqueBy ? 'short' : 'standard' })
  await boss.updateQueue(name, options)
}

async function enqueue<Data extends object>(
  boss: PgBoss,
  db: Db,
  job: Job<Data>,
  data: Data,
  startAfter?: Date,
): Promise<boolean> {
  if (job.schema && !Check(job.schema, data))
    throw new TypeError(`the data of job ${job.name} is not what its schema says`)
  const id = await boss.send(job.name, data, {
    db: inTransaction(db),
    startAfter,
    ...placeOf(job, data),
  })
  if (id !== null) await notify(db, ENQUEUED, job.name)
  return id !== null
}

function inTransaction(db: Db): BossDb {
  const plain = db.withoutPlugins()
  return {
    executeSql: async (text, values) => ({
      rows: [...(await plain.executeQuery(CompiledQuery.raw(text, values))).rows],
    }),
  }
}

type Turns = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Runs claims one after another: a claim holds a connection while it waits for a second one, so
 * that many could deadlock.
 */
function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work)
    last = turn.catch(() => {})
    return turn
  }
}

type ClaimDeps = { boss: PgBoss; pool: Pool; inTurn: Turns; served: Served }

async function claim(
  { boss, pool, inTurn, served }: ClaimDeps,
  job: Job,
  count: number,
): Promise<ClaimedJob[]> {
  const fetched = job.concurrency
    ? await inTurn(() => withClaimLock(pool, job.name, (db) => claimNext(boss, db, served, job)))
    : await boss.fetch<object>(job.name, { batchSize: count })
  return fetched.map((attempt) => ({
    id: attempt.id,
    attempt: (attempt as BossJob & Attempt).retryCount + 1,
    data: attempt.data ?? {},
    claim: attempt,
  }))
}

/** Properties of a claimed job that pg-boss’s types lack. */
type Attempt = { retryCount: number }

/**
 * Claims one job of the account whose turn it is. pg-boss could claim several of one account at
 * once.
 */
async function claimNext(boss: PgBoss, db: BossDb, served: Served, { name, concurrency }: Job) {
  const groups = await listGroups(db, name)
  const next = nextGroup(
    groups,
    concurrency ?? Infinity,
    ({ id }) => served.get(`${name} ${id}`) ?? 0,
  )
  if (next === null) return []
  remember(served, `${name} ${next.id}`)
  const others = groups.filter((group) => group !== next && group.waiting > 0)
  return boss.fetch<object>(name, { db, ignoreGroups: others.map(({ id }) => id) })
}

/** When each account was last served by this instance, by job name and account, oldest first. */
type Served = Map<string, number>

const MAX_SERVED = 10_000

function remember(served: Served, key: string): void {
  served.delete(key)
  served.set(key, performance.now())
  const [oldest] = served.keys()
  if (served.size > MAX_SERVED && oldest !== undefined) served.delete(oldest)
}

async function rebalance(pool: Pool, { name, concurrency = Infinity }: Job): Promise<void> {
  await withClaimLock(pool, name, async (db) => {
    const over = findOverShare(await listGroups(db, name), concurrency)
    if (over)
      await db.executeSql(
        'select pg_notify($1, $2)',
        notificationArguments(PUT_BACK_REQUESTED, over.newest),
      )
  })
}

/** Two instances that count running jobs at once would both find a free slot. */
async function withClaimLock<T>(
  pool: Pool,
  name: string,
  work: (db: BossDb) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock($1, hashtext($2))', [
      ADVISORY_LOCKS.jobClaim,
      name,
    ])
    const result = await work({ executeSql: (text, values) => client.query(text, values) })
    await client.query('commit')
    client.release()
    return result
  } catch (error) {
    client.release(true)
    throw error
  }
}

async function readStats(boss: PgBoss, jobs: Job[]): Promise<JobStats[]> {
  const queues = await boss.getQueues(jobs.map(({ name }) => name))
  const rows = queues.map(
    ({ name, deferredCount: later, readyCount: ready, activeCount: running, failedCount }) => {
      return { name, later, ready, running, failed: failedCount }
    },
  )
  return rows.toSorted((one, other) => one.name.localeCompare(other.name))
}

/** pg-boss returns a count that its types lack. */
function affected(response: object): number {
  return (response as { affected: number }).affected
}
