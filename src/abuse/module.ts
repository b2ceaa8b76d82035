import type { Routes } from '../http/scopes.ts'
import type { Job } from '../jobs/job.ts'
import type { FutureTimestamp } from '../store/clock.ts'
import { abuseJobs } from './jobs.ts'
import { startListPublisher } from './export/list-publisher.ts'
import { createAbuseServices, type AbuseOptions } from './create-services.ts'
import { startFederation } from './federation/worker.ts'
import { MAX_PAUSE_MS } from './federation/limits.ts'
import { startFleetSweep } from './fleet/bans/sweep.ts'
import { abuseRoutes } from './routes.ts'

/** The attack reporting module. */
export type Abuse = {
  jobs: Job[]
  /** `/api/v1/abuse/…` */
  routes: Routes<unknown>
  futureTimestamps: FutureTimestamp[]
  /**
   * Publishes the blocklist, on one instance at a time, ends bans of fleets, and reads the evidence
   * of peers. @returns stops it
   */
  startWork(): () => Promise<void>
  /** Waits for reports that are being stored. */
  close(): Promise<void>
}

const FUTURE_TIMESTAMPS: FutureTimestamp[] = [
  {
    table: 'federation_peer',
    column: 'next_contact_at',
    maxAheadSeconds: MAX_PAUSE_MS / 1000,
    clock: 'service',
  },
]

/** Creates attack reporting on a migrated database. */
export async function createAbuseModule(options: AbuseOptions): Promise<Abuse> {
  const services = await createAbuseServices(options)
  return {
    jobs: abuseJobs(services),
    routes: abuseRoutes(services, options),
    futureTimestamps: FUTURE_TIMESTAMPS,
    startWork() {
      const publisher = startListPublisher(services)
      const sweep = startFleetSweep(services.fleets)
      const federation = startFederation({ ...services, ...services.federation })
      return async () =>
        void (await Promise.all([publisher.stop(), sweep.stop(), federation.stop()]))
    },
    close: () => services.close(),
  }
}
