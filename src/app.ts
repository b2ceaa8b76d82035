import { findSetupLink } from './accounts/registration/setup.ts'
import type { Pool } from 'pg'
import type { Config } from './config.ts'
import { listMissingFiles } from './data-files.ts'
import { Fault } from './errors.ts'
import { ENCRYPTED_COLUMNS } from './encrypted-columns.ts'
import { delayRefusals } from './http/error-answers.ts'
import { limitConcurrency } from './http/limits/concurrency.ts'
import { createEventStreams } from './http/events/event-streams.ts'
import { STOP_GRACE_MS } from './http/limits/server-limits.ts'
import { closeWithin, listen } from './http/listen.ts'
import { startMetricsServer } from './http/metrics/metrics-server.ts'
import { mergeMetrics, type ProcessMetrics } from './http/metrics/merge-metrics.ts'
import {
  addBackupReadings,
  addReadings,
  createMetrics,
  type ServiceMetrics,
} from './http/metrics/metrics.ts'
import { limitRequests } from './http/limits/request-limits.ts'
import { addRoutes } from './http/scopes.ts'
import { createServer, type App } from './http/http-server.ts'
import { openQueue, type Queue } from './jobs/queue.ts'
import { retentionJobs } from './jobs/retention-jobs.ts'
import { startWorker } from './jobs/worker.ts'
import type { Logger } from './log.ts'
import { createModules } from './modules.ts'
import { requirePort } from './net/acceptors.ts'
import { basePathOf } from './setting-values.ts'
import { clampFutureTimestamps, watchClocks } from './store/clock.ts'
import { isUnavailable, type Database, type Db } from './store/database.ts'
import { endArchiving } from './store/archive/slot.ts'
import { readStatus } from './store/archive/archive-status.ts'
import { lockDataDir, startEmbedded, type Embedded } from './store/embedded.ts'
import type { FolderLock } from './store/embedded/folder-lock.ts'
import { openMigrated } from './store/migrate-schema.ts'
import { reencryptAll } from './store/key-rotation.ts'
import { acceptSecretKey, openSecretKey } from './store/secret-key.ts'
import { openNotifications } from './store/notifications.ts'
import { followNames } from './net/named-networks.ts'
import { VERSION } from './version.ts'
// oxlint-disable-next-line import/no-unassigned-import -- it sets what TLS connections offer and accept
import './net/tls/defaults.ts'
import { countOpenDeliveries } from './webhooks/forwarding/deliveries.sql.ts'

/** The log line that ends the start. */
export const READY_MESSAGE = 'Portreeve is ready'

export type RunningService = {
  /** The URL of the listener, as reachable from this machine. */
  url: string
  /** The URL at which people open it: BASE_URL. */
  publicUrl: string
  /** The page that creates the first account; null once an account exists. */
  setupLink: string | null
  /** The same as of now. */
  findSetupLink(): Promise<string | null>
  /** The metrics of this process; empty without METRICS_LISTEN. */
  readMetrics(): Promise<ProcessMetrics>
  /**
   * Stops accepting work, gives running work 10 seconds, and closes everything in reverse order.
   */
  stop(): Promise<void>
}

export type ServiceOptions = {
  /** Other origins of hosted services of alerts, such as `https://hooks.slack.com`. */
  alertOrigins?: ReadonlyMap<string, string> | undefined
  /** Other origins of providers of public feeds and relays, such as `https://www.spamhaus.org`. */
  providerOrigins?: ReadonlyMap<string, string> | undefined
  /** Other registration services (RDAP) by suffix. */
  registries?: Readonly<Record<string, string>> | undefined
  /** Another cost of new password hashes than `PASSWORD_COST`, for tests. */
  passwordCost?: number | undefined
  /** Starts further processes that serve HTTP, once this one listens. */
  startProcesses?: ((place: WebPlace) => Promise<WebProcesses>) | undefined
  /** The number of such a further process, from 2. */
  processNumber?: number | undefined
}

