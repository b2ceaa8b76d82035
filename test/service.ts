import type { Kysely } from 'kysely'
import type { Pool } from 'pg'
import { TEST_PATH } from './base-path.ts'
import { addAccount, createEmails, passwordOf, TEST_PASSWORD_COST } from './people.ts'
import { issueToken } from '../src/accounts/tokens/api-tokens.ts'
import { insertMembership, insertWorkspace } from '../src/accounts/workspaces/workspaces.sql.ts'
import { readConfig, type Plan } from '../src/config.ts'
import type { Role, Scope } from '../src/http/access.ts'
import type { App } from '../src/http/http-app.ts'
import { createLog } from '../src/log.ts'
import { startService, type RunningService, type ServiceOptions } from '../src/app.ts'
import { findSetupLink } from '../src/accounts/registration/setup.ts'
import type { DB } from '../src/store/tables.ts'
import { freshDatabase } from './database.ts'
import { credentialsOf } from './credentials.ts'
import { freePort } from './free-port.ts'
import { isScaled, startScaled } from './scaled/instances.ts'
import { startDns, type DnsServer } from './servers/dns.ts'

/** A user with an account: Alice owns the data, Bob has his own, Charlie must see nothing. */
export type Person = { id: string; email: string; password: string; token: string }

/** A workspace beside the first one of its owner, with an API token of the owner in it. */
export type Workspace = { id: string; token: string }

export type TestService = {
  url: string
  /** The address of one instance, for bytes that no proxy lets through as they are. */
  wire: string
  setupLink: string
  databaseUrl: string
  /** Makes an account with an API token. */
  addPerson(name: string, rights?: { plan?: Plan; admin?: boolean }): Promise<Person>
  /** Makes another workspace of this person. */
  addWorkspace(owner: Person, plan?: Plan): Promise<Workspace>
  /** Makes an account that is a member of this workspace, with an API token in it. */
  addMember(workspaceId: string, name: string, role: Role): Promise<Person>
  addToken(accountId: string, workspaceId: string, limits?: TokenLimits): Promise<string>
  /** A request with a Bearer token, the cookie of a session in its place, or neither. */
  request(path: string, init?: RequestInit & { token?: string }): Promise<Response>
  /** Stops the service as a release does, and keeps its database. Not with three instances. */
  pause(): Promise<void>
  /** Starts it again at the same address. */
  resume(): Promise<void>
  stop(): Promise<void>
}

type TokenLimits = { label?: string; scopes?: Scope[]; expiresAt?: Date }

export const SERVICE_KEY = 'the secret key of the services that tests start'

/**
 * Starts a whole service on a database of its own: in this process, or in a scaled run as three
 * behind nginx. Connections to this machine are allowed unless `env` differs.
 * @param prepare called with the HTTP server of this process, before its routes are registered
 * @param options of a service in this process
 */
export async function startTestService(
  env: Record<string, string> = {},
  prepare?: (app: App) => void,
  options: ServiceOptions = {},
): Promise<TestService> {
  const database = await freshDatabase()
  const settings = {
    DATABASE_URL: database.url,
    SECRET_KEY: SERVICE_KEY,
    ALLOW_PRIVATE_TARGETS: '127.0.0.0/8,::1',
    SMTP_LISTEN: 'off',
    LOG_LEVEL: 'warn',
    ...env,
  }
  const service = await (isScaled
    ? startSeveral(settings, database.db)
    : startOne(settings, prepare, options))
  const emailOf = createEmails()
  const addPerson: TestService['addPerson'] = async (
    name,
    { plan = 'free', admin = false } = {},
  ) => {
    const email = emailOf(name)
    const password = passwordOf(name)
    const { id } = await addAccount(database.db, { email, password, name, plan, admin })
    return { id, email, password, token: await addToken(database, id, id) }
  }
  return {
    url: service.url,
    wire: service.wire,
    setupLink: service.setupLink ?? '',
    databaseUrl: database.url,
    addPerson,
    async addWorkspace({ id: createdBy }, plan = 'free') {
      const { id } = await database.db
        .transaction()
        .execute((trx) => insertWorkspace(trx, { name: 'Second workspace', plan, createdBy }))
      return { id, token: await addToken(database, createdBy, id) }
    },
    async addMember(workspaceId, name, role) {
      const person = await addPerson(name)
      await insertMembership(database.db, { workspaceId, accountId: person.id, role })
      return { ...person, token: await addToken(database, person.id, workspaceId) }
    },
    addToken: (accountId, workspaceId, limits) =>
      addToken(database, accountId, workspaceId, limits),
    request(path, { token, headers, ...init } = {}) {
      const authorization = token ? credentialsOf(token) : {}
      return fetch(new URL(path, service.url), {
        ...init,
        headers: { ...authorization, ...(headers as object) },
      })
    },
    pause: () => within(STOP_MS, 'the service to stop', service.pause()),
    resume: () => service.resume(),
    async stop() {
      await within(STOP_MS, 'the service to stop', service.stop())
      await within(STOP_MS, 'the database to be dropped', database.drop())
    },
  }
}

