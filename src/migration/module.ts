import type { Transaction } from 'kysely'
import type { Enqueue, Job } from '../jobs/job.ts'
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
import { DAY_SECONDS } from '../time.ts'
import { SYNC_LIMITS } from './sync/limits.ts'
import { syncJob } from './sync/job.ts'
import { syncRoutes } from './sync/routes.ts'

/**
 * After a clock is set back, future values would make a dead worker look alive and keep its queue
 * waiting.
 */
const FUTURE_TIMESTAMPS: FutureTimestamp[] = [
  ...['alive_at', 'queued_at'].map((column) => ({
    table: 'migration',
    column,
    maxAheadSeconds: 0,
    clock: 'database' as const,
  })),
  {
    table: 'migration_sync',
    column: 'claimed_until',
    maxAheadSeconds: SYNC_LIMITS.leaseSeconds,
    clock: 'database',
  },
  // The next month is the farthest time of a pass.
  {
    table: 'migration_sync',
    column: 'next_at',
    maxAheadSeconds: 31 * DAY_SECONDS,
    clock: 'database',
  },
]

/** Creates the migration module: its jobs and its routes. */
export function createMigrationModule({
  notifications,
  ...deps
}: MigrationJobDeps & { notifications: Notifications }) {
  const job = migrationJob({ ...deps, batchScheduler: () => scheduler })
  const scheduler = batchSchedulerJob({ ...deps, job })
  const sync = syncJob({ ...deps, job, batchScheduler: scheduler })
  return {
    jobs: [job, scheduler, sync, abandonedMigrationsJob(deps)] as Job[],
    encryptedColumns: [...ENCRYPTED_COLUMNS, ...BATCH_ENCRYPTED_COLUMNS],
    futureTimestamps: FUTURE_TIMESTAMPS,
    routes: {
      account: (app, context) => {
        migrationRoutes(app, { ...deps, ...context, job, notifications })
        syncRoutes(app, { ...deps, ...context, syncJob: sync })
        batchRoutes(app, { ...deps, ...context, scheduler, syncJob: sync, notifications })
      },
    } satisfies Routes<Pick<RouteContext, 'queue' | 'events' | 'reauthenticate'>>,
    /** Continues what waited for a credential, which was renewed. */
    onCredentialRenewed: (
      trx: Transaction<DB>,
      credential: { workspaceId: string; credentialId: string },
      enqueue: Enqueue,
    ) => resumeAfterConsent(trx, credential, { enqueue, job, scheduler }),
  }
}
