import { createIdentify } from './accounts/identify.ts'
import { createAuth, ownOrigins } from './accounts/auth.ts'
import { authRoutes } from './accounts/auth-routes.ts'
import { cleanUpJob } from './accounts/jobs.ts'
import { deriveKey } from './accounts/keys.ts'
import { announceChange } from './accounts/changes.ts'
import { accountRoutes } from './accounts/routes.ts'
import { findSetupLink } from './accounts/setup.ts'
import { hasAccounts } from './accounts/store.ts'
import type { Config } from './config.ts'
import { Fault } from './errors.ts'
import { openChecks } from './diagnostics/deps.ts'
import { diagnosticsRoutes } from './diagnostics/routes.ts'
import { createDoor } from './http/auth.ts'
import { STOP_GRACE } from './http/limits.ts'
import { createServer, type App } from './http/server.ts'
import { siteRoutes } from './http/site.ts'
import type { Job } from './jobs/job.ts'
import { openQueue } from './jobs/queue.ts'
import { startWorker } from './jobs/worker.ts'
import type { Logger } from './log.ts'
import { isUnavailable, openDatabase, type Database } from './store/database.ts'
import { startEmbedded } from './store/embedded.ts'
import { migrate } from './store/migrate.ts'
import { loadSecretKey } from './store/secrets.ts'
import { openSignals } from './store/signals.ts'
import { VERSION } from './version.ts'

export type Service = {
  /** Where it listens, as a URL that works on this machine. */
  url: string
  /** Where the first account is made; null once there is one. */
  setupLink: string | null
  /** Accepts nothing more, lets what runs finish (10 seconds at most), and closes everything in reverse order. */
  stop(): Promise<void>
}

/**
 * Puts the house together and opens its door.
 * @throws Fault with what to do, when it cannot start; what was started by then is stopped again
 */
export async function startService(config: Config, log: Logger): Promise<Service> {
  await using undo = new AsyncDisposableStack()
  const secretKey = loadSecretKey(config)
  const { url: databaseUrl, database } = await openStore(config, log, undo)
  const { db, pool } = database
  const signals = await openSignals(databaseUrl, log)
  undo.defer(() => signals.close())

  const auth = createAuth({
    pool,
    config,
    secret: deriveKey(secretKey, 'sessions'),
    log,
    isSetUp: () => hasAccounts(db),
    onChange: (accountId) => announceChange(db, accountId),
  })
  const identify = createIdentify({ db, auth, signals, log })
  undo.defer(() => identify.close())
  const door = createDoor(identify, ownOrigins(config.BASE_URL))

  const jobs: Job[] = [cleanUpJob({ db })]
  const queue = await openQueue({ pool, jobs, log })
  undo.defer(() => queue.close())

  const checks = openChecks(config, log)
  for (const warning of checks.deps.blocklists.warnings) log.warn(warning)
  undo.defer(() => checks.close())

  // What runs, runs out side by side: requests and jobs share the grace.
  const running = new Set<() => Promise<void>>()
  undo.defer(async () => void (await Promise.all([...running].map((stop) => stop()))))

  if (config.ROLES.includes('worker')) {
    const worker = startWorker({ queue, jobs, signals, log })
    running.add(() => worker.stop(STOP_GRACE))
  }
  if (!config.ROLES.includes('web')) return { url: config.BASE_URL, setupLink: null, stop: stopOf(undo.move(), log) }

  const app = await createServer({
    log,
    version: VERSION,
    trustedProxies: config.TRUSTED_PROXIES,
    isUnavailable,
    isReady: () => answersNow(database),
  })
  running.add(() => closeWithin(app, STOP_GRACE))
  authRoutes(app, { auth })
  accountRoutes(app, { db, door, auth, config, secretKey, version: VERSION })
  diagnosticsRoutes(app, { ...checks.deps, door })
  siteRoutes(app)
  await listen(app, config)

  const setupLink = await findSetupLink({ db, secretKey, baseUrl: config.BASE_URL })
  log.info({ version: VERSION, url: config.BASE_URL, roles: config.ROLES }, 'Portreeve is ready')
  return { url: addressOf(app), setupLink, stop: stopOf(undo.move(), log) }
}

/** The database of the settings, migrated; what it opens is closed by `undo`. */
async function openStore(
  config: Config,
  log: Logger,
  undo: AsyncDisposableStack,
): Promise<{ url: string; database: Database }> {
  const embedded = config.DATABASE_URL ? null : await startEmbedded({ dataDir: config.DATA_DIR, log })
  if (embedded) undo.defer(() => embedded.stop())
  const url = embedded?.url ?? config.DATABASE_URL ?? ''
  const database = openDatabase(url)
  undo.defer(() => database.close())
  const applied = await migrate(database.pool)
  if (applied.length > 0) log.info({ applied }, 'the database was brought to this version')
  return { url, database }
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

/** Lets requests finish; whoever is still there at the deadline is cut off. */
async function closeWithin(app: App, milliseconds: number): Promise<void> {
  // A kept-alive connection whose last request has just ended would hold the server open.
  const idle = setInterval(() => app.server.closeIdleConnections(), 50)
  const deadline = setTimeout(() => app.server.closeAllConnections(), milliseconds)
  await app.close()
  clearInterval(idle)
  clearTimeout(deadline)
}

const LISTEN_PROBLEMS: Record<string, string> = {
  EADDRINUSE: 'another program has it. Stop that, or set PORT to another.',
  EACCES: 'this user may not use it. Ports below 1024 need rights: set PORT to a higher one.',
  EADDRNOTAVAIL: 'this machine has no such address. Set HOST to one it has.',
}

async function listen(app: App, { HOST, PORT }: Config): Promise<void> {
  try {
    await app.listen({ host: HOST, port: PORT })
  } catch (cause) {
    const problem = LISTEN_PROBLEMS[(cause as NodeJS.ErrnoException).code ?? '']
    if (!problem) throw cause
    throw new Fault('unavailable', `Cannot listen on ${HOST} port ${PORT}: ${problem}`, { cause })
  }
}

function addressOf(app: App): string {
  const address = app.server.address()
  if (address === null || typeof address === 'string') throw new Error('the HTTP server has no address')
  const host = ['127.0.0.1', '::1', '0.0.0.0', '::'].includes(address.address) ? 'localhost' : address.address
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`
}
