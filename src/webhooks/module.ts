import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Kysely } from 'kysely'
import type { Pool } from 'pg'
import { raiseAlert } from '../alerts/raise.ts'
import type { Config } from '../config.ts'
import type { AuthHooks } from '../http/auth.ts'
import type { App, Capture } from '../http/server.ts'
import type { Job } from '../jobs/job.ts'
import type { Logger } from '../log.ts'
import type { Notifications } from '../store/notifications.ts'
import type { DB } from '../store/tables.ts'
import { VERSION } from '../version.ts'
import { createAnnouncer } from './announcer.ts'
import { CAPTURE_PATHS } from './capture-paths.ts'
import { createCapture } from './capture.ts'
import { createDelays } from './delays.ts'
import { createEndpointCache } from './endpoints/cache.ts'
import { loadEndpoint, onEndpointChange, ENCRYPTED_COLUMNS } from './endpoints/endpoints.ts'
import { createLive } from './events.ts'
import { createGroupCommit, type GroupCommit, type Outcome } from './group-commit.ts'
import { isGone, keepMalformed, namesEndpoint, reasonOf } from './malformed.ts'
import { createRoom } from './reception.ts'
import { watchDisk, type DiskOptions } from './retention/disk.ts'
import { CAPTURE_QUOTAS, onceEach } from './retention/quota.ts'
import { startTrimming, webhookCleanUpJob } from './retention/retention.ts'
import { listUsage } from './retention/store.ts'
import { webhookRoutes } from './routes.ts'
import { createInsert, saveSurplus, type CapturedRequest } from './store.ts'
import type { ParseError } from './surplus.ts'
import { createTakes } from './target.ts'

export type WebhooksOptions = {
  db: Kysely<DB>
  pool: Pool
  notifications: Notifications
  secretKey: string
  config: Pick<Config, 'BASE_URL' | 'WEBHOOK_BASE_URL' | 'TRUSTED_PROXIES'> & DiskOptions
  log: Logger
  /** Told what became of each captured request, for figures. */
  onOutcome?: ((outcome: Outcome) => void) | undefined
  /** Told how many captured requests were removed before their time, and why. */
  onRemoved?: ((reason: 'quota' | 'disk', requests: number) => void) | undefined
  /** Told how many bytes are free for the database, where that is watched. */
  onSpace?: ((freeBytes: number) => void) | undefined
}

/**
 * All that captures, put together. What waits for an answer or an event is let go when the app closes; `close` ends what runs
 * in the background.
 */
export function createWebhooksModule({
  db,
  pool,
  notifications,
  secretKey,
  config,
  log,
  onOutcome,
  onRemoved,
  onSpace,
}: WebhooksOptions) {
  const endpoints = createEndpointCache((token) => loadEndpoint({ db, secretKey }, token))
  const forget = (token: string) => endpoints.forget(token)
  const stopListening = onEndpointChange(
    notifications,
    ({ token }) => forget(token),
    () => endpoints.forgetAll(),
  )
  const announcer = createAnnouncer({ db, log })
  const raise = onceEach((alert) => raiseAlert(db, alert))
  const quotas = { db, quotas: CAPTURE_QUOTAS, raise, onRemoved }
  const trimming = startTrimming({ ...quotas, log })
  const committing = createGroupCommit<CapturedRequest>({
    insert: createInsert(pool),
    onStored(captured) {
      announcer.captured(captured)
      trimming.captured(captured)
    },
    log,
  })
  const commits = onOutcome ? counted(committing, onOutcome) : committing
  const delays = createDelays()
  const trustedProxies = config.TRUSTED_PROXIES
  const webhookBaseUrl = config.WEBHOOK_BASE_URL
  const keepNamed = (error: ParseError, socket: Socket) => {
    if (!error.rawPacket || !namesEndpoint(error.rawPacket)) return false
    void keepMalformed(error, socket, { endpoints, commits, trustedProxies, log })
    return true
  }
  const { handle, cutOff, followedBy } = createCapture({
    endpoints,
    commits,
    delays,
    room: createRoom(),
    trustedProxies,
    saveSurplus: (request, surplus) => saveSurplus(pool, request, surplus),
    keepMalformed: keepNamed,
    log,
  })
  const live = createLive({ db, notifications, secretKey, webhookBaseUrl, log })

  function end(): void {
    delays.end()
    live.close()
  }

  /** Bytes that are no request, or a request that was cut off in the middle. */
  function refused(error: ParseError, socket: Socket, last: ServerResponse | undefined): void {
    if (last && cutOff(last, isGone(error.code) ? null : reasonOf(error))) return
    if (last && followedBy(last, error)) return
    keepNamed(error, socket)
  }

  const capture: Capture = {
    takes: createTakes(config.BASE_URL, webhookBaseUrl),
    handle,
    refused,
    paths: CAPTURE_PATHS,
  }
  return {
    jobs: [webhookCleanUpJob(quotas)] as Job[],
    encryptedColumns: ENCRYPTED_COLUMNS,
    capture,
    /** Bytes of captures that these accounts store. */
    usage: (accountIds: string[]) => listUsage(db, accountIds),
    routes(app: App, { authHooks }: { authHooks: AuthHooks }): void {
      webhookRoutes(app, { db, authHooks, live, forget, end, secretKey, webhookBaseUrl, version: VERSION })
    },
    startWork: () => watchDisk({ db, log, options: config, raise, onRemoved, onSpace }),
    async close(): Promise<void> {
      stopListening()
      announcer.close()
      await trimming.close()
    },
  }
}

function counted(commits: GroupCommit<CapturedRequest>, onOutcome: (outcome: Outcome) => void): typeof commits {
  return {
    add(row) {
      const outcome = commits.add(row)
      void outcome.then(onOutcome)
      return outcome
    },
  }
}