/** What a further process shares with the first one. */
export type WebPlace = { port: number; databaseUrl: string; secretKey: string }

/** Further processes that serve HTTP on the port of the first one. */
export type WebProcesses = {
  /** Resolves when all of them listen. @throws Fault when one cannot start */
  ready: Promise<unknown>
  readMetrics(): Promise<ProcessMetrics[]>
  stop(): Promise<void>
}

/**
 * Starts the service: opens the database, creates the modules, then starts the jobs and listeners
 * of its roles.
 * @param prepare called with the HTTP server before the routes of the modules are registered
 * @throws Fault with the reason and the fix when it cannot start; started parts are stopped again
 */
export async function startService(
  config: Config,
  log: Logger,
  prepare?: (app: App) => void,
  {
    alertOrigins,
    providerOrigins,
    passwordCost,
    registries,
    startProcesses,
    processNumber,
  }: ServiceOptions = {},
): Promise<RunningService> {
  requireDataFiles()
  await using undo = new AsyncDisposableStack()
  const named = (part: string, stop: () => Promise<void>) => reportSlowStop(log, part, stop)
  const lock = config.DATABASE_URL
    ? undefined
    : await lockDataDir({ dataDir: config.DATA_DIR, log })
  undo.defer(async () => lock?.release())
  await requirePorts(config, processNumber !== undefined)
  const { url: databaseUrl, database } = await openStore(config, log, undo, lock)
  const { db, pool } = database
  const secretKey = await openSecretKey(db, config, ENCRYPTED_COLUMNS)
  const notifications = await openNotifications(databaseUrl, log)
  undo.defer(named('notifications', () => notifications.close()))
  const proxies = await followNames(config.TRUSTED_PROXIES)
  undo.defer(async () => proxies.stop())
  const number = processNumber ?? (config.PROCESSES > 1 ? 1 : undefined)
  const metrics = config.METRICS_LISTEN && createMetrics(VERSION, number)
  const context = {
    config,
    trustedProxies: proxies.networks,
    log,
    db,
    pool,
    notifications,
    secretKey,
    metrics,
    alertOrigins,
    providerOrigins,
    passwordCost,
    registries,
  }
  const { all: modules, authHooks, ownerOf, capture } = await createModules(context, undo)

  if (config.SECRET_KEY_PREVIOUS) {
    const previousKey = config.SECRET_KEY_PREVIOUS
    const result = await reencryptAll(db, ENCRYPTED_COLUMNS, { secretKey, previousKey })
    await acceptSecretKey(db, secretKey)
    log.info(result, 'encrypted the data of the previous SECRET_KEY with the new one')
    if (result.lost > 0)
      log.error(
        result,
        'some secrets were encrypted with neither SECRET_KEY nor SECRET_KEY_PREVIOUS: enter them again',
      )
  }

  const retention = modules.flatMap((module) => module.retention ?? [])
  const jobs = [...modules.flatMap((module) => module.jobs ?? []), ...retentionJobs(db, retention)]
  const queue = await openQueue({ pool, jobs, log })
  undo.defer(named('job queue', () => queue.close()))
  const futureTimestamps = modules.flatMap((module) => module.futureTimestamps ?? [])
  const onClockChange = async () =>
    void (await Promise.all([clampFutureTimestamps(db, futureTimestamps), queue.clampTimestamps()]))
  undo.defer(watchClocks({ db, log, onClockChange }))

  let processes: WebProcesses | null = null
  let areProcessesReady = startProcesses === undefined
  const isReady = async () => areProcessesReady && (await answersNow(database))
  if (metrics && processNumber !== undefined) addReadings(metrics, { pool, isReady })
  else if (metrics) {
    const readOthers = async () => processes?.readMetrics() ?? []
    await startMetrics({ config, metrics, db, pool, queue, isReady, readOthers }, undo)
  }

  // Requests and jobs stop concurrently, so that they share one grace period.
  const running = new Set<() => Promise<void>>()
  undo.defer(async () => void (await Promise.all([...running].map((stop) => stop()))))

  if (config.ROLES.includes('worker')) {
    const worker = startWorker({ queue, jobs, notifications, log })
    running.add(named('worker', () => worker.stop(STOP_GRACE_MS)))
    for (const module of modules)
      if (module.startWork) running.add(named('background work', module.startWork()))
  }
  if (config.ROLES.includes('smtp')) {
    for (const module of modules) {
      const listener = await module.listen?.()
      if (listener) running.add(named('SMTP server', () => listener.close()))
    }
  }
  if (!config.ROLES.includes('web'))
    return {
      url: config.BASE_URL,
      publicUrl: config.BASE_URL,
      setupLink: null,
      findSetupLink: async () => null,
      readMetrics: async () => [],
      stop: stopOf(undo.move(), log),
    }

  const isSecure = config.BASE_URL.startsWith('https:')
  const app = await createServer({
    log,
    version: VERSION,
    trustedProxies: proxies.networks,
    isSecure,
    basePath: basePathOf(config.BASE_URL),
    isUnavailable,
    isReady,
    capture: config.DEMO ? { ...capture, takes: () => false } : capture,
  })
  metrics?.observeRequests(app)
  prepare?.(app)
  running.add(named('HTTP server', () => closeWithin(app, STOP_GRACE_MS)))
  if (config.REQUEST_LIMITS === 'on') {
    limitConcurrency(app, ownerOf)
    limitRequests(app, db)
  }
  delayRefusals(app)
  addRoutes(
    app,
    authHooks,
    modules.flatMap(({ routes }) => routes ?? []),
    { queue, events: createEventStreams(app), reauthenticate: authHooks.reauthenticate },
  )
  const url = await listen(app, config.HOST, config.PORT, processNumber !== undefined)
  if (startProcesses) {
    const port = Number(new URL(url).port)
    const started = await startProcesses({ port, databaseUrl, secretKey })
    processes = started
    running.add(named('web processes', () => started.stop()))
    await started.ready
    areProcessesReady = true
  }

  const currentSetupLink = () => findSetupLink({ db, secretKey, baseUrl: config.BASE_URL })
  const setupLink = await currentSetupLink()
  log.info({ version: VERSION, url: config.BASE_URL, roles: config.ROLES }, READY_MESSAGE)
  return {
    url,
    // Only tests let the system choose a port.
    publicUrl: config.PORT === 0 ? url : config.BASE_URL,
    setupLink,
    findSetupLink: currentSetupLink,
    readMetrics: async () => (await metrics?.registry.getMetricsAsJSON()) ?? [],
    stop: stopOf(undo.move(), log),
  }
}

