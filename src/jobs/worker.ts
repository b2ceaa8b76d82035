import { setTimeout as sleep } from 'node:timers/promises'
import { Check } from 'typebox/value'
import type { Logger } from '../log.ts'
import type { Notifications } from '../store/notifications.ts'
import { PutBack, type Job } from './job.ts'
import {
  ENQUEUED,
  HEARTBEAT_SECONDS,
  PUT_BACK_REQUESTED,
  type ClaimedJob,
  type Queue,
} from './queue.ts'

export type Worker = {
  /**
   * Stops claiming, aborts running jobs and waits for them.
   * @param milliseconds after which unfinished jobs return to the queue
   */
  stop(milliseconds: number): Promise<void>
}

type Options = { queue: Queue; jobs: Job[]; notifications: Notifications; log: Logger }
type Running = { claimed: ClaimedJob; abort: AbortController; done: Promise<void> }

/** Concurrent runs of one job in one instance, unless its `concurrency` is higher. */
const DEFAULT_CONCURRENCY = 4

/**
 * Milliseconds between two claims without a notification: for retries that are due, and missed
 * notifications.
 */
const POLL_INTERVAL_MS = 2_000

/** Runs jobs until it is stopped. */
export function startWorker({ queue, jobs, notifications, log }: Options): Worker {
  const lines = jobs.map((job) => startLine(queue, job, log.child({ job: job.name })))
  const stopListening = [
    notifications.on(ENQUEUED, (name) =>
      lines.filter((line) => line.name === name).forEach((line) => line.look()),
    ),
    notifications.on(PUT_BACK_REQUESTED, (id) => lines.forEach((line) => line.putBack(String(id)))),
    notifications.onReconnect(() => lines.forEach((line) => line.look())),
  ]
  return {
    async stop(milliseconds) {
      stopListening.forEach((stop) => stop())
      await Promise.all(lines.map((line) => line.stop(milliseconds)))
    },
  }
}

type Line = {
  name: string
  look(): void
  putBack(id: string): void
  stop(milliseconds: number): Promise<void>
}

/**
 * Runs one kind of job: claims as many as possible after a notification, after a run, and at
 * intervals.
 */
function startLine(queue: Queue, job: Job, log: Logger): Line {
  const slots = Math.max(job.concurrency ?? 0, DEFAULT_CONCURRENCY)
  const running = new Set<Running>()
  const stopping = new AbortController()
  let woken = Promise.withResolvers<void>()
  const looking = keepLooking()

  async function keepLooking(): Promise<void> {
    while (!stopping.signal.aborted) {
      woken = Promise.withResolvers()
      await fill().catch((error: unknown) => log.warn({ err: error }, 'could not look for jobs'))
      if (job.accountOf && running.size > 0) await queue.rebalance(job).catch(() => {})
      const timer = setTimeout(woken.resolve, POLL_INTERVAL_MS)
      await woken.promise
      clearTimeout(timer)
    }
  }

  async function fill(): Promise<void> {
    while (running.size < slots && !stopping.signal.aborted) {
      const claimed = await queue.claim(job, slots - running.size)
      if (claimed.length === 0) return
      claimed.forEach(begin)
    }
  }

  function begin(claimed: ClaimedJob): void {
    const abort = new AbortController()
    const done = runOne(queue, job, claimed, abort, log).finally(() => {
      running.delete(entry)
      woken.resolve()
    })
    const entry = { claimed, abort, done }
    running.add(entry)
  }

  return {
    name: job.name,
    look: () => woken.resolve(),
    putBack(id) {
      const entry = [...running].find(({ claimed }) => claimed.id === id)
      entry?.abort.abort(new PutBack('other accounts wait for the slot'))
    },
    async stop(milliseconds) {
      stopping.abort(new Error('the service is stopping'))
      woken.resolve()
      await Promise.race([finish(), sleep(milliseconds, undefined, { ref: false })])
      for (const { claimed } of running) await giveBack(queue, job, claimed, stopping.signal.reason)
    },
  }

  async function finish(): Promise<void> {
    await looking
    for (const { abort } of running) abort.abort(stopping.signal.reason)
    await Promise.all([...running].map(({ done }) => done))
  }
}

/** If the queue is unavailable, the claim expires there by itself. */
async function giveBack(
  queue: Queue,
  job: Job,
  claimed: ClaimedJob,
  error: unknown,
): Promise<void> {
  await queue.fail(job, claimed, error).catch(() => {})
}

/**
 * Runs one job and extends its claim meanwhile. Never throws: errors go to the queue and the log.
 */
async function runOne(
  queue: Queue,
  job: Job,
  claimed: ClaimedJob,
  abort: AbortController,
  log: Logger,
): Promise<void> {
  const timers = [
    setInterval(() => void keepClaim(), (HEARTBEAT_SECONDS * 1000) / 2),
    setTimeout(() => abort.abort(new Error('the job took too long')), (job.deadline ?? 900) * 1000),
  ]
  async function keepClaim(): Promise<void> {
    const kept = await queue.heartbeat(job, claimed).catch(() => true)
    if (!kept) abort.abort(new Error('the job has gone to another instance'))
  }
  try {
    if (job.schema && !Check(job.schema, claimed.data))
      throw new TypeError('its data is not what its schema says')
    await job.run(claimed.data, {
      signal: abort.signal,
      attempt: claimed.attempt,
      log,
      enqueue: (db, other, data, options) => queue.enqueue(db, other, data, options),
    })
    await queue.complete(job, claimed)
  } catch (error) {
    if (error instanceof PutBack) {
      log.info({ jobId: claimed.id }, `a job goes back into the queue: ${error.message}`)
      return await queue.putBack(job, claimed, error.delayMs).catch(() => {})
    }
    log.warn(
      { err: error, attempt: claimed.attempt },
      abort.signal.aborted ? 'a job was interrupted' : 'a job failed',
    )
    await giveBack(queue, job, claimed, error)
  } finally {
    timers.forEach(clearTimeout)
  }
}
