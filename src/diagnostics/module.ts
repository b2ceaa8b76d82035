import type { Kysely } from 'kysely'
import type { EventStreams } from '../http/events/event-streams.ts'
import type { Routes } from '../http/scopes.ts'
import { futureTimestamps } from '../store/clock.ts'
import type { DB } from '../store/tables.ts'
import { diagnosticsRoutes, type DiagnosticsOptions } from './routes.ts'
import { sharedResultsRoute, shareRoutes } from './sharing/share-routes.ts'
import { SHARE_LIFETIME_MS } from './sharing/share-results.ts'
import { listSharedUsage } from './shared-checks.sql.ts'

type OpenOptions = Omit<DiagnosticsOptions, 'events'> & {
  db: Kysely<DB>
  baseUrl: string
}

/** The checks over HTTP, and their results to share. */
export function createDiagnosticsModule({ db, baseUrl, ...checks }: OpenOptions) {
  return {
    futureTimestamps: futureTimestamps('service', [
      ['shared_check', 'expires_at', SHARE_LIFETIME_MS / 1000],
    ]),
    retention: [{ table: 'shared_check', column: 'expires_at', days: 0 }],
    /** Bytes of results that these workspaces share. */
    sharedUsage: (workspaceIds: string[]) => listSharedUsage(db, workspaceIds),
    routes: {
      public: (app) => sharedResultsRoute(app, { db, baseUrl }),
      account(app, { events }) {
        diagnosticsRoutes(app, { ...checks, events })
        shareRoutes(app, { db, secretKey: checks.secretKey, baseUrl })
      },
    } satisfies Routes<{ events: EventStreams }>,
  }
}
