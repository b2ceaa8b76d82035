import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Kysely } from 'kysely'
import type { Pool } from 'pg'
import { raiseAlert } from '../alerts/raise.ts'
import type { Config } from '../config.ts'
import type { Routes } from '../http/scopes.ts'
import type { Capture } from '../http/http-server.ts'
import type { RouteContext } from '../module.ts'
import type { Job } from '../jobs/job.ts'
import type { Logger } from '../log.ts'
import type { Resolver } from '../net/dns.ts'
import type { Cidr } from '../setting-values.ts'
import type { Notifications } from '../store/notifications.ts'
import { futureTimestamps } from '../store/clock.ts'
import { onDeletionChange } from '../store/deleted-workspaces.ts'
import type { Retention } from '../store/retention.ts'
import type { DB } from '../store/tables.ts'
import { DAY_SECONDS, MINUTE_SECONDS } from '../time.ts'
import { VERSION } from '../version.ts'
import { webhookAlertJob } from './alerts/endpoint-alert-jobs.ts'
import { createBatchedNotifier } from './batched-notifier.ts'
import { CAPTURE_PATHS } from './capture/capture-paths.ts'
import { createCapture } from './capture/capture.ts'
import { createDelayedResponses } from './capture/delayed-responses.ts'
import { createEmailReceiver } from './email/receive-emails.ts'
import { createEndpointCache } from './endpoints/cache.ts'
import { loadEndpoint, onEndpointChange } from './endpoints/endpoints.ts'
import { createDeliveriesNotifier } from './forwarding/deliveries-notifier.ts'
import { destinationRoutes } from './forwarding/destination-routes.ts'
import { DESTINATION_TIMESTAMPS } from './forwarding/destinations.sql.ts'
import { replayRoutes } from './forwarding/replay-routes.ts'
import { REPLAY_TIMESTAMPS } from './forwarding/replays.sql.ts'
import type { ForwardingDeps } from './forwarding/run-destination.ts'
import { startForwarding } from './forwarding/forwarding-worker.ts'
import { createHeldRequests } from './listeners/held-requests.ts'
import { listenerRoutes } from './listeners/listener-routes.ts'
import { markAnswerSent } from './listeners/listeners.sql.ts'
import { createRequestStreams } from './request-streams.ts'
import {
  createGroupCommit,
  type GroupCommit,
  type StoreOutcome,
} from './capture/capture-commits.ts'
import {
  isDisconnect,
  storeMalformed,
  namesEndpoint,
  describeParseError,
} from './capture/malformed-requests.ts'
import { createMemoryBudget } from './capture/read-body.ts'
import {
  ALERT_EVALUATION_SECONDS,
  ANSWER_RETENTION_DAYS,
  DELIVERY_RETENTION_DAYS,
  HELD_NAME_DAYS,
  LISTENER_LEASE_SECONDS,
  MAX_KEY_MINUTES,
  MAX_RETRY_SECONDS,
  MAX_SHARE_DAYS,
  REPEAT_HOURS,
  RETRY_JITTER,
} from './limits.ts'
import { watchDisk, type DiskOptions } from './retention/disk.ts'
import { CAPTURE_QUOTAS, raiseOnce } from './retention/capture-quota.ts'
import { startTrimming, webhookCleanUpJob } from './retention/capture-retention.ts'
import { listUsage } from './retention/capture-retention.sql.ts'
import { webhookRoutes } from './routes.ts'
import { webhookRuleRoutes } from './rules/webhook-rule-routes.ts'
import { sharedRequestRoute, shareRoutes } from './shares/request-share-routes.ts'
import { createSequences } from './rules/sequences.ts'
import type { NewDelivery, StoredCapture } from './requests/captured-request.ts'
import { createRequestInsert, saveSurplus } from './requests/captured-requests.sql.ts'
import type { ParseError } from './capture/surplus.ts'
import { createCaptureMatcher } from './capture/capture-target.ts'

export type WebhooksOptions = {
  db: Kysely<DB>
  pool: Pool
  notifications: Notifications
  secretKey: string
  config: Pick<
    Config,
    | 'BASE_URL'
    | 'FORWARD_PRIVATE_TARGETS'
    | 'REPORT_DOMAIN'
    | 'REPORTS_URL'
    | 'SMTP_LISTEN'
    | 'WEBHOOK_BASE_URL'
    | 'WEBHOOK_FORWARDING'
    | 'WEBHOOK_NAMES'
  > &
    DiskOptions
  /** Finds the addresses of destinations. */
  resolver: Resolver
  /** Networks of reverse proxies; their addresses may change. */
  trustedProxies: Cidr[]
  log: Logger
  /** Called with the result of each captured request, for metrics. */
  onOutcome?: ((outcome: StoreOutcome) => void) | undefined
  /** Called with the result of each attempt to forward a request, for metrics. */
  onAttempt?: ForwardingDeps['onAttempt']
  /** Called with the state of each delivery that has ended, for metrics. */
  onDeliveryEnd?: ForwardingDeps['onEnd']
  /** Called with the number of captured requests that were removed early, and the reason. */
  onRemoved?: ((reason: 'quota' | 'disk', requests: number) => void) | undefined
  /** Called with the free bytes of the database, where they are monitored. */
  onSpace?: ((freeBytes: number) => void) | undefined
}

