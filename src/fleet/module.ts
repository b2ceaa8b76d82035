import type { AttackList } from '../abuse/attack-list.ts'
import { sendMissingAs } from '../http/error-answers.ts'
import type { Routes } from '../http/scopes.ts'
import type { Job } from '../jobs/job.ts'
import type { Resolver } from '../net/dns.ts'
import type { PublicFeeds } from '../public-feeds/public-feeds.ts'
import type { Notifications } from '../store/notifications.ts'
import type { Retention } from '../store/retention.ts'
import { DAY_MS } from '../time.ts'
import { startFleetSweep } from './bans/ban-sweep.ts'
import { sendFailure } from './crowdsec/crowdsec-failures.ts'
import { crowdsecRoutes } from './crowdsec/routes.ts'
import { fleetExportRoute } from './export/fleet-export-route.ts'
import { followerRoutes } from './feed/routes.ts'
import { figureRoutes } from './figures/routes.ts'
import { trimFleetsJob } from './fleet-jobs.ts'
import { createFleets, recordAccepted, type Fleets } from './fleet.ts'
import { installerRoutes } from './installer/installer-routes.ts'
import { MEMORY_MS } from './limits.ts'
import { feedListRoute } from './public-feeds/feed-list-route.ts'
import { fleetRoutes } from './routes.ts'

export type FleetModuleOptions = {
  list: AttackList
  publicFeeds: PublicFeeds
  notifications: Notifications
  /** The URL of the dashboard. */
  baseUrl: string
  /** Finds the addresses of this service, which fleet lists never contain. */
  resolver: Pick<Resolver, 'query'> | undefined
}

/** The fleet lists: what the servers of a workspace ban together. */
export type FleetModule = {
  jobs: Job[]
  retention: Retention[]
  /** `/api/v1/abuse/fleet/…`, what bouncers of CrowdSec ask below `/v1`, and the installer. */
  routes: Routes<object>
  fleets: Fleets
  /** Ends bans, on every instance. @returns stops it */
  startWork(): () => Promise<void>
  /** Waits for reports that are being stored. */
  close(): Promise<void>
}

/** Creates the fleet lists; they follow the reports that the attack list accepts. */
export function createFleetModule(options: FleetModuleOptions): FleetModule {
  const { list, publicFeeds, notifications, baseUrl, resolver } = options
  const { db, log, clock, ranges, exports, pageUrl, reportsUrl, reportTokens } = list
  const fleets = createFleets({
    db,
    notifications,
    log,
    clock,
    ranges,
    exports,
    publicFeeds,
    pageUrl,
    urls: [baseUrl, reportsUrl],
    resolver,
  })
  list.follow(recordAccepted(fleets))
  return {
    jobs: [trimFleetsJob(db)],
    retention: [
      {
        table: 'fleet_ban',
        column: 'seen_at',
        days: MEMORY_MS / DAY_MS,
        where: 'expires_at is null',
      },
      { table: 'fleet_bouncer', column: 'pulled_at', days: 30 },
    ],
    routes: {
      public(app) {
        installerRoutes(app, { reportsUrl })
        followerRoutes(app, fleets)
        crowdsecRoutes(app, fleets, reportTokens)
        sendMissingAs(app, '/v1', sendFailure)
        fleetExportRoute(app, fleets)
        figureRoutes(app, fleets)
      },
      account(app) {
        fleetRoutes(app, fleets)
        feedListRoute(app, fleets)
      },
    },
    fleets,
    startWork: () => startFleetSweep(fleets),
    close: () => fleets.close(),
  }
}
