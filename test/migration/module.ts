import { addAccount, passwordOf } from '../people.ts'
import { createIdentify } from '../../src/accounts/tokens/identify-token.ts'
import { createAuth } from '../../src/accounts/sign-in/better-auth-loader.ts'
import { issueToken } from '../../src/accounts/tokens/api-tokens.ts'
import { readConfig, type Plan } from '../../src/config.ts'
import { createAuthHooks } from '../../src/http/auth.ts'
import { createEventStreams } from '../../src/http/events/event-streams.ts'
import { addRoutes } from '../../src/http/scopes.ts'
import { createServer, type App } from '../../src/http/http-server.ts'
import { openQueue } from '../../src/jobs/queue.ts'
import { startWorker } from '../../src/jobs/worker.ts'
import type { Job } from '../../src/jobs/job.ts'
import { createLog } from '../../src/log.ts'
import { createMailCredentialsModule } from '../../src/mail-credentials/module.ts'
import { batchRoutes } from '../../src/migration/batches/routes.ts'
import { batchSchedulerJob } from '../../src/migration/batches/batch-scheduler.ts'
import { migrationJob } from '../../src/migration/migration-jobs.ts'
import type { SlotLimits } from '../../src/migration/limits.ts'
import { migrationRoutes } from '../../src/migration/routes.ts'
import { syncJob } from '../../src/migration/sync/sync-job.ts'
import { syncRoutes } from '../../src/migration/sync/routes.ts'
import { deriveKey } from '../../src/derive-key.ts'
import { PROOF_KEY } from '../../src/migration/module.ts'
import { cutoverJob } from '../../src/migration/cutover/cutover-job.ts'
import { cutoverRoutes } from '../../src/migration/cutover/routes.ts'
import { proofJob } from '../../src/migration/proof/proof-job.ts'
import { proofKeyRoute, proofRoutes } from '../../src/migration/proof/routes.ts'
import { createProofKey } from '../../src/migration/proof/signed-file.ts'
import { createResolver } from '../../src/net/dns.ts'
import { isUnavailable, openDatabase } from '../../src/store/database.ts'
import { openNotifications } from '../../src/store/notifications.ts'
import { listenForTests } from '../scaled/instances.ts'

const SECRET_KEY = 'the secret key of the tests of migrations'

export type Person = { id: string; token: string }
export type MigrationTest = Awaited<ReturnType<typeof startMigrations>>
type Asked = { token?: string; body?: unknown; method?: string; signal?: AbortSignal }

type RoomOptions = {
  concurrency?: number
  works?: boolean
  slots?: SlotLimits
  /** The port of the resolver and of the name servers. */
  dnsPort?: number
}

/** Starts an instance with the migration module alone. Several may share a database. */
export async function startMigrations(
  databaseUrl: string,
  { concurrency = 4, works = true, slots, dnsPort }: RoomOptions = {},
) {
  const settings = { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8,::1' }
  const config = readConfig(settings)
  const log = createLog(process.env['TEST_LOG'] ?? 'silent')
  const { db, pool, close } = openDatabase(databaseUrl)
  const notifications = await openNotifications(databaseUrl, log)
  const auth = createAuth({
    pool,
    config,
    secret: SECRET_KEY,
    log,
    isSetUp: async () => true,
    onChange: async () => {},
  })
  const identify = createIdentify({ db, auth, notifications, log })
  const authHooks = createAuthHooks(identify, [])
  const servers = dnsPort === undefined ? [] : [{ address: '127.0.0.1', port: dnsPort }]
  const resolver = createResolver({ servers })
  const net = { resolver, allowPrivate: config.ALLOW_PRIVATE_TARGETS }
  const credentials = createMailCredentialsModule({
    ...net,
    db,
    secretKey: SECRET_KEY,
    config,
    isUsed: async () => false,
    isKept: async () => false,
    onProblem: async () => {},
    onClientRejected: async () => {},
    onClientAccepted: async () => {},
  })
  const deps = { ...net, db, secretKey: SECRET_KEY, openTokens: credentials.openTokens }
  const job = migrationJob({
    ...deps,
    concurrency,
    ...(slots && { slots }),
    batchScheduler: () => scheduler,
    cutoverJob: () => cutover,
  })
  const scheduler = batchSchedulerJob({ ...deps, concurrency, job })
  const sync = syncJob({ ...deps, job, batchScheduler: scheduler })
  const proofs = proofJob({ ...deps, cutoverJob: () => cutover })
  const cutover: Job = cutoverJob({
    ...deps,
    scheduler,
    syncJob: sync,
    proofJob: proofs,
    port: dnsPort,
  })
  const proofKey = createProofKey(deriveKey(SECRET_KEY, PROOF_KEY))
  const jobs = [job, scheduler, sync, proofs, cutover] as Job[]
  const queue = await openQueue({ pool, jobs, log })
  const worker = works ? startWorker({ queue, jobs, notifications, log }) : null
  const app = await createServer({
    log,
    version: '0',
    trustedProxies: [],
    isUnavailable,
    isReady: async () => true,
  })
  const events = createEventStreams(app)
  const { reauthenticate } = authHooks
  const options = {
    ...deps,
    queue,
    job,
    scheduler,
    syncJob: sync,
    proofJob: proofs,
    proofKey,
    cutoverJob: cutover,
    reauthenticate,
    events,
    notifications,
  }
  const account = (scope: App) => {
    migrationRoutes(scope, options)
    syncRoutes(scope, options)
    batchRoutes(scope, options)
    proofRoutes(scope, options)
    cutoverRoutes(scope, options)
  }
  const open = (scope: App) => proofKeyRoute(scope, options)
  addRoutes(app, authHooks, [{ account, public: open }], {})
  const listener = await listenForTests(app, { ...settings, DATABASE_URL: databaseUrl, SECRET_KEY })
  const { url } = listener

  function request(path: string, { token, body, method, signal }: Asked = {}): Promise<Response> {
    return fetch(new URL(`/api/v1/imap/${path}`, url), {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
    })
  }

  let stopped: Promise<void> | undefined
  async function stop(): Promise<void> {
    await Promise.all([worker?.stop(8_000), listener.stop()])
    await queue.close()
    await identify.close()
    resolver.close()
    await notifications.close()
    await close()
  }
  return {
    url,
    db,
    pool,
    app,
    request,
    async addPerson(name: string, plan: Plan = 'enterprise'): Promise<Person> {
      const email = `${name.toLowerCase()}@people.test`
      const { id } = await addAccount(db, {
        email,
        password: passwordOf(name),
        name,
        plan,
        admin: false,
      })
      return {
        id,
        token: (await issueToken(db, { accountId: id, workspaceId: id }, 'tests')).token,
      }
    },
    stop: () => (stopped ??= stop()),
  }
}
