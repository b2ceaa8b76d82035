import { repeatWork } from '../../jobs/repeat-work.ts'
import { publish, type PublishDeps } from './publish.ts'
import { releasePublisherLock, acquirePublisherLock } from './list-export.sql.ts'
import { sweepDue, type SweepDeps } from '../scoring/score-sweep.ts'

export type ListPublisherDeps = PublishDeps & SweepDeps & { clock: () => number }

/** Milliseconds between two runs. */
const RUN_INTERVAL_MS = 1_000

/**
 * Keeps the published list up to date. One instance at a time sweeps and publishes.
 * @returns stops it
 */
export const startListPublisher = (deps: ListPublisherDeps): (() => Promise<void>) =>
  repeatWork((signal) => sweepAndPublish(deps, signal), {
    intervalMs: RUN_INTERVAL_MS,
    log: deps.log,
    failure: 'the list could not be updated; the next run will',
  })

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
