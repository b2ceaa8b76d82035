import type { AuthHooks } from '../http/auth.ts'
import type { EventStreams } from '../http/event-streams.ts'
import type { App } from '../http/server.ts'
import type { Job } from '../jobs/job.ts'
import type { Queue } from '../jobs/queue.ts'
import type { FutureTimestamp } from '../store/clock.ts'
import type { Notifications } from '../store/notifications.ts'
import { migrationJob, type MigrationJobDeps } from './jobs.ts'
import { migrationRoutes } from './routes.ts'
import { ENCRYPTED_COLUMNS } from './submit.ts'

/**
 * A worker that died would look alive, and the others in the queue behind it, until the clock is
 * there again.
 */
const MOMENTS: FutureTimestamp[] = ['alive_at', 'queued_at'].map((column) => ({
  table: 'migration',
  column,
  maxAheadSeconds: 0,
  clock: 'database',
}))

/** Migrations: what runs them, and what one asks of them. */
export function createMigrationModule({
  notifications,
  ...deps
}: MigrationJobDeps & { notifications: Notifications }) {
  const job = migrationJob(deps)
  return {
    jobs: [job] as Job[],
    encryptedColumns: ENCRYPTED_COLUMNS,
    futureTimestamps: MOMENTS,
    routes(app: App, context: { authHooks: AuthHooks; queue: Queue; events: EventStreams }): void {
      migrationRoutes(app, { ...deps, ...context, job, notifications })
    },
  }
}
