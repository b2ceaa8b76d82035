import type { Door } from '../http/auth.ts'
import type { App } from '../http/server.ts'
import type { Job } from '../jobs/job.ts'
import { installerRoutes } from './installer-routes.ts'
import { abuseJobs } from './jobs.ts'
import { startKeeper } from './keeper.ts'
import { openParts, type AbuseOptions } from './parts.ts'
import { abuseRoutes } from './routes.ts'

/** Attack reporting, as the house puts it together. */
export type Abuse = {
  jobs: Job[]
  /** `/api/v1/abuse/…` */
  routes(app: App, options: { door: Door }): void
  /** Keeps the list, beside others that do. @returns how to stop it */
  work(): () => Promise<void>
  /** Waits for reports that are being stored. */
  close(): Promise<void>
}

/** Opens attack reporting on a migrated database. */
export async function openAbuse(options: AbuseOptions): Promise<Abuse> {
  const parts = await openParts(options)
  return {
    jobs: abuseJobs(parts),
    routes(app, { door }) {
      abuseRoutes(app, { ...parts, door })
      installerRoutes(app, options)
    },
    work() {
      const keeper = startKeeper(parts)
      return () => keeper.stop()
    },
    close: () => parts.close(),
  }
}
