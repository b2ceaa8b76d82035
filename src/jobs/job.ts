import type { Static, TObject } from 'typebox'
import type { Logger } from '../log.ts'
import type { Db } from '../store/database.ts'

/** The notification of an enqueued job. Its payload is the job’s name. */
export const ENQUEUED = 'job.enqueued'

export type JobContext = {
  /**
   * Aborts when the service stops or this run has lost its claim. Save what is useful, then return
   * or throw.
   */
  signal: AbortSignal
  /** 1 for the first run, more after a failure or a crash. */
  attempt: number
  log: Logger
  /** Enqueues another job. */
  enqueue: Enqueue
  /**
   * Does a part of the work for one workspace. Its signal also aborts when the workspace is deleted.
   * @throws WorkspaceDeleted when the workspace is deleted, before or meanwhile
   */
  inWorkspace: InWorkspace
}

export type InWorkspace = <T>(
  workspaceId: string,
  work: (signal: AbortSignal) => Promise<T>,
) => Promise<T>

/**
 * Thrown by a job to return to the end of the queue: not a failure, and no attempt lost. As the
 * reason of an abort it means that other accounts wait for the slot; the job then saves its state
 * and throws it.
 */
export class PutBack extends Error {
  readonly delayMs: number

  constructor(message: string, delayMs = 0) {
    super(message)
    this.name = 'PutBack'
    this.delayMs = delayMs
  }
}

/** A background job: its name, data, limits and work. */
export type Job<Data extends object = object> = {
  /** Name in the database: letters, digits, `-`, `_`, `.`. */
  name: string
  /** Schema of the data, checked before it is enqueued and before it runs. */
  schema?: TObject
  /** Runs at once over all instances. Default: four in each instance. */
  concurrency?: number
  /**
   * The account it runs for; of a workspace, the one that answers for it (`findResponsible`).
   * Accounts share `concurrency`: the next claim goes to the account with the fewest runs, and an
   * account that uses more than its share returns slots when others wait (`PutBack`).
   */
  accountOf?(data: Data, db: Db): string | Promise<string>
  /**
   * The workspace it works for. While that is deleted, the job does not run: a run is interrupted
   * (`WorkspaceDeleted`), and the job waits for the restore. Jobs for several workspaces use
   * `inWorkspace`.
   */
  workspaceOf?(data: Data): string | undefined
  /** At most one job with the same key waits. */
  uniqueBy?(data: Data): string
  /**
   * Schedule: cron in UTC, once over all instances, with empty data. Missed runs are made up once.
   */
  schedule?: string
  /** Seconds for one run, after which it has failed (default 900, at most 86,400). */
  deadline?: number
  /**
   * Retries (default 3), and the seconds between them: the first delay (5), doubled each time, up
   * to the maximum (600).
   */
  retry?: { limit?: number; delay?: number; maxDelay?: number }
  /** Does the work. May run twice when an instance crashes: the database has the state. */
  run(data: Data, context: JobContext): Promise<void>
}

/**
 * Enqueues a job, within the caller’s transaction if `db` is one.
 * @returns false when a job with the same unique key is already queued
 */
export type Enqueue = <Data extends object>(
  db: Db,
  job: Job<Data>,
  data: Data,
  options?: { startAfter?: Date },
) => Promise<boolean>

/**
 * Defines a job with types derived from its schema. Jobs with dependencies are created by a
 * function that receives them.
 */
export function defineJob<Schema extends TObject>(
  job: Omit<Job<Static<Schema>>, 'schema'> & { schema: Schema },
): Job<Static<Schema>>
export function defineJob(job: Omit<Job, 'schema'>): Job
export function defineJob<Data extends object>(job: Job<Data>): Job<Data> {
  return job
}

/**
 * Defines a job that looks for work that is due, in one instance at a time. It is not retried: the
 * next run finds what was left.
 */
export function defineSweep(job: Omit<Job, 'schema' | 'concurrency' | 'uniqueBy' | 'retry'>): Job {
  return { ...job, concurrency: 1, uniqueBy: () => 'all', retry: { limit: 0 } }
}

/** The group in which a waiting job is counted: by default, one for all. */
export function placeOf<Data extends object>(
  job: Job<Data>,
  data: Data,
  account = 'all',
): { group?: { id: string }; singletonKey?: string } {
  return {
    ...(job.concurrency && { group: { id: account } }),
    ...(job.uniqueBy && { singletonKey: job.uniqueBy(data) }),
  }
}
