import { setTimeout as sleep } from 'node:timers/promises'
import { Check } from 'typebox/value'
import type { Logger } from '../log.ts'
import type { Notifications } from '../store/notifications.ts'
import { PUT_BACK_REQUESTED, type ClaimedJob } from './claims.ts'
import { ENQUEUED, PutBack, type InWorkspace, type Job } from './job.ts'
import { HEARTBEAT_SECONDS, type Queue } from './queue.ts'
import { createWorkspaceGuard, WorkspaceDeleted, type WorkspaceGuard } from './workspace-guard.ts'

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
 * Milliseconds between two searches for due jobs: of an earlier run, of retries, and those whose
 * notification was missed.
 */
const POLL_INTERVAL_MS = 2_000

/** Runs jobs until it is stopped. */
export function startWorker({ queue, jobs, notifications, log }: Options): Worker {
  const guard = createWorkspaceGuard(notifications, (ids) => queue.listDeleted(ids))
  const lines = jobs.map((job) => startLine({ queue, guard }, job, log.child({ job: job.name })))
  const look = (...names: unknown[]) =>
    lines.filter((line) => names.includes(line.name)).forEach((line) => line.look())
  // One query for all jobs: a claim of each would take a connection each, at the start all at once.
  const poll = startLoop(async () => {
    const names = await queue.listDue().catch((error: unknown) => {
      log.warn({ err: error }, 'could not look for jobs')
      return []
    })
    look(...names)
  }, POLL_INTERVAL_MS)
  poll.wake()
  const stopListening = [
    notifications.on(ENQUEUED, (name) => look(name)),
    notifications.on(PUT_BACK_REQUESTED, (id) => lines.forEach((line) => line.putBack(String(id)))),
    notifications.onReconnect(poll.wake),
  ]
  return {
    async stop(milliseconds) {
      stopListening.forEach((stop) => stop())
      await Promise.all([poll.stop(), ...lines.map((line) => line.stop(milliseconds))])
      guard.close()
    },
  }
}

type LineDeps = { queue: Queue; guard: WorkspaceGuard }

type Line = {
  name: string
  look(): void
  putBack(id: string): void
  stop(milliseconds: number): Promise<void>
}

/** Runs one kind of job: claims as many as possible when told to look, and when a slot is free. */
function startLine(deps: LineDeps, job: Job, log: Logger): Line {
  const { queue } = deps
  const slots = Math.max(job.concurrency ?? 0, DEFAULT_CONCURRENCY)
  const running = new Set<Running>()
  const stopping = new AbortController()
  const looking = startLoop(async () => {
    await fill().catch((error: unknown) => log.warn({ err: error }, 'could not claim jobs'))
    if (job.accountOf && running.size > 0) await queue.rebalance(job).catch(() => {})
  })

  async function fill(): Promise<void> {
    while (running.size < slots && !stopping.signal.aborted) {
      // Jobs with a limit over all instances are claimed one by one.
      const wanted = job.concurrency ? 1 : slots - running.size
      const claimed = await queue.claim(job, wanted)
      claimed.forEach(begin)
      if (claimed.length < wanted) return
    }
  }

  function begin(claimed: ClaimedJob): void {
    const abort = new AbortController()
    const done = runOne(deps, job, claimed, abort, log).finally(() => {
      // What is enqueued while a slot is free is claimed at once.
      const mayWait = job.concurrency !== undefined || running.size === slots
      running.delete(entry)
      if (mayWait) looking.wake()
    })
    const entry = { claimed, abort, done }
    running.add(entry)
  }

  return {
    name: job.name,
    look: looking.wake,
    putBack(id) {
      const entry = [...running].find(({ claimed }) => claimed.id === id)
      entry?.abort.abort(new PutBack('other accounts wait for the slot'))
    },
    async stop(milliseconds) {
      stopping.abort(new Error('the service is stopping'))
      await Promise.race([finish(), sleep(milliseconds, undefined, { ref: false })])
      for (const { claimed } of running) await giveBack(queue, job, claimed, stopping.signal.reason)
    },
  }

  async function finish(): Promise<void> {
    await looking.stop()
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
  { queue, guard }: LineDeps,
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
  const workspaceId = job.workspaceOf?.(claimed.data)
  const inWorkspace: InWorkspace = (id, work) => guard.run(id, abort.signal, work)
  const run = (signal: AbortSignal) =>
    job.run(claimed.data, {
      signal,
      attempt: claimed.attempt,
      log,
      enqueue: (db, other, data, options) => queue.enqueue(db, other, data, options),
      inWorkspace,
    })
  try {
    if (job.schema && !Check(job.schema, claimed.data))
      throw new TypeError('its data is not what its schema says')
    await (workspaceId === undefined ? run(abort.signal) : inWorkspace(workspaceId, run))
    await queue.complete(job, claimed)
  } catch (error) {
    if (error instanceof WorkspaceDeleted && workspaceId !== undefined) {
      log.info({ jobId: claimed.id, workspaceId }, 'a job waits: its workspace is deleted')
      return await queue.hold(job, claimed, workspaceId).catch(() => {})
    }
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

type Loop = { wake: () => void; stop(): Promise<void> }

/**
 * Calls `work`, which never throws, after each wake-up and one interval after the last call. Calls
 * never overlap; a wake-up during a call leads to another.
 */
function startLoop(work: () => Promise<void>, intervalMs?: number): Loop {
  let isStopped = false
  let woken = Promise.withResolvers<void>()
  const wake = () => woken.resolve()
  const running = run()

  async function run(): Promise<void> {
    for (;;) {
      const timer = intervalMs === undefined ? undefined : setTimeout(wake, intervalMs)
      await woken.promise
      clearTimeout(timer)
      if (isStopped) return
      woken = Promise.withResolvers()
      await work()
    }
  }

  return {
    wake,
    stop() {
      isStopped = true
      wake()
      return running
    },
  }
}