const FUTURE_TIMESTAMPS = [
  ...DESTINATION_TIMESTAMPS,
  ...REPLAY_TIMESTAMPS,
  ...futureTimestamps('database', [
    ['webhook_delivery', 'due_at', MAX_RETRY_SECONDS * (1 + RETRY_JITTER), `state = 'waiting'`],
    ['webhook_alert', 'due_at', ALERT_EVALUATION_SECONDS],
    ['webhook_alert', 'called_at', 0],
    ['webhook_alert', 'bad_alert_at', 0],
    ['webhook_alert', 'silent_from', 0],
    ['webhook_watch', 'last_pass_at', 0],
    ['webhook_watch', 'watched_since', 0],
    ['webhook_rule_state', 'expires_at', MAX_KEY_MINUTES * MINUTE_SECONDS],
    ['webhook_listener', 'lease_until', LISTENER_LEASE_SECONDS],
    ['webhook_held_name', 'held_until', HELD_NAME_DAYS * DAY_SECONDS],
    ['webhook_share', 'expires_at', MAX_SHARE_DAYS * DAY_SECONDS],
  ]),
]

const RETENTION: Retention[] = [
  { table: 'webhook_rule_state', column: 'expires_at', days: 0 },
  { table: 'webhook_held_name', column: 'held_until', days: 0 },
  { table: 'webhook_repeat', column: 'at', days: REPEAT_HOURS / 24 },
  { table: 'webhook_answer', column: 'at', days: ANSWER_RETENTION_DAYS },
  { table: 'webhook_listener', column: 'lease_until', days: 1 },
  { table: 'webhook_share', column: 'expires_at', days: 0 },
  { table: 'webhook_replay', column: 'ended_at', days: DELIVERY_RETENTION_DAYS },
  { table: 'webhook_attempt', column: 'at', days: DELIVERY_RETENTION_DAYS },
  { table: 'webhook_delivery', column: 'ended_at', days: DELIVERY_RETENTION_DAYS },
]

/** What decides about destinations of requests. */
function destinationPolicy(config: WebhooksOptions['config']) {
  const ownUrls = [config.BASE_URL, config.WEBHOOK_BASE_URL, config.REPORTS_URL]
  return {
    forwarding: config.WEBHOOK_FORWARDING,
    allowPrivate: config.FORWARD_PRIVATE_TARGETS,
    ownHosts: new Set(ownUrls.map((url) => new URL(url).host)),
  }
}

/**
 * Creates the webhooks module. Waiting responses and event streams end when the app closes; `close`
 * stops the background work.
 */
