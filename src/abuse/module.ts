import type { AuthHooks } from '../http/auth.ts'
import type { App } from '../http/server.ts'
import type { Job } from '../jobs/job.ts'
import { installerRoutes } from './installer-routes.ts'
import { abuseJobs } from './jobs.ts'
import { startListPublisher } from './list-publisher.ts'
import { createAbuseServices, type AbuseOptions } from './create-services.ts'
import { abuseRoutes } from './routes.ts'

/** Attack reporting, as the house puts it together. */
export type Abuse = {
  jobs: Job[]
  /** `/api/v1/abuse/…` */
  routes(app: App, options: { authHooks: AuthHooks }): void
  /** Keeps the list, beside others that do. @returns how to stop it */
  startWork(): () => Promise<void>
  /** Waits for reports that are being stored. */
  close(): Promise<void>
}

/** Opens attack reporting on a migrated database. */
export async function createAbuseModule(options: AbuseOptions): Promise<Abuse> {
  const services = await createAbuseServices(options)
  return {
    jobs: abuseJobs(services),
    routes(app, { authHooks }) {
      abuseRoutes(app, { ...services, authHooks })
      installerRoutes(app, options)
    },
    startWork() {
      const publisher = startListPublisher(services)
      return () => publisher.stop()
    },
    close: () => services.close(),
  }
}
