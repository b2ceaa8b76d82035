import { addAccount, createEmails } from '../people.ts'
import { createAuditWriter } from '../../src/accounts/audit/writer.ts'
import { createAuth } from '../../src/accounts/sign-in/better-auth-loader.ts'
import { createIdentify } from '../../src/accounts/tokens/identify-token.ts'
import { issueToken } from '../../src/accounts/tokens/api-tokens.ts'
import type { Batching } from '../../src/alerts/delivery/due-messages.sql.ts'
import { createAlertsModule } from '../../src/alerts/module.ts'
import { raiseAlert, type NewAlert } from '../../src/alerts/raise.ts'
import { readConfig } from '../../src/config.ts'
import { createAuthHooks } from '../../src/http/auth.ts'
import { addRoutes } from '../../src/http/scopes.ts'
import { createServer } from '../../src/http/http-server.ts'
import { createLog } from '../../src/log.ts'
import { createResolver } from '../../src/net/dns.ts'
import { isUnavailable, openDatabase } from '../../src/store/database.ts'
import { openNotifications } from '../../src/store/notifications.ts'
import { listenForTests } from '../scaled/instances.ts'

export const SECRET_KEY = 'the secret key of the tests of alerts'
const BASE_URL = 'http://portreeve.test'

/** The subject of the alerts in these tests. */
const PATH = '/monitoring/0199a1c2-7c3b-7f7e-8a51-3c1d9f0b6a11'
export const LINK = BASE_URL + PATH

export type Person = { id: string; email: string; token: string }
export type Reply<T> = {
  status: number
  json: { success: boolean; data: T; error: string; code: string }
}

export type AlertsTestOptions = {
  smtpUrl?: string
  batching?: Batching
  clock?: () => number
  /** Whether it sends alerts. */
  works?: boolean
  env?: Record<string, string>
  secretKey?: string
  /** Other origins of hosted services. */
  origins?: ReadonlyMap<string, string>
}

export type AlertsTest = Awaited<ReturnType<typeof startAlerts>>

/**
 * Starts an instance without routes of its own, for tests of alerts and of modules that raise them.
 */
export async function startAlertsContext(
  databaseUrl: string,
  { smtpUrl = '', env = {} }: AlertsTestOptions = {},
) {
  const settings = {
    ALLOW_PRIVATE_TARGETS: '127.0.0.0/8,::1',
    BASE_URL,
    SMTP_URL: smtpUrl,
    MAIL_FROM: 'Portreeve <alerts@portreeve.test>',
    ...env,
  }
  const config = readConfig(settings)
  const log = createLog(process.env['TEST_LOG'] ?? 'silent')
  const { db, pool, close } = openDatabase(databaseUrl)
  const notifications = await openNotifications(databaseUrl, log)
  const isSetUp = async () => true
  const onChange = async () => {}
  const auth = createAuth({ pool, config, secret: SECRET_KEY, log, isSetUp, onChange })
  const identify = createIdentify({ db, auth, notifications, log })
  const authHooks = createAuthHooks(identify, [])
  const resolver = createResolver({ servers: [] })
  const isReady = async () => true
  const app = await createServer({ log, version: '0', trustedProxies: [], isUnavailable, isReady })

  const emailOf = createEmails()
  let listener: Awaited<ReturnType<typeof listenForTests>> | undefined

  async function call<T>(
    token: string,
    method: string,
    path: string,
    body?: object,
  ): Promise<Reply<T>> {
    const answer = await fetch(new URL(`/api/v1/${path}`, listener?.url), {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, json: (await answer.json()) as Reply<T>['json'] }
  }

  return {
    config,
    log,
    db,
    pool,
    notifications,
    authHooks,
    resolver,
    app,
    /** Where it listens, once it is open. */
    get url(): string {
      return listener?.url ?? ''
    },
    /** Opens the port once the routes are registered. */
    async open(): Promise<void> {
      listener = await listenForTests(app, { ...settings, DATABASE_URL: databaseUrl, SECRET_KEY })
    },
    call,
    async addPerson(name: string): Promise<Person> {
      const email = emailOf(name)
      const person = {
        email,
        password: `the password of ${name}`,
        name,
        plan: 'free' as const,
        admin: false,
      }
      const { id } = await addAccount(db, person)
      return {
        id,
        email,
        token: (await issueToken(db, { accountId: id, workspaceId: id }, 'tests')).token,
      }
    },
    async stop(): Promise<void> {
      await (listener ?? { stop: () => app.close() }).stop()
      await identify.close()
      resolver.close()
      await notifications.close()
      await close()
    },
  }
}

/** Emails collect no further alerts and follow one another at once. */
export const AT_ONCE: Batching = { holdMs: 0, gapMs: 0, burstHoldMs: 0 }

/** One instance with the alerts alone; several may share a database. */
export async function startAlerts(databaseUrl: string, options: AlertsTestOptions = {}) {
  const {
    batching = AT_ONCE,
    clock,
    works = true,
    origins = new Map(),
    secretKey = SECRET_KEY,
  } = options
  const context = await startAlertsContext(databaseUrl, options)
  const { db, app, authHooks } = context
  const audit = createAuditWriter({ db, log: context.log })
  const alerts = createAlertsModule({
    ...context,
    secretKey,
    writeAudit: (entry) => audit.write(entry),
    batching,
    origins,
    ...(clock && { clock }),
  })
  addRoutes(app, authHooks, [alerts.routes], {})
  await context.open()
  const stopWork = works ? alerts.startWork() : async () => {}
  return {
    ...context,
    /** Raises an alert about an object with this name. */
    raise: (workspaceId: string, name: string, more: Partial<NewAlert> = {}) =>
      raiseAlert(db, {
        workspaceId,
        kind: 'blacklist.listed',
        key: name,
        incident: `blacklist/${name}`,
        phase: 'open',
        severity: 'error',
        title: `${name} is listed`,
        text: `The list says: “spam from ${name}”.`,
        nextStep: 'Ask for removal.',
        path: PATH,
        at: new Date('2026-11-21T12:00:00Z'),
        ...more,
      }),
    async stop() {
      await stopWork()
      await audit.close()
      await context.stop()
    },
  }
}

/** Waits for a condition; fails with the last value. */
export async function until<T>(
  read: () => T | Promise<T>,
  holds: (value: T) => boolean,
  seconds = 10,
): Promise<T> {
  const end = Date.now() + seconds * 1000
  for (;;) {
    const value = await read()
    if (holds(value)) return value
    if (Date.now() > end) throw new Error(`still ${JSON.stringify(value)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Long enough to notice an event that must not happen. */
export function aWhile(milliseconds = 400): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
