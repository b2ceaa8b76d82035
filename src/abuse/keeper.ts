import { setTimeout as sleep } from 'node:timers/promises'
import { publish, type PublishDeps } from './export/publish.ts'
import { releaseKeeperLock, takeKeeperLock } from './export/store.ts'
import { sweepDue, type SweepDeps } from './sweep.ts'

export type Keeper = { stop(): Promise<void> }
export type KeeperDeps = PublishDeps & SweepDeps & { clock: () => number }

/** Milliseconds between two runs. */
const EVERY = 1_000

/**
 * Milliseconds for the last run to end: a database that does not answer must not keep the service
 * from stopping.
 */
const LAST_LOOK = 3_000

/** Keeps the list: of all instances that run this, one at a time sweeps and publishes. */
export function startKeeper(deps: KeeperDeps): Keeper {
  const stopping = new AbortController()
  const { signal } = stopping
  async function keep(): Promise<void> {
    while (!signal.aborted) {
      await keepOnce(deps, signal).catch((err: unknown) => {
        if (!signal.aborted) deps.log.warn({ err }, 'the list could not be kept for the moment')
      })
      await sleep(EVERY, undefined, { signal, ref: false }).catch(() => {})
    }
  }
  const keeping = keep()
  return {
    async stop() {
      stopping.abort()
      await Promise.race([keeping, sleep(LAST_LOOK, undefined, { ref: false })])
    },
  }
}

/**
 * Runs once: applies the changes of time, and publishes a new version when the list differs. When
 * aborted, the next run finishes it.
 */
export async function keepOnce(deps: KeeperDeps, signal?: AbortSignal): Promise<void> {
  await deps.db.connection().execute(async (connection) => {
    // It goes with the connection, so that an instance that dies leaves it to the others.
    if (!(await takeKeeperLock(connection))) return
    try {
      await sweepDue(deps, deps.clock(), signal)
      await publish(deps, deps.clock(), signal)
    } finally {
      await releaseKeeperLock(connection)
    }
  })
}
