import { setTimeout as sleep } from 'node:timers/promises'
import { publish, type PublishDeps } from './publish.ts'
import { releasePublisherLock, acquirePublisherLock } from './store.ts'
import { sweepDue, type SweepDeps } from '../scoring/sweep.ts'

export type ListPublisher = { stop(): Promise<void> }
export type ListPublisherDeps = PublishDeps & SweepDeps & { clock: () => number }

/** Milliseconds between two runs. */
const RUN_INTERVAL_MS = 1_000

/**
 * Milliseconds for the last run to end, so that an unavailable database does not delay the stop.
 */
const STOP_TIMEOUT_MS = 3_000

/** Keeps the published list up to date. One instance at a time sweeps and publishes. */
export function startListPublisher(deps: ListPublisherDeps): ListPublisher {
  const stopping = new AbortController()
  const { signal } = stopping
  async function run(): Promise<void> {
    while (!signal.aborted) {
      await sweepAndPublish(deps, signal).catch((err: unknown) => {
        if (!signal.aborted)
          deps.log.warn({ err }, 'the list could not be updated; the next run will')
      })
      await sleep(RUN_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => {})
    }
  }
  const running = run()
  return {
    async stop() {
      stopping.abort()
      await Promise.race([running, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })])
    },
  }
}

/**
 * Runs once: applies the changes of time, and publishes a new version when the list differs. When
 * aborted, the next run finishes it.
 */
export async function sweepAndPublish(
  deps: ListPublisherDeps,
  signal?: AbortSignal,
): Promise<void> {
  await deps.db.connection().execute(async (connection) => {
    // The lock ends with the connection, so that another instance takes over from one that died.
    if (!(await acquirePublisherLock(connection))) return
    try {
      await sweepDue(deps, deps.clock(), signal)
      await publish(deps, deps.clock(), signal)
    } finally {
      await releasePublisherLock(connection)
    }
  })
}