/**
 * Makes sure that the ports can be opened, before the database is migrated.
 * @param isFurther whether the first process of the service has opened those of HTTP and metrics
 */
async function requirePorts(config: Config, isFurther: boolean): Promise<void> {
  const { HOST, PORT, ROLES, SMTP_LISTEN: smtp, METRICS_LISTEN: metrics } = config
  if (ROLES.includes('smtp') && smtp)
    await requirePort({ host: smtp.address, port: smtp.port, setting: 'SMTP_LISTEN' })
  if (isFurther) return
  if (ROLES.includes('web')) await requirePort({ host: HOST, port: PORT, setting: 'PORT' })
  if (metrics)
    await requirePort({ host: metrics.address, port: metrics.port, setting: 'METRICS_LISTEN' })
}

/** Connections of the embedded database for commands, and for each process of the service. */
const FIXED_CONNECTIONS = 25
const CONNECTIONS_OF_PROCESS = 25

/** Opens and migrates the configured database; `undo` closes it. */
async function openStore(
  config: Config,
  log: Logger,
  undo: AsyncDisposableStack,
  lock: FolderLock | undefined,
): Promise<{ url: string; database: Database }> {
  const embedded = config.DATABASE_URL
    ? null
    : await startEmbedded({
        dataDir: config.DATA_DIR,
        log,
        lock,
        maxConnections: FIXED_CONNECTIONS + config.PROCESSES * CONNECTIONS_OF_PROCESS,
      })
  if (embedded) undo.defer(reportSlowStop(log, 'embedded PostgreSQL', () => embedded.stop()))
  // Stops after the connections of the service, and archives their last commits.
  if (embedded) undo.defer(await archiveDatabase(embedded, config, log))
  const url = embedded?.url ?? config.DATABASE_URL ?? ''
  const database = await openMigrated(url, (applied) =>
    log.info({ applied }, 'migrated the database schema'),
  )
  undo.defer(reportSlowStop(log, 'database connections', () => database.close()))
  return { url, database }
}

