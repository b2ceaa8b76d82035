import type { Kysely } from 'kysely'
import type { Logger } from '../log.ts'
import type { Resolver } from '../net/dns.ts'
import type { Notifications } from '../store/notifications.ts'
import type { PublicFeeds } from '../public-feeds/public-feeds.ts'
import type { DB } from '../store/tables.ts'
import type { Exports } from '../abuse/export/exports.ts'
import type { ReportFollower } from '../abuse/intake/submit-reports.ts'
import { createSharedSet } from '../abuse/export/shared-set.ts'
import { createFleetRecorder } from './bans/recorder.ts'
import { createBouncers } from './crowdsec/bouncers.ts'
import { createDecisionEncoder } from './crowdsec/decision-encoder.ts'
import { createFleetExports } from './export/fleet-exports.ts'
import { createFeeds } from './feed/feeds.ts'
import { createTokenAuth } from '../abuse/tokens/token-auth.ts'
import { createFollowerStreams } from './feed/follower-streams.ts'
import { createPresence } from './feed/presence.ts'
import type { InstalledRanges } from './protection.ts'
import { createFeedLists } from './public-feeds/feed-lists.ts'
import { createFeedSelections } from './public-feeds/feed-selection.ts'
import { createServiceAddresses } from './service-addresses.ts'

export type FleetOptions = {
  db: Kysely<DB>
  notifications: Notifications
  log: Logger
  clock: () => number
  ranges: InstalledRanges
  /** The shared list, for bouncers of workspaces that chose it. */
  exports: Exports
  publicFeeds: PublicFeeds
  /** The page about an address. */
  pageUrl: string
  /** URLs of this service, whose addresses are never banned. */
  urls: string[]
  resolver: Pick<Resolver, 'query'> | undefined
}

/** What the routes and jobs of fleet lists share. */
export type Fleets = ReturnType<typeof createFleets>

/** Creates the fleet lists: their reports, their followers, and what is never banned. */
export function createFleets({ urls, resolver, ...options }: FleetOptions) {
  const { db, notifications, log, clock } = options
  const serviceAddresses = createServiceAddresses(urls, resolver)
  const deps = { ...options, serviceAddresses }
  const recorder = createFleetRecorder(deps, clock)
  const feeds = createFeeds({ db, notifications, log })
  const followers = createTokenAuth(db, notifications, 'readsFleet')
  const presence = createPresence({ db, log })
  const bouncers = createBouncers({ db, log })
  const sharedSet = createSharedSet({ db, exports: options.exports, log })
  const fileExports = createFleetExports({ ...deps, sharedSet })
  const streams = createFollowerStreams({ db, notifications, feeds, presence, log })
  return {
    ...deps,
    recorder,
    feeds,
    followers,
    presence,
    streams,
    bouncers,
    sharedSet,
    encode: createDecisionEncoder(),
    feedSelections: createFeedSelections(deps),
    feedLists: createFeedLists(deps),
    fileExports,
    async close(): Promise<void> {
      for (const part of [streams, feeds, followers, serviceAddresses]) part.close()
      await recorder.close()
      await presence.close()
      await bouncers.close()
    },
  }
}

/** Applies accepted reports to the fleet list of the workspace whose server sent them. */
export const recordAccepted =
  ({ recorder }: Pick<Fleets, 'recorder'>): ReportFollower =>
  ({ token: { workspaceId, ...token }, server, reports }) =>
    recorder.record({
      workspaceId,
      token,
      server,
      reports: reports.map(({ subject, service, count }) => ({
        address: subject.key,
        service,
        count,
      })),
    })
