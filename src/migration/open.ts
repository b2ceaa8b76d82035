import type { Door } from '../http/auth.ts'
import type { Events } from '../http/events.ts'
import type { App } from '../http/server.ts'
import type { Job } from '../jobs/job.ts'
import type { Queue } from '../jobs/queue.ts'
import type { Signals } from '../store/signals.ts'
import { migrationJob, type MigrationJobDeps } from './jobs.ts'
import { migrationRoutes } from './routes.ts'
import { SEALED } from './submit.ts'

/** Migrations: what runs them, and what one asks of them. */
export function openMigration({ signals, ...deps }: MigrationJobDeps & { signals: Signals }) {
  const job = migrationJob(deps)
  return {
    jobs: [job] as Job[],
    sealed: SEALED,
    routes(app: App, hall: { door: Door; queue: Queue; events: Events }): void {
      migrationRoutes(app, { ...deps, ...hall, job, signals })
    },
  }
}