export function createWebhooksModule({
  db,
  pool,
  notifications,
  secretKey,
  config,
  trustedProxies,
  resolver,
  log,
  onOutcome,
  onAttempt,
  onDeliveryEnd,
  onRemoved,
  onSpace,
}: WebhooksOptions) {
  const webhookBaseUrl = config.WEBHOOK_BASE_URL
  const emailDomain = config.SMTP_LISTEN === null ? null : config.REPORT_DOMAIN
  const places = { webhookBaseUrl, emailDomain }
  const forwards = config.WEBHOOK_FORWARDING !== 'off'
  const guard = { resolver, allowPrivate: config.FORWARD_PRIVATE_TARGETS }
  const hasOwnOrigin = new URL(config.BASE_URL).host !== new URL(webhookBaseUrl).host
  const endpoints = createEndpointCache((key) =>
    loadEndpoint({ db, secretKey, hasOwnOrigin, forwards }, key),
  )
  const stops = [
    onEndpointChange(
      notifications,
      ({ token, names = [] }) => [token, ...names].forEach((key) => endpoints.forget(key)),
      () => endpoints.forgetAll(),
    ),
    onDeletionChange(
      notifications,
      () => endpoints.forgetAll(),
      () => {},
    ),
  ]
  const notifier = createBatchedNotifier({ db, log })
  const raise = raiseOnce((alert) => raiseAlert(db, alert))
  const quotas = { db, quotas: CAPTURE_QUOTAS, raise, onRemoved }
  const trimming = startTrimming({ ...quotas, log })
  const deliveries = createDeliveriesNotifier({ db, log })
  const insertRequests = createRequestInsert(pool)
  const committing = createGroupCommit<StoredCapture>({
    async insert(rows) {
      const endpointsStored = await insertRequests(rows)
      const added = rows.flatMap((row) => row.deliveries ?? [])
      if (added.length > 0) deliveries.added(destinationsOf(added))
      return endpointsStored
    },
    onStored(captured) {
      notifier.captured(captured)
      trimming.captured(captured)
    },
    log,
  })
  const commits = onOutcome ? countOutcomes(committing, onOutcome) : committing
  const delays = createDelayedResponses()
  const held = createHeldRequests({ db, notifications, log })
  const storeIfNamed = (error: ParseError, socket: Socket) => {
    if (!error.rawPacket || !namesEndpoint(error.rawPacket)) return false
    void storeMalformed(error, socket, { endpoints, commits, trustedProxies, log })
    return true
  }
  const { handle, markAborted, recordLaterBytes } = createCapture({
    endpoints,
    commits,
    delays,
    sequences: createSequences({ db, log }),
    held,
    markAnswerSent: (...sent) => markAnswerSent(db, ...sent),
    memory: createMemoryBudget(),
    trustedProxies,
    saveSurplus: (request, surplus) => saveSurplus(pool, request, surplus),
    storeMalformed: storeIfNamed,
    log,
  })
  const streams = createRequestStreams({ db, notifications, secretKey, ...places, log })

  function endWaiting(): void {
    delays.flush()
    streams.close()
  }

  /** Handles bytes that are not a request, and requests that were aborted by the parser. */
  function onParseError(error: ParseError, socket: Socket, last: ServerResponse | undefined): void {
    if (last && markAborted(last, isDisconnect(error.code) ? null : describeParseError(error)))
      return
    if (last && recordLaterBytes(last, error)) return
    storeIfNamed(error, socket)
  }

  const capture: Capture = {
    takes: createCaptureMatcher(config.BASE_URL, webhookBaseUrl),
    handle,
    refused: onParseError,
    paths: CAPTURE_PATHS,
  }
  return {
    jobs: [webhookCleanUpJob(quotas), webhookAlertJob({ db, secretKey })] as Job[],
    futureTimestamps: FUTURE_TIMESTAMPS,
    retention: RETENTION,
    capture,
    /** Captures the mails to addresses of endpoints, from the module that has the SMTP server. */
    emails: createEmailReceiver({ db, endpoints, commits, domain: config.REPORT_DOMAIN }),
    /** The bytes of captures that these workspaces store. */
    usage: (workspaceIds: string[]) => listUsage(db, workspaceIds),
    routes: {
      public: (app) => sharedRequestRoute(app, { db }),
      account(app, { reauthenticate }) {
        const forget = (token: string) => endpoints.forget(token)
        const policy = { namePolicy: config.WEBHOOK_NAMES, hasOwnOrigin, forwards }
        const shared = { db, secretKey, ...places, forget, ...policy }
        webhookRoutes(app, { ...shared, reauthenticate, streams, endWaiting, version: VERSION })
        webhookRuleRoutes(app, shared)
        const sending = { guard, baseUrl: config.BASE_URL }
        const destinations = { ...shared, ...sending, ...destinationPolicy(config) }
        destinationRoutes(app, destinations)
        replayRoutes(app, destinations)
        listenerRoutes(app, shared)
        shareRoutes(app, { db, baseUrl: config.BASE_URL })
      },
    } satisfies Routes<Pick<RouteContext, 'reauthenticate'>>,
    startWork() {
      const forwarding = {
        db,
        guard,
        secretKey,
        baseUrl: config.BASE_URL,
        log,
        onAttempt,
        onEnd: onDeliveryEnd,
      }
      const works = [
        watchDisk({ db, log, options: config, raise, onRemoved, onSpace }),
        ...(forwards ? [startForwarding(forwarding, notifications, deliveries)] : []),
      ]
      return async () => void (await Promise.all(works.map((stop) => stop())))
    },
    async close(): Promise<void> {
      stops.forEach((stop) => stop())
      notifier.close()
      deliveries.close()
      held.close()
      await trimming.close()
    },
  }
}

function destinationsOf(deliveries: NewDelivery[]): string[] {
  return [...new Set(deliveries.map(({ destinationId }) => destinationId))]
}

function countOutcomes(
  commits: GroupCommit<StoredCapture>,
  onOutcome: (outcome: StoreOutcome) => void,
): typeof commits {
  return {
    add(row) {
      const outcome = commits.add(row)
      void outcome.then(onOutcome)
      return outcome
    },
  }
}
