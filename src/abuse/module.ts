import type { ImapAddress, PrivateTargets } from '../setting-values.ts'
import type { Routes } from '../http/scopes.ts'
import type { Job } from '../jobs/job.ts'
import type { Queue } from '../jobs/queue.ts'
import type { Resolver } from '../net/dns.ts'
import { createGuardedFetch } from '../net/http/guarded-fetch.ts'
import { MINUTE_MS } from '../time.ts'
import { abuseJobs } from './jobs.ts'
import { startListPublisher } from './export/list-publisher.ts'
import { createAbuseServices, type AbuseOptions } from './create-services.ts'
import { startFederation } from './federation/worker.ts'
import { startFleetSweep } from './fleet/bans/sweep.ts'
import { mailReportsJob, readBouncesJob } from './abuse-mails/jobs.ts'
import { LOOKUP_TIMEOUT_MS } from './abuse-mails/limits.ts'
import { relayReportsJob } from './relays/jobs.ts'
import type { Relay } from '../net/smtp.ts'
import type { FutureTimestamp } from '../store/clock.ts'
import { updateFeedsJob } from './public-feeds/jobs.ts'
import { checkNetworksJob } from './watched-networks/jobs.ts'
import { FUTURE_TIMESTAMPS } from './future-timestamps.ts'
import { abuseRoutes } from './routes.ts'

/** The attack reporting module. */
export type Abuse = {
  jobs: Job[]
  futureTimestamps: FutureTimestamp[]
  /** `/api/v1/abuse/…` */
  routes: Routes<{ queue: Pick<Queue, 'enqueue'> }>
  /**
   * Publishes the blocklist, on one instance at a time, ends bans of fleets, and reads the evidence
   * of peers. @returns stops it
   */
  startWork(): () => Promise<void>
  /** Waits for reports that are being stored. */
  close(): Promise<void>
}

export type AbuseModuleOptions = AbuseOptions & {
  resolver: Resolver
  allowPrivate: PrivateTargets
  /** Null where this installation sends no email. */
  mailRelay: Relay | null
  /** Where bounces of abuse emails return, and the mailbox that gets them; null for neither. */
  returnPath: string | null
  bounceMailbox: ImapAddress | null
  /** Other origins of providers of public feeds and relays; undefined for their own. */
  providerOrigins?: ReadonlyMap<string, string> | undefined
}

/** Bounds of the download of one file of a public feed. */
const FEED_TIMEOUT_MS = 2 * MINUTE_MS
const MAX_FEED_BYTES = 16 * 1024 * 1024

/** Creates attack reporting on a migrated database. */
export async function createAbuseModule(options: AbuseModuleOptions): Promise<Abuse> {
  const services = await createAbuseServices(options)
  const updateFeeds = updateFeedsJob({
    ...services,
    request: createGuardedFetch(options, FEED_TIMEOUT_MS, MAX_FEED_BYTES),
    origins: options.providerOrigins,
  })
  const { db, log, clock, optOutKey } = services
  const {
    secretKey,
    resolver,
    allowPrivate,
    mailRelay,
    returnPath,
    bounceMailbox,
    baseUrl,
    providerOrigins: origins,
  } = options
  const checkNetworks = checkNetworksJob(services)
  const relays = { db, log, clock, secretKey, resolver, allowPrivate, mailRelay, origins }
  const request = createGuardedFetch(options, LOOKUP_TIMEOUT_MS)
  const mails = { db, log, clock, request, origins, mailRelay, returnPath, baseUrl, optOutKey }
  const work = { updateFeeds, checkNetworks, relays, mails }
  return {
    jobs: [
      ...abuseJobs(services),
      updateFeeds,
      checkNetworks,
      relayReportsJob(relays),
      mailReportsJob(mails),
      readBouncesJob({ db, log, clock, resolver, optOutKey, bounceMailbox }),
    ],
    futureTimestamps: FUTURE_TIMESTAMPS,
    routes: abuseRoutes(services, options, work),
    startWork() {
      const publisher = startListPublisher(services)
      const sweep = startFleetSweep(services.fleets)
      const federation = startFederation({ ...services, ...services.federation })
      return async () =>
        void (await Promise.all([publisher.stop(), sweep.stop(), federation.stop()]))
    },
    close: () => services.close(),
  }
}
