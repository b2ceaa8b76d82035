import type { Transaction } from 'kysely'
import type { Job } from '../jobs/job.ts'
import type { Queue } from '../jobs/queue.ts'
import type { DB } from '../store/tables.ts'
import type { RouteContext } from '../module.ts'
import type { Routes } from '../http/scopes.ts'
import type { FutureTimestamp } from '../store/clock.ts'
import type { Notifications } from '../store/notifications.ts'
import { BATCH_ENCRYPTED_COLUMNS } from './batches/passwords.ts'
import { batchRoutes } from './batches/routes.ts'
import { batchSchedulerJob } from './batches/scheduler.ts'
import { migrationJob, type MigrationJobDeps } from './jobs.ts'
import { migrationRoutes } from './routes.ts'
import { abandonedMigrationsJob, resumeAfterConsent } from './consent/resume.ts'
import { ENCRYPTED_COLUMNS } from './submit.ts'

/**
 * After a clock is set back, future values would make a dead worker look alive and keep its queue
 * waiting.
 */
const FUTURE_TIMESTAMPS: FutureTimestamp[] = ['alive_at', 'queued_at'].map((column) => ({
  table: 'migration',
  column,
  maxAheadSeconds: 0,
  clock: 'database',
}))

/** Creates the migration module: its jobs and its routes. */
export function createMigrationModule({
  notifications,
  ...deps
}: MigrationJobDeps & { notifications: Notifications }) {
  const job = migrationJob({ ...deps, batchScheduler: () => scheduler })
  const scheduler = batchSchedulerJob({ ...deps, job })
  return {
    jobs: [job, scheduler, abandonedMigrationsJob(deps)] as Job[],
    encryptedColumns: [...ENCRYPTED_COLUMNS, ...BATCH_ENCRYPTED_COLUMNS],
    futureTimestamps: FUTURE_TIMESTAMPS,
    routes: {
      account: (app, context) => {
        migrationRoutes(app, { ...deps, ...context, job, notifications })
        batchRoutes(app, { ...deps, ...context, scheduler, notifications })
      },
    } satisfies Routes<Pick<RouteContext, 'queue' | 'events' | 'reauthenticate'>>,
    /** Continues the migrations that waited for a credential, which was renewed. */
    onCredentialRenewed: (
      trx: Transaction<DB>,
      workspaceId: string,
      credentialId: string,
      queue: Queue,
    ) => resumeAfterConsent(trx, { workspaceId, credentialId }, { queue, job }),
  }
}
