import type { Routes } from '../http/scopes.ts'
import type { Job } from '../jobs/job.ts'
import { abuseJobs } from './jobs.ts'
import { startListPublisher } from './export/list-publisher.ts'
import { createAbuseServices, type AbuseOptions } from './create-services.ts'
import { startFleetSweep } from './fleet/bans/sweep.ts'
import { abuseRoutes } from './routes.ts'

/** The attack reporting module. */
export type Abuse = {
  jobs: Job[]
  /** `/api/v1/abuse/…` */
  routes: Routes<unknown>
  /** Publishes the blocklist, on one instance at a time, and ends bans of fleets. @returns stops it */
  startWork(): () => Promise<void>
  /** Waits for reports that are being stored. */
  close(): Promise<void>
}

/** Creates attack reporting on a migrated database. */
export async function createAbuseModule(options: AbuseOptions): Promise<Abuse> {
  const services = await createAbuseServices(options)
  return {
    jobs: abuseJobs(services),
    routes: abuseRoutes(services, options),
    startWork() {
      const publisher = startListPublisher(services)
      const sweep = startFleetSweep(services.fleets)
      return async () => void (await Promise.all([publisher.stop(), sweep.stop()]))
    },
    close: () => services.close(),
  }
}
