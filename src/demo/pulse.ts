import { createCheckServices } from '../diagnostics/check-services.ts'
import type { Config } from '../config.ts'
import type { Logger } from '../log.ts'
import { CHECK_INTERVALS } from '../monitoring/limits.ts'
import { checkDueHosts } from '../monitoring/checks/host-sweep.ts'
import { notifyChanges } from '../store/changes.ts'
import { openDatabase } from '../store/database.ts'
import { SECOND_MS } from '../time.ts'
import { createRequestInsert } from '../webhooks/requests/captured-requests.sql.ts'
import { nextRequest } from './seed/seed-webhooks.ts'
import { listEndpoints } from './demo.sql.ts'

/** Milliseconds between two events. */
const INTERVAL_MS = 40 * SECOND_MS

/**
 * Lets a demo live on, without the network: checks of monitored hosts are played when they are due,
 * and now and then a webhook arrives.
 * @returns stops it
 */
export function startPulse(config: Config, log: Logger): () => Promise<void> {
  const { db, pool, close } = openDatabase(config.DATABASE_URL ?? '')
  const checks = createCheckServices(config, log)
  const hosts = { ...checks.deps, db, log, intervals: CHECK_INTERVALS, waitForTurn: async () => {} }
  const insert = createRequestInsert(pool)
  const stopping = new AbortController()
  const { signal } = stopping
  let count = 0

  async function beat(): Promise<void> {
    const inWorkspace = <T>(_id: string, work: (own: AbortSignal) => Promise<T>) => work(signal)
    await checkDueHosts(hosts, { signal, inWorkspace })
    const endpoints = await listEndpoints(db)
    const request = nextRequest(endpoints, (count += 1))
    const stored = await insert([request])
    const changes = Array.from(stored, ([id, audience]) => ({
      audience,
      room: 'requests' as const,
      id,
    }))
    await notifyChanges(db, changes)
  }

  let beating: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    beating = beating.then(beat).catch((err: unknown) => {
      if (!signal.aborted) log.warn({ err }, 'the demo could not go on; it will later')
    })
  }, INTERVAL_MS)
  return async () => {
    clearInterval(timer)
    stopping.abort()
    await beating
    checks.close()
    await close()
  }
}
