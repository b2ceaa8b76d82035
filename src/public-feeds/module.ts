import type { Kysely } from 'kysely'
import type { Routes } from '../http/scopes.ts'
import type { Job } from '../jobs/job.ts'
import type { Queue } from '../jobs/queue.ts'
import type { Logger } from '../log.ts'
import type { Resolver } from '../net/dns.ts'
import { createGuardedFetch } from '../net/http/guarded-fetch.ts'
import type { PrivateTargets } from '../setting-values.ts'
import { futureTimestamps, type FutureTimestamp } from '../store/clock.ts'
import { futureTimestampsOf } from '../store/due-rows.ts'
import type { Notifications } from '../store/notifications.ts'
import type { Retention } from '../store/retention.ts'
import type { DB } from '../store/tables.ts'
import { DAY_MS, DAY_SECONDS, MINUTE_MS } from '../time.ts'
import { trimFeedsJob, updateFeedsJob } from './public-feeds-jobs.ts'
import { DUE_FEEDS } from './public-feeds.sql.ts'
import { createPublicFeeds, type PublicFeeds } from './public-feeds.ts'
import { feedAdministrationRoutes } from './routes.ts'
import { HISTORY_MS } from './watched-networks/limits.ts'
import { watchedNetworkRoutes } from './watched-networks/routes.ts'
import { checkNetworksJob } from './watched-networks/watched-networks-jobs.ts'

export type PublicFeedsOptions = {
  db: Kysely<DB>
  notifications: Notifications
  log: Logger
  resolver: Resolver
  allowPrivate: PrivateTargets
  /** Where the feeds are downloaded from; undefined: from their providers. */
  providerOrigins?: ReadonlyMap<string, string> | undefined
  /** Milliseconds since 1970. */
  clock?: () => number
}

/** What others list: public feeds, and networks of workspaces that are looked for in them. */
export type PublicFeedsModule = {
  jobs: Job[]
  futureTimestamps: FutureTimestamp[]
  retention: Retention[]
  /** `/api/v1/abuse/feeds/{id}` and `/api/v1/abuse/watched-networks` */
  routes: Routes<{ queue: Pick<Queue, 'enqueue'> }>
  publicFeeds: PublicFeeds
  close(): void
}

/** Bounds of the download of one file of a feed. */
const TIMEOUT_MS = 2 * MINUTE_MS
const MAX_BYTES = 16 * 1024 * 1024

/** Loads the feeds that are in use. */
export async function createPublicFeedsModule(
  options: PublicFeedsOptions,
): Promise<PublicFeedsModule> {
  const { db, notifications, log, clock = Date.now, providerOrigins: origins } = options
  const publicFeeds = await createPublicFeeds({ db, notifications, log, clock })
  const request = createGuardedFetch(options, TIMEOUT_MS, MAX_BYTES)
  const updateFeeds = updateFeedsJob({ db, log, clock, request, origins })
  const checkNetworks = checkNetworksJob({ db, log, clock, publicFeeds })
  return {
    jobs: [updateFeeds, trimFeedsJob({ db }), checkNetworks],
    futureTimestamps: [
      ...futureTimestampsOf(DUE_FEEDS, { clock: 'service', aheadSeconds: DAY_SECONDS }),
      ...futureTimestamps('service', [
        ['public_feed', 'changed_at', 0],
        ['watched_network', 'checked_at', 0],
      ]),
    ],
    retention: [{ table: 'watched_finding', column: 'resolved_at', days: HISTORY_MS / DAY_MS }],
    routes: {
      account: (app, { queue }) => watchedNetworkRoutes(app, { db }, { queue, checkNetworks }),
      administrator: (app, { queue }) =>
        feedAdministrationRoutes(app, { db, clock }, { queue, updateFeeds }),
    },
    publicFeeds,
    close: () => publicFeeds.close(),
  }
}