/** Archives the embedded database where BACKUP_ARCHIVE says so. @returns stops it */
async function archiveDatabase(
  server: Embedded,
  config: Config,
  log: Logger,
): Promise<() => Promise<void>> {
  if (!config.BACKUP_ARCHIVE) {
    await endArchiving(server)
    return async () => {}
  }
  const [{ startArchiver }, { openObjectStore }] = await Promise.all([
    import('./store/archive/archiver.ts'),
    import('./store/archive/open-store.ts'),
  ])
  const store = await openObjectStore(config.BACKUP_ARCHIVE)
  const archiver = startArchiver({ server, store, config, log })
  return () => archiver.stop()
}

type MetricsContext = {
  config: Config
  metrics: ServiceMetrics
  db: Db
  pool: Pool
  queue: Queue
  isReady: () => Promise<boolean>
  /** Reads the metrics of further processes. */
  readOthers: () => Promise<ProcessMetrics[]>
}

async function startMetrics(
  { config, metrics, db, pool, queue, isReady, readOthers }: MetricsContext,
  undo: AsyncDisposableStack,
): Promise<void> {
  if (!config.METRICS_LISTEN) return
  addReadings(metrics, {
    pool,
    countJobs: () => queue.stats(),
    countDeliveries: () => countOpenDeliveries(db),
    isReady,
  })
  if (config.BACKUP_ARCHIVE) addBackupReadings(metrics, () => readStatus(config.DATA_DIR))
  const { registry } = metrics
  const server = await startMetricsServer(config.METRICS_LISTEN, {
    contentType: registry.contentType,
    read: async () =>
      config.PROCESSES > 1 ? mergeMetrics(registry, await readOthers()) : registry.metrics(),
    isReady,
  })
  undo.defer(() => server.close())
}

/**
 * Wraps the stop of a part of the service: one that takes longer than the grace period is named in
 * the log.
 */
function reportSlowStop(log: Logger, part: string, stop: () => Promise<void>): () => Promise<void> {
  return async () => {
    const timer = setTimeout(() => log.warn({ part }, 'still stopping'), STOP_GRACE_MS + 2_000)
    await stop().finally(() => clearTimeout(timer))
  }
}

function stopOf(stack: AsyncDisposableStack, log: Logger): () => Promise<void> {
  return async () => {
    log.info('stopping')
    await stack.disposeAsync()
    log.info('stopped')
  }
}

async function answersNow({ pool }: Database): Promise<boolean> {
  const deadline = new Promise<false>((resolve) => setTimeout(resolve, 2_000, false).unref())
  const answer = pool.query('select 1').then(
    () => true,
    () => false,
  )
  return Promise.race([answer, deadline])
}

/** @throws Fault `unavailable` for an incomplete installation, which would fail or judge otherwise later */
function requireDataFiles(): void {
  const missing = listMissingFiles()
  if (missing.length === 0) return
  const sentence = `This installation is incomplete: it lacks ${missing.join(', ')}. Install Portreeve again.`
  throw new Fault('unavailable', sentence)
}
