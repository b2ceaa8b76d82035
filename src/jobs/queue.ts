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

/** A job that this process has claimed: `claim` names this attempt at it, and no later one. */
export type ClaimedJob = { id: string; attempt: number; data: object; claim: object }

export type Queue = {
  enqueue: Enqueue
  /**
   * Claims at most so many, the oldest first, as far as their concurrency over all instances
   * allows. None: there is none.
   */
  claim(job: Job, count: number): Promise<ClaimedJob[]>
  /** Says that the work goes on. False when the claim is lost: another instance has the job. */
  heartbeat(job: Job, claimed: ClaimedJob): Promise<boolean>
  complete(job: Job, claimed: ClaimedJob): Promise<void>
  /**
   * Asks the account with more than its share to give a slot back, where others wait for one: a
   * signal goes to its worker.
   */
  rebalance(job: Job): Promise<void>
  /** Puts it back behind what waits, after so many milliseconds; no attempt is lost. */
  putBack(job: Job, claimed: ClaimedJob, delayMs: number): Promise<void>
  /** Gives it back for another try, or ends it after the last. */
  fail(job: Job, claimed: ClaimedJob, error: unknown): Promise<void>
  /** How full it is, counted some seconds ago. */
  stats(): Promise<JobStats[]>
  /** To be called when a clock was set: what is marked with times to come would stand still. */
  clampTimestamps(): Promise<void>
  close: () => Promise<void>
}

/**
 * How many jobs of a name wait for their time, are ready, run, and failed for good within the last
 * day.
 */
export type JobStats = {
  name: string
  later: number
  ready: number
  running: number
  failed: number
}

/** The signal that a job was enqueued; its payload is the job's name. */
export const ENQUEUED = 'job.enqueued'

/**
 * The signal that a job is to be put back, because others wait for its slot; its payload is the
 * job's id.
 */
export const PUT_BACK_REQUESTED = 'job.wanted-back'

/**
 * Seconds without a sign of life after which a job is taken from its instance. Half of it between
 * two signs.
 */
export const HEARTBEAT_SECONDS = 20

/** Seconds between two looks for jobs whose instance died, and for schedules that came due. */
const SUPERVISION_SECONDS = 10

const COMPLETED_RETENTION_SECONDS = DAY_SECONDS

/**
 * A clock that nobody sets: with the machine's, timers would wait for the hours by which that was
 * set back.
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
  // Clocks that differ are told of by whoever watches them.
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
      // The words only: what else an error carries may be somebody's secret.
      void (await boss.fail(job.name, attempt as BossJob, { message: messageOf(error) })),
    stats: () => readStats(boss, jobs),
    clampTimestamps: () => clampQueueTimestamps(pool),
    close: () => boss.stop({ graceful: false }),
  }
}

/** Instances that start together for the first time would make the same tables. */
async function withStartLock(pool: Pool, work: () => Promise<void>): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [ADVISORY_LOCKS.queueStart])
    await work()
  } finally {
    // The lock ends with its connection, whatever happened.
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
  // Creating leaves a queue of an earlier version as it is, updating makes it as this version says.
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
 * Lets one work at a time: a claim holds a connection while it asks for another, and many could
 * each hold what the others wait for.
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

/** What the types of pg-boss do not show of a claimed job. */
type Attempt = { retryCount: number }

/**
 * One job of the account whose turn it is. One by one: pg-boss would take several of one account at
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

/** When each account was last served here, by the name of the job and the account, oldest first. */
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

/** Two instances that count what runs at the same moment would both see room for one more. */
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

/** pg-boss answers with a count that its types do not show. */
function affected(response: object): number {
  return (response as { affected: number }).affected
}
