import type { Static, TObject } from 'typebox'
import type { Logger } from '../log.ts'
import type { Db } from '../store/database.ts'

export type JobContext = {
  /**
   * Aborts when the service stops, or when this run lost its claim: save what is worth saving and
   * return or throw.
   */
  signal: AbortSignal
  /** 1 for the first run, more after a failure or a crash. */
  attempt: number
  log: Logger
  /** Puts another job into the queue. */
  enqueue: Enqueue
}

/**
 * Thrown by work that is not done and goes back into the queue, behind what waits there: no
 * failure, and no attempt lost. As the reason of the signal's abort it says that others wait for
 * the slot; work that hears of it saves what it has, and throws.
 */
export class PutBack extends Error {
  readonly delayMs: number

  constructor(message: string, delayMs = 0) {
    super(message)
    this.name = 'PutBack'
    this.delayMs = delayMs
  }
}

/** Work for later: how it is called, what it takes, how often it may run, and the work itself. */
export type Job<Data extends object = object> = {
  /** Its name in the database: letters, digits, `-`, `_`, `.`. */
  name: string
  /** What is checked before it is enqueued and before it runs. */
  schema?: TObject
  /** How many may run at once over all instances together. Without it, four in each. */
  concurrency?: number
  /**
   * The account whose work it is. Accounts share `concurrency`: the next claim is for the one that
   * runs least, and one that alone may use all slots gives back what is more than its share when
   * others wait (`PutBack`).
   */
  accountOf?(data: Data): string
  /** Of those with the same key at most one waits. */
  uniqueBy?(data: Data): string
  /**
   * Enqueues it with empty data: cron in UTC, once over all instances, and once after a time when
   * none was running.
   */
  schedule?: string
  /** Seconds for one run, after which it counts as failed (900, at most 86,400). */
  deadline?: number
  /**
   * Tries after the first (3), and seconds between them: at first (5), doubled each time, at most
   * (600).
   */
  retry?: { limit?: number; delay?: number; maxDelay?: number }
  /**
   * Does the work. May run twice when an instance dies in the middle: the row says what is done.
   */
  run(data: Data, context: JobContext): Promise<void>
}

/**
 * Puts a job into the queue, within the caller’s transaction if `db` is one.
 * @returns false when a job with the same unique key is already queued
 */
export type Enqueue = <Data extends object>(
  db: Db,
  job: Job<Data>,
  data: Data,
  options?: { startAfter?: Date },
) => Promise<boolean>

/**
 * Keeps the types of schema and work together. A job that needs something is made by a function
 * that is given it.
 */
export function defineJob<Schema extends TObject>(
  job: Omit<Job<Static<Schema>>, 'schema'> & { schema: Schema },
): Job<Static<Schema>>
export function defineJob(job: Omit<Job, 'schema'>): Job
export function defineJob<Data extends object>(job: Job<Data>): Job<Data> {
  return job
}

/** What a waiting job is counted under. */
export function placeOf<Data extends object>(
  job: Job<Data>,
  data: Data,
): { group?: { id: string }; singletonKey?: string } {
  return {
    ...(job.concurrency && { group: { id: job.accountOf?.(data) ?? 'all' } }),
    ...(job.uniqueBy && { singletonKey: job.uniqueBy(data) }),
  }
}
