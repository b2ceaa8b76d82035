import { CompiledQuery, sql } from 'kysely'
import type { Pool } from 'pg'
import { PgBoss, type Db as BossDb } from 'pg-boss'
import { Check } from 'typebox/value'
import { messageOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import { isDeadlock, openUnlimited, PREPARED, type Db } from '../store/database.ts'
import { notify } from '../store/notifications.ts'
import { createClaims, prepared, type ClaimedJob, type Claims } from './claims.ts'
import { clampQueueTimestamps } from './clamp-timestamps.ts'
import { holdJob, listDeleted as listDeletedOf } from './held-jobs.ts'
import { ENQUEUED, placeOf, type Enqueue, type Job } from './job.ts'
import { putBack } from './shares.ts'
import { setSchedules } from './job-schedule.ts'
import { DAY_SECONDS } from '../time.ts'
import { ADVISORY_LOCKS, waitForAdvisoryLock } from '../store/advisory-locks.ts'

export type Queue = Claims & {
  enqueue: Enqueue
  /** Extends the claim. False when it is lost to another instance. */
  heartbeat(job: Job, claimed: ClaimedJob): Promise<boolean>
  complete(job: Job, claimed: ClaimedJob): Promise<void>
  /** Returns it to the end of the queue after a delay. No attempt is lost. */
  putBack(job: Job, claimed: ClaimedJob, delayMs: number): Promise<void>
  /**
   * Holds it until its workspace is restored, and ends it when the workspace is erased. No attempt
   * is lost.
   */
  hold(job: Job, claimed: ClaimedJob, workspaceId: string): Promise<void>
  /** Which of these workspaces are deleted. */
  listDeleted(workspaceIds: string[]): Promise<string[]>
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
type JobStats = {
  name: string
  later: number
  ready: number
  running: number
  failed: number
}

/** Seconds without a heartbeat after which a job is released. Heartbeats come twice as often. */
export const HEARTBEAT_SECONDS = 20

/** Seconds between two searches for jobs of crashed instances and for due schedules. */
const SUPERVISION_SECONDS = 10

const COMPLETED_RETENTION_SECONDS = DAY_SECONDS

/** Deadlocks of one statement of the start, after which the start fails. */
const MAX_DEADLOCKS = 10

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
      for (const job of jobs) await retryDeadlock(() => makeQueue(boss, job))
      await retryDeadlock(() => setSchedules(boss, jobs))
    })
  } finally {
    asked = pool
    await unlimited.end()
  }
  const complete: Queue['complete'] = async (job, { claim: attempt }) =>
    void (await boss.complete(job.name, attempt, undefined, { db: prepared(pool) }))
  return {
    ...createClaims(boss, pool, jobs),
    enqueue: (db, job, data, options) => enqueue(boss, db, job, data, options?.startAfter),
    heartbeat: async (job, { claim: attempt }) => affected(await boss.touch(job.name, attempt)) > 0,
    complete,
    putBack: (job, { claim: attempt }, delayMs) => putBack(pool, job.name, attempt, delayMs),
    async hold(job, claimed, workspaceId) {
      const isHeld = await holdJob(pool, job.name, claimed.claim, workspaceId)
      if (!isHeld) await complete(job, claimed)
    },
    listDeleted: (workspaceIds) => listDeletedOf(pool, workspaceIds),
    fail: async (job, { claim: attempt }, error) =>
      // Only the message: other properties of an error may contain secrets.
      void (await boss.fail(job.name, attempt, { message: messageOf(error) })),
    stats: () => readStats(boss, jobs),
    clampTimestamps: () => clampQueueTimestamps(pool),
    close: () => boss.stop({ graceful: false }),
  }
}

/** Instances that start together for the first time would create the same tables. */
async function withStartLock(pool: Pool, work: () => Promise<void>): Promise<void> {
  const client = await pool.connect()
  try {
    await waitForAdvisoryLock(client, ADVISORY_LOCKS.queueStart)
    await work()
  } finally {
    // Closing the connection releases the lock.
    client.release(true)
  }
}

/** Running instances lock rows of the same queues. All of these statements are repeatable. */
async function retryDeadlock(work: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (!isDeadlock(error) || tries === MAX_DEADLOCKS) throw error
    }
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
  const place = placeOf(job, data, await job.accountOf?.(data, db))
  for (;;) {
    const id = await boss.send(job.name, data, { db: inTransaction(db), startAfter, ...place })
    const isQueued = id !== null
    if (!isQueued && db.isTransaction && !(await keepWaiting(db, job.name, place.singletonKey)))
      continue
    if ((isQueued || db.isTransaction) && isFirstOf(db, job.name))
      await notify(db, ENQUEUED, job.name)
    return isQueued
  }
}

/**
 * Keeps the job that waits under this key from being claimed before the transaction ends: a run
 * that began earlier would not see what the transaction wrote.
 * @returns false when it has been claimed meanwhile
 */
async function keepWaiting(db: Db, name: string, key = ''): Promise<boolean> {
  const { rows } = await sql`
    select from pgboss.job
    where name = ${name} and coalesce(singleton_key, '') = ${key} and state = 'created'
    for key share`.execute(db.withoutPlugins())
  return rows.length > 0
}

/** Jobs that a transaction has notified of: it sends the same notification once. */
const notified = new WeakMap<Db, Set<string>>()

function isFirstOf(db: Db, name: string): boolean {
  if (!db.isTransaction) return true
  const names = notified.get(db) ?? new Set()
  notified.set(db, names)
  return names.size < names.add(name).size
}

function inTransaction(db: Db): BossDb {
  const plain = db.withoutPlugins()
  return {
    executeSql: async (text, values) => ({
      rows: [...(await plain.executeQuery(CompiledQuery.raw(PREPARED + text, values))).rows],
    }),
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