/** A service that test files share, and the DNS server that answers it. */
export type SharedService = TestService & { dns: DnsServer }

let shared: Promise<SharedService> | undefined

/**
 * The service of this worker, for test files that look only at what belongs to their own people, and
 * at names in DNS that no other file has records of. `addPerson` numbers the email addresses of
 * people of one name, so that tests take an address from the person. It has no request limits, and
 * trusts `X-Forwarded-For`, because all files send from one address. `stop` leaves it running; it
 * ends with the worker.
 */
export async function sharedService(): Promise<SharedService> {
  const service = await (shared ??= startShared())
  const refuse = () => Promise.reject(new Error('Other test files use this service, too.'))
  // A scaled run has one for each file: its processes would outlive the run.
  const stop = () => (isScaled ? service.stop() : Promise.resolve())
  return { ...service, pause: refuse, resume: refuse, stop }
}

async function startShared(): Promise<SharedService> {
  const dns = await startDns()
  const service = await startTestService({
    REQUEST_LIMITS: 'off',
    TRUSTED_PROXIES: '127.0.0.1',
    WEBHOOK_FORWARDING: 'all',
    FORWARD_PRIVATE_TARGETS: '127.0.0.1',
    // The database of the run ends before the worker, which is worth no warnings.
    LOG_LEVEL: 'error',
    DNS_SERVERS: `127.0.0.1:${dns.port}`,
    DNSBL_SERVERS: `127.0.0.1:${dns.port}`,
    REPORT_DOMAIN: 'reports.portreeve.test',
  })
  return { ...service, dns }
}

async function addToken(
  { db, pool }: { db: Kysely<DB>; pool: Pool },
  accountId: string,
  workspaceId: string,
  { label = 'tests', scopes, expiresAt }: TokenLimits = {},
): Promise<string> {
  const { id, token } = await issueToken(db, { accountId, workspaceId }, label)
  await pool.query('update api_token set scopes = $2, expires_at = $3 where id = $1', [
    id,
    scopes ?? null,
    expiresAt ?? null,
  ])
  return token
}

/** Milliseconds after which a step of stopping is named, before the hook around it times out. */
const STOP_MS = 50_000

async function within<T>(milliseconds: number, awaited: string, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const failure = () =>
    new Error(
      `waited ${milliseconds} ms for ${awaited}; open: ${process.getActiveResourcesInfo().join(', ')}`,
    )
  const timer = setTimeout(() => late.reject(failure()), milliseconds)
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer))
}

async function startOne(
  env: Record<string, string>,
  prepare: ((app: App) => void) | undefined,
  options: ServiceOptions,
) {
  const { PORT = String(await freePort()), BASE_URL = `http://localhost:${PORT}` } = env
  const config = readConfig({
    HOST: '127.0.0.1',
    ...env,
    PORT,
    ...(new URL(BASE_URL).pathname === '/' && { BASE_URL: `${BASE_URL}${TEST_PATH}` }),
  })
  const start = () =>
    startService(config, createLog(config.LOG_LEVEL), prepare, {
      passwordCost: TEST_PASSWORD_COST,
      ...options,
    })
  let service: RunningService | null = await start()
  // Not the whole service: the constants of a test file are kept as long as the worker lives.
  const { url, setupLink } = service
  const pause = async () => {
    await service?.stop()
    service = null
  }
  const resume = async () => void (service ??= await start())
  return { url, setupLink, wire: url, pause, resume, stop: pause }
}

async function startSeveral(env: Record<string, string>, db: Kysely<DB>) {
  const service = await startScaled(env)
  const baseUrl = env['BASE_URL'] ?? service.url
  const setupLink = await findSetupLink({ db, secretKey: SERVICE_KEY, baseUrl })
  const pause = async () => {
    throw new Error('Only a single instance can be paused.')
  }
  return { ...service, setupLink, pause, resume: pause }
}
