import { createAbuseModule } from '../../src/abuse/module.ts'
import { createExchangeModule } from '../../src/exchange/module.ts'
import { createFleetModule } from '../../src/fleet/module.ts'
import { createPublicFeedsModule } from '../../src/public-feeds/module.ts'
import type { Systems } from '../../src/abuse/reputation/systems.ts'
import { sweepAndPublish } from '../../src/abuse/export/list-publisher.ts'
import { cookieOf } from '../accounts/module.ts'
import { credentialsOf } from '../credentials.ts'
import { addAccount, passwordOf } from '../people.ts'
import { ownOrigins } from '../../src/accounts/sign-in/auth-settings.ts'
import { createAuth } from '../../src/accounts/sign-in/better-auth-loader.ts'
import { createIdentify } from '../../src/accounts/tokens/identify-token.ts'
import { issueToken } from '../../src/accounts/tokens/api-tokens.ts'
import { readConfig } from '../../src/config.ts'
import { createAuthHooks } from '../../src/http/auth.ts'
import { addRoutes } from '../../src/http/scopes.ts'
import { createServer } from '../../src/http/http-server.ts'
import { createResolver } from '../../src/net/dns.ts'
import { followNames } from '../../src/net/named-networks.ts'
import { createLog } from '../../src/log.ts'
import { isUnavailable, openDatabase } from '../../src/store/database.ts'
import { openNotifications } from '../../src/store/notifications.ts'
import { listenForTests } from '../scaled/instances.ts'

export type AbuseTest = Awaited<ReturnType<typeof startAbuse>>
/** `token`: an API token; of an administrator, whose changes need a session, its cookie. */
export type Person = { id: string; token: string }

const secretKey = 'the secret key of the tests of reports'
const ORIGIN = 'http://portreeve.test'

/** The default address that reports are sent from. */
const SOMEWHERE = '81.2.69.160'

/** Numbers that no real autonomous system has. */
const SYSTEM_PER_SIXTEEN: Systems = {
  source: 'configured',
  date: null,
  find(address) {
    const [first, second] = address.split('.').map(Number)
    return second === undefined ? null : (first ?? 0) * 256 + second + 1
  },
}

type Asked = {
  /** The address the request comes from. */
  from?: string
  token?: string
  body?: unknown
  headers?: Record<string, string>
  method?: string
}

/**
 * One instance of attack reporting behind an HTTP server that believes X-Forwarded-For; several may
 * share a database.
 * @param clock milliseconds since 1970
 * @param systems which operator announces an address: in tests, unless they say otherwise, one for
 *   each IPv4 /16
 */
export async function startAbuse(
  databaseUrl: string,
  clock: () => number = Date.now,
  systems: Systems = SYSTEM_PER_SIXTEEN,
) {
  const settings = { BASE_URL: ORIGIN, TRUSTED_PROXIES: '127.0.0.1' }
  const config = readConfig(settings)
  const log = createLog('silent')
  const { db, pool, close } = openDatabase(databaseUrl)
  const notifications = await openNotifications(databaseUrl, log)
  const isSetUp = async () => true
  const onChange = async () => {}
  const auth = createAuth({ pool, config, secret: secretKey, log, isSetUp, onChange })
  const identify = createIdentify({ db, auth, notifications, log })
  const authHooks = createAuthHooks(identify, ownOrigins(config.BASE_URL))
  const { REPORTS_URL: reportsUrl, BASE_URL: baseUrl } = config
  const outgoing = { resolver: createResolver(), allowPrivate: false } as const
  const feeds = await createPublicFeedsModule({ db, notifications, log, clock, ...outgoing })
  const { publicFeeds } = feeds
  const attacks = await createAbuseModule({
    db,
    pool,
    notifications,
    log,
    secretKey,
    reportsUrl,
    baseUrl,
    systems,
    clock,
    publicFeeds,
  })
  const { list } = attacks
  const fleet = createFleetModule({
    list,
    publicFeeds,
    notifications,
    baseUrl,
    resolver: undefined,
  })
  const { fleets } = fleet
  const exchange = await createExchangeModule({
    secretKey,
    list,
    fleets,
    notifications,
    baseUrl,
    ...outgoing,
    mailRelay: null,
    returnPath: null,
    bounceMailbox: null,
  })
  const modules = [feeds, attacks, fleet, exchange]
  const abuse = { ...list, publicFeeds, fleets }
  const isReady = async () => true
  const { networks: trustedProxies } = await followNames(config.TRUSTED_PROXIES)
  const app = await createServer({
    log,
    version: '0',
    trustedProxies,
    isUnavailable,
    isReady,
  })
  const routes = modules.map((module) => module.routes)
  addRoutes(app, authHooks, routes, { queue: { enqueue: async () => true } })
  const listener = await listenForTests(app, {
    ...settings,
    DATABASE_URL: databaseUrl,
    SECRET_KEY: secretKey,
  })
  const { url } = listener

  function request(
    path: string,
    { from = SOMEWHERE, token, body, headers, method }: Asked = {},
  ): Promise<Response> {
    const isText = typeof body === 'string'
    return fetch(new URL(`/api/v1/abuse/${path}`, url), {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        'x-forwarded-for': from,
        ...(token && credentialsOf(token)),
        ...(body !== undefined && {
          'content-type': isText ? 'application/x-ndjson' : 'application/json',
        }),
        ...headers,
      },
      body: body === undefined ? null : isText ? body : JSON.stringify(body),
    })
  }

  async function answerTo<T = Record<string, unknown>>(path: string, asked?: Asked): Promise<T> {
    return (await (await request(path, asked)).json()) as T
  }

  async function signIn({ email, password }: { email: string; password: string }) {
    const { headers } = await auth.handler(
      new Request(`${ORIGIN}/api/auth/sign-in/email`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: ORIGIN },
        body: JSON.stringify({ email, password }),
      }),
    )
    return cookieOf(headers)
  }

  return {
    url,
    db,
    pool,
    abuse,
    request,
    answerTo,
    /** Reports an attacker. */
    report: (from: string, ip: string, body: object = {}, headers: Record<string, string> = {}) =>
      answerTo('report', { from, body: { ip, service: 'ssh', ...body }, headers }),
    check: async (ip: string) =>
      (await answerTo<{ data: Record<string, unknown> }>(`check?ip=${ip}`)).data,
    /** Runs the list publisher once. */
    keep: () => sweepAndPublish(abuse),
    async addPerson(name: string, admin = false): Promise<Person> {
      const email = `${name.toLowerCase()}@people.test`
      const person = {
        email,
        password: passwordOf(name),
        name,
        plan: 'free' as const,
        admin,
      }
      const { id } = await addAccount(db, person)
      if (admin) return { id, token: await signIn(person) }
      const { token } = await issueToken(db, { accountId: id, workspaceId: id }, 'tests')
      return { id, token }
    },
    async stop(): Promise<void> {
      await listener.stop()
      for (const module of modules.toReversed()) await module.close()
      await identify.close()
      await notifications.close()
      await close()
    },
  }
}
