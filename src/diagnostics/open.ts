import type { Kysely } from 'kysely'
import type { Door } from '../http/auth.ts'
import type { Events } from '../http/events.ts'
import type { App } from '../http/server.ts'
import type { Job } from '../jobs/job.ts'
import type { Moment } from '../store/clock.ts'
import type { DB } from '../store/tables.ts'
import { cleanUpJob } from './jobs.ts'
import { diagnosticsRoutes, type DiagnosticsOptions } from './routes.ts'
import { shareRoutes } from './share-routes.ts'
import { KEPT_FOR } from './share.ts'
import { listSharedUsage } from './store.ts'

type OpenOptions = Omit<DiagnosticsOptions, 'door' | 'events'> & { db: Kysely<DB>; baseUrl: string }

/** The checks over HTTP, and their results to share. */
export function openDiagnostics({ db, baseUrl, ...checks }: OpenOptions) {
  return {
    jobs: [cleanUpJob({ db })] as Job[],
    moments: [{ table: 'shared_check', column: 'expires_at', ahead: KEPT_FOR / 1000, by: 'service' }] as Moment[],
    /** Bytes of results that these accounts share. */
    sharedUsage: (accountIds: string[]) => listSharedUsage(db, accountIds),
    routes(app: App, { door, events }: { door: Door; events: Events }): void {
      diagnosticsRoutes(app, { ...checks, door, events })
      shareRoutes(app, { db, door, secretKey: checks.secretKey, baseUrl })
    },
  }
}
