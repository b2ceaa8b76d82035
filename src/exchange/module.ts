import type { AttackList } from '../abuse/attack-list.ts'
import { deriveKey } from '../derive-key.ts'
import type { Fleets } from '../fleet/fleet.ts'
import { sendMissingAs } from '../http/error-answers.ts'
import type { Routes } from '../http/scopes.ts'
import type { Job } from '../jobs/job.ts'
import type { Resolver } from '../net/dns.ts'
import { createGuardedFetch } from '../net/http/guarded-fetch.ts'
import type { Relay } from '../net/smtp.ts'
import type { ImapAddress, PrivateTargets } from '../setting-values.ts'
import type { FutureTimestamp } from '../store/clock.ts'
import { loadStableKey, type SecretKeys } from '../store/key-rotation.ts'
import type { Notifications } from '../store/notifications.ts'
import type { Retention } from '../store/retention.ts'
import { mailReportsJob, readBouncesJob } from './abuse-mails/abuse-mails-jobs.ts'
import {
  addReports,
  listMailingWorkspaces,
  MAILING_CHANGED,
} from './abuse-mails/abuse-mails.sql.ts'
import { LOOKUP_TIMEOUT_MS } from './abuse-mails/limits.ts'
import { optOutRoutes } from './abuse-mails/opt-out-routes.ts'
import { abuseMailAdministrationRoutes, abuseMailRoutes } from './abuse-mails/routes.ts'
import { sendFailure as sendAbuseIpdbFailure } from './abuseipdb/abuseipdb-failures.ts'
import { abuseIpdbRoutes } from './abuseipdb/routes.ts'
import { agentRoutes } from './crowdsec/agent-routes.ts'
import { notificationRoute } from './crowdsec/notification-route.ts'
import { FUTURE_TIMESTAMPS, RETENTION } from './exchange-rows.ts'
import { startFederation } from './federation/federation-worker.ts'
import { createFederation } from './federation/federation.ts'
import { peerRoutes } from './federation/peers/routes.ts'
import { federationRoutes } from './federation/protocol/routes.ts'
import { createIndicators } from './indicators/indicators.ts'
import { mispRoutes } from './indicators/misp-routes.ts'
import { sendFailure as sendTaxiiFailure, taxiiRoutes } from './indicators/taxii-routes.ts'
import { relayReportsJob } from './relays/relays-jobs.ts'
import { RELAYS_CHANGED } from './relays/relays.ts'
import { insertReports, listRelayingWorkspaces } from './relays/relays.sql.ts'
import { relayRoutes } from './relays/routes.ts'
import { createReportQueue } from './report-queue.ts'

export type ExchangeOptions = SecretKeys & {
  list: AttackList
  fleets: Fleets
  notifications: Notifications
  /** The URL of the dashboard. */
  baseUrl: string
  resolver: Resolver
  /** Which private addresses peers and services may have. */
  allowPrivate: PrivateTargets
  /** Null where this installation sends no email. */
  mailRelay: Relay | null
  /** Where bounces of abuse emails return, and the mailbox that gets them; null for neither. */
  returnPath: string | null
  bounceMailbox: ImapAddress | null
  /** Other origins of the services that get reports; undefined for their own. */
  providerOrigins?: ReadonlyMap<string, string> | undefined
}

/**
 * What others send and get: agents of CrowdSec, clients of AbuseIPDB, MISP and TAXII, relays to
 * other services, emails to networks, and peers.
 */
export type Exchange = {
  jobs: Job[]
  futureTimestamps: FutureTimestamp[]
  retention: Retention[]
  /** Below `/api/v1/abuse`, and the paths that clients of others ask: `/v1`, `/api/v2`, `/taxii2`. */
  routes: Routes<object>
  /** Reads the evidence of peers, on every instance. @returns stops it */
  startWork(): () => Promise<void>
  close(): void
}

const MAIL_OPT_OUTS = 'abuse mail opt-outs'

/** Creates the exchange; its queues follow the reports that the attack list accepts. */
export async function createExchangeModule(options: ExchangeOptions): Promise<Exchange> {
  const { list, fleets, notifications, baseUrl, resolver, allowPrivate } = options
  const { mailRelay, returnPath, bounceMailbox, secretKey, providerOrigins: origins } = options
  const { db, log, clock } = list
  const deps = { db, notifications, log, clock }
  const queues = [
    await createReportQueue(deps, RELAYS_CHANGED, listRelayingWorkspaces, insertReports),
    await createReportQueue(deps, MAILING_CHANGED, listMailingWorkspaces, addReports),
  ]
  for (const { follow } of queues) list.follow(follow)
  const federation = await createFederation({
    db,
    url: list.reportsUrl,
    keys: options,
    resolver,
    allowPrivate,
    clock,
  })
  // Links in emails stay valid when SECRET_KEY changes.
  const optOutKey = await loadStableKey(
    db,
    MAIL_OPT_OUTS,
    (key) => deriveKey(key, MAIL_OPT_OUTS),
    options,
  )
  const relays = { db, log, clock, secretKey, resolver, allowPrivate, mailRelay, origins }
  const request = createGuardedFetch(options, LOOKUP_TIMEOUT_MS)
  const mails = { db, log, clock, request, origins, mailRelay, returnPath, baseUrl, optOutKey }
  const sources = { ...list, fleets, indicators: createIndicators(db, list.exports, clock) }
  return {
    jobs: [
      relayReportsJob(relays),
      mailReportsJob(mails),
      readBouncesJob({ db, log, clock, resolver, optOutKey, bounceMailbox }),
    ],
    futureTimestamps: FUTURE_TIMESTAMPS,
    retention: RETENTION,
    routes: {
      public(app) {
        agentRoutes(app, list)
        notificationRoute(app, list)
        abuseIpdbRoutes(app, list)
        sendMissingAs(app, '/api/v2', sendAbuseIpdbFailure)
        mispRoutes(app, sources)
        taxiiRoutes(app, sources)
        sendMissingAs(app, '/taxii2', sendTaxiiFailure)
        optOutRoutes(app, mails)
        federationRoutes(app, federation)
      },
      account(app) {
        relayRoutes(app, relays)
        abuseMailRoutes(app, mails)
      },
      administrator(app) {
        abuseMailAdministrationRoutes(app, mails)
        peerRoutes(app, federation)
      },
    },
    startWork: () => startFederation({ ...list, ...federation }),
    close: () => queues.forEach((queue) => queue.close()),
  }
}
