import type { Door } from '../http/auth.ts'
import type { Events } from '../http/events.ts'
import type { App } from '../http/server.ts'
import type { Job } from '../jobs/job.ts'
import type { Queue } from '../jobs/queue.ts'
import type { Moment } from '../store/clock.ts'
import type { Signals } from '../store/signals.ts'
import { migrationJob, type MigrationJobDeps } from './jobs.ts'
import { migrationRoutes } from './routes.ts'
import { SEALED } from './submit.ts'

/** A worker that died would look alive, and the others in the queue behind it, until the clock is there again. */
const MOMENTS: Moment[] = ['alive_at', 'queued_at'].map((column) => ({
  table: 'migration',
  column,
  ahead: 0,
  by: 'database',
}))

/** Migrations: what runs them, and what one asks of them. */
export function openMigration({ signals, ...deps }: MigrationJobDeps & { signals: Signals }) {
  const job = migrationJob(deps)
  return {
    jobs: [job] as Job[],
    sealed: SEALED,
    moments: MOMENTS,
    routes(app: App, hall: { door: Door; queue: Queue; events: Events }): void {
      migrationRoutes(app, { ...deps, ...hall, job, signals })
    },
  }
}
