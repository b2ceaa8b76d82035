import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Kysely } from 'kysely'
import type { Pool } from 'pg'
import { raiseAlert } from '../alerts/raise.ts'
import type { Config } from '../config.ts'
import type { Routes } from '../http/scopes.ts'
import type { Capture } from '../http/server.ts'
import type { RouteContext } from '../module.ts'
import type { Job } from '../jobs/job.ts'
import type { Logger } from '../log.ts'
import type { Cidr } from '../setting-values.ts'
import type { Notifications } from '../store/notifications.ts'
import type { FutureTimestamp } from '../store/clock.ts'
import { onDeletionChange } from '../store/deleted-workspaces.ts'
import type { DB } from '../store/tables.ts'
import { VERSION } from '../version.ts'
import { webhookAlertJob } from './alerts/jobs.ts'
import { createBatchedNotifier } from './batched-notifier.ts'
import { CAPTURE_PATHS } from './capture/capture-paths.ts'
import { createCapture } from './capture/capture.ts'
import { createDelayedResponses } from './capture/delayed-responses.ts'
import { createEndpointCache } from './endpoints/cache.ts'
import { loadEndpoint, onEndpointChange } from './endpoints/endpoints.ts'
import { createRequestStreams } from './request-streams.ts'
import { createGroupCommit, type GroupCommit, type StoreOutcome } from './capture/group-commit.ts'
import {
  isDisconnect,
  storeMalformed,
  namesEndpoint,
  describeParseError,
} from './capture/malformed-requests.ts'
import { createMemoryBudget } from './capture/read-body.ts'
import { ALERT_EVALUATION_SECONDS } from './limits.ts'
import { watchDisk, type DiskOptions } from './retention/disk.ts'
import { CAPTURE_QUOTAS, raiseOnce } from './retention/quota.ts'
import { startTrimming, webhookCleanUpJob } from './retention/retention.ts'
import { listUsage } from './retention/store.ts'
import { webhookRoutes } from './routes.ts'
import type { CapturedRequest } from './requests/captured-request.ts'
import { createRequestInsert, saveSurplus } from './requests/store.ts'
import type { ParseError } from './capture/surplus.ts'
import { createCaptureMatcher } from './capture/capture-target.ts'

export type WebhooksOptions = {
  db: Kysely<DB>
  pool: Pool
  notifications: Notifications
  secretKey: string
  config: Pick<Config, 'BASE_URL' | 'WEBHOOK_BASE_URL'> & DiskOptions
  /** Networks of reverse proxies; their addresses may change. */
  trustedProxies: Cidr[]
  log: Logger
  /** Called with the result of each captured request, for metrics. */
  onOutcome?: ((outcome: StoreOutcome) => void) | undefined
  /** Called with the number of captured requests that were removed early, and the reason. */
  onRemoved?: ((reason: 'quota' | 'disk', requests: number) => void) | undefined
  /** Called with the free bytes of the database, where they are monitored. */
  onSpace?: ((freeBytes: number) => void) | undefined
}

const FUTURE_TIMESTAMPS: FutureTimestamp[] = [
  ['webhook_alert', 'due_at', ALERT_EVALUATION_SECONDS] as const,
  ['webhook_alert', 'called_at', 0] as const,
  ['webhook_alert', 'bad_alert_at', 0] as const,
  ['webhook_alert', 'silent_from', 0] as const,
  ['webhook_watch', 'last_pass_at', 0] as const,
  ['webhook_watch', 'watched_since', 0] as const,
].map(([table, column, maxAheadSeconds]) => ({
  table,
  column,
  maxAheadSeconds,
  clock: 'database',
}))

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
  log,
  onOutcome,
  onRemoved,
  onSpace,
}: WebhooksOptions) {
  const endpoints = createEndpointCache((token) => loadEndpoint({ db, secretKey }, token))
  const stops = [
    onEndpointChange(
      notifications,
      ({ token }) => endpoints.forget(token),
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
  const committing = createGroupCommit<CapturedRequest>({
    insert: createRequestInsert(pool),
    onStored(captured) {
      notifier.captured(captured)
      trimming.captured(captured)
    },
    log,
  })
  const commits = onOutcome ? countOutcomes(committing, onOutcome) : committing
  const delays = createDelayedResponses()
  const webhookBaseUrl = config.WEBHOOK_BASE_URL
  const storeIfNamed = (error: ParseError, socket: Socket) => {
    if (!error.rawPacket || !namesEndpoint(error.rawPacket)) return false
    void storeMalformed(error, socket, { endpoints, commits, trustedProxies, log })
    return true
  }
  const { handle, markAborted, recordLaterBytes } = createCapture({
    endpoints,
    commits,
    delays,
    memory: createMemoryBudget(),
    trustedProxies,
    saveSurplus: (request, surplus) => saveSurplus(pool, request, surplus),
    storeMalformed: storeIfNamed,
    log,
  })
  const streams = createRequestStreams({ db, notifications, secretKey, webhookBaseUrl, log })

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
    capture,
    /** The bytes of captures that these workspaces store. */
    usage: (workspaceIds: string[]) => listUsage(db, workspaceIds),
    routes: {
      account: (app, { reauthenticate }) =>
        webhookRoutes(app, {
          db,
          reauthenticate,
          streams,
          forget: (token: string) => endpoints.forget(token),
          endWaiting,
          secretKey,
          webhookBaseUrl,
          version: VERSION,
        }),
    } satisfies Routes<Pick<RouteContext, 'reauthenticate'>>,
    startWork: () => watchDisk({ db, log, options: config, raise, onRemoved, onSpace }),
    async close(): Promise<void> {
      stops.forEach((stop) => stop())
      notifier.close()
      await trimming.close()
    },
  }
}

function countOutcomes(
  commits: GroupCommit<CapturedRequest>,
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
