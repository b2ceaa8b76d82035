import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { readEvents } from '../../src/net/http/event-stream.ts'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { cookieOf } from '../accounts/module.ts'
import { startTestService, type Person, type TestService, type Workspace } from '../service.ts'
import { aggregate } from '../dmarc/reports.ts'
import { fillEveryTable } from '../store/old-rows.ts'
import { PRESENTABLE } from '../store/presentable.ts'

type Headers = Record<string, string>
type Route = { method: string; path: string }

/**
 * How to name an object that the first workspace of Alice owns, by the beginning of the path: each
 * parameter with the query that finds its value. Null where the path names none.
 */
const OBJECTS: Record<string, Record<string, string> | null> = {
  '/api/v1/abuse/fleet/allowlist/{id}': { id: 'select id from fleet_allowed' },
  '/api/v1/abuse/fleet/bans/{id}': { id: 'select id from fleet_ban' },
  '/api/v1/abuse/fleet/keys/{id}': { id: 'select id from abuse_token where reads_fleet' },
  '/api/v1/abuse/tokens/{token}': { token: 'select id from abuse_token where can_report' },
  '/api/v1/abuse/mails/{id}': { id: 'select id from abuse_mail' },
  '/api/v1/abuse/watched-networks/{id}': { id: 'select id from watched_network' },
  '/api/v1/alerts/channels/{id}': { id: 'select id from alert_channel' },
  '/api/v1/alerts/incidents/{id}': { id: 'select id from alert_incident' },
  '/api/v1/alerts/mutes/{id}': { id: 'select id from alert_mute' },
  '/api/v1/alerts/rules/{id}': { id: 'select id from alert_rule' },
  '/api/v1/canaries/{id}': {
    id: 'select id from canary',
    seedId: 'select id from canary_seed',
  },
  '/api/v1/delisting/{id}': {
    id: 'select id from delisting_process',
    stepId: 'select id from delisting_step',
  },
  '/api/v1/dmarc/domains/{id}': {
    id: 'select id from dmarc_domain',
    reportId: 'select id from dmarc_report',
    address: 'select host(source) from dmarc_source_day',
  },
  '/api/v1/dmarc/mailboxes/{id}': { id: 'select id from dmarc_mailbox' },
  '/api/v1/dmarc/rejected/{id}': { id: 'select id from dmarc_set_aside' },
  '/api/v1/imap/batches/{id}': {
    id: 'select id from migration_batch',
    mailboxId: 'select id from batch_mailbox',
    step: `select 'ttl'`,
  },
  '/api/v1/imap/credentials/{id}': { id: 'select id from mail_credential' },
  '/api/v1/imap/oauth/consents/{id}': { id: 'select id from mail_consent' },
  '/api/v1/imap/migrate/{id}': { id: 'select id from migration' },
  '/api/v1/imap/owner-links/{id}': { id: 'select id from owner_link' },
  // For administrators of the installation: test/http/access.test.ts.
  '/api/v1/imap/oauth/clients/{provider}': null,
  '/api/v1/mail-tests/{id}': { id: 'select id from mail_test' },
  '/api/v1/monitoring/hosts/{id}': { id: 'select id from monitored_host' },
  // The name of a blocklist, of which each workspace has its own choice.
  '/api/v1/monitoring/lists/{dnsbl}': null,
  // The name of a service, of which each workspace has its own settings: test/exchange/relays.test.ts.
  '/api/v1/abuse/relays/{service}': null,
  '/api/v1/shared-checks/{token}': { token: 'select token from shared_check' },
  '/api/v1/tokens/{id}': { id: `select id from api_token where label = 'to revoke'` },
  '/api/webhook/endpoints/{id}': {
    id: 'select id from webhook_endpoint',
    requestId: 'select id from webhook_request',
    ruleId: 'select id from webhook_rule',
    destinationId: 'select id from webhook_destination',
    deliveryId: 'select id from webhook_delivery',
    replayId: 'select id from webhook_replay',
    listenerId: 'select id from webhook_listener',
    shareId: 'select id from webhook_share',
  },
  // Creates the endpoint where the workspace has none of the name: test/webhooks/rules.test.ts.
  '/api/webhook/endpoints/by-name/{name}': null,
  // Any domain can be checked; what is watched and its history belong to the workspace:
  // test/domains/watch.test.ts.
  '/api/v1/domains/{domain}': null,
  // Any address can be read, with what the workspace knows of it: test/addresses/addresses.test.ts.
  '/api/v1/addresses/{ip}': null,
  // Named by the path itself: 403 `not_a_member`, in test/http/access.test.ts.
  '/api/v1/workspaces/{workspaceId}': null,
  '/api/v1/workspaces/{id}': null,
  '/api/v1/accounts/workspaces/{id}': null,
  // Of the account itself, whatever the workspace: test/accounts/passkeys.test.ts.
  '/api/v1/account/passkeys/{id}': null,
  // For administrators of the installation: test/http/access.test.ts.
  '/api/v1/abuse/appeals/{id}': null,
  '/api/v1/abuse/feeds/{id}': null,
  '/api/v1/abuse/mails/opt-outs/{id}': null,
  '/api/v1/abuse/peers/{id}': null,
  '/api/v1/abuse/sensors/{id}': null,
  '/api/v1/abuse/whitelist/{id}': null,
  '/api/v1/accounts/{id}': null,
}

/** Valid bodies, so that a request is not rejected before its object is looked up. */
const BODIES: Record<string, object> = {
  'PATCH /api/v1/canaries/{id}': { enabled: false },
  'POST /api/v1/canaries/{id}/seeds': {
    email: 'seed@example.com',
    host: 'imap.example.com',
    user: 'seed@example.com',
    password: 'secret',
  },
  'POST /api/v1/alerts/channels/{id}/confirm': { code: '123456' },
  'POST /api/v1/delisting/{id}/steps/{stepId}/confirm': { cause: 'A cause.', fix: 'A fix.' },
  'PUT /api/v1/imap/batches/{id}/sync': { everyMinutes: 30 },
  'PUT /api/v1/imap/migrate/{id}/sync': { everyMinutes: 30 },
  'POST /api/v1/imap/batches/{id}/cutover': { domain: 'example.com', mx: ['mx.example.com'] },
  'POST /api/v1/imap/batches/{id}/cutover/steps/{step}/confirm': { note: 'taken over' },
  'POST /api/v1/imap/batches/{id}/rows': { text: 'user,password\nalice,secret' },
  'POST /api/v1/imap/batches/{id}/owner-links': { side: 'source' },
  'POST /api/v1/imap/migrate/{id}/owner-links': { side: 'source' },
  'POST /api/v1/imap/credentials/{id}/check': {},
  'PUT /api/v1/imap/credentials/{id}': {
    provider: 'microsoft',
    app: { tenant: 'example.com', clientId: 'app', clientSecret: 'secret' },
  },
  'POST /api/v1/imap/migrate/{id}/retry': {
    source: { password: 'secret' },
    destination: { password: 'secret' },
  },
  'PUT /api/webhook/endpoints/{id}': { label: 'taken over' },
  'PATCH /api/v1/monitoring/hosts/{id}': { label: 'taken over' },
  'PATCH /api/v1/alerts/channels/{id}': { label: 'taken over' },
  'POST /api/v1/alerts/incidents/{id}/snooze': { minutes: 60 },
  'PATCH /api/v1/alerts/rules/{id}': { name: 'taken over' },
  'PATCH /api/v1/delisting/{id}': { cause: 'A password was stolen.', fix: 'It was changed.' },
  'PATCH /api/v1/dmarc/domains/{id}': { labels: ['taken-over'] },
  'PUT /api/webhook/endpoints/{id}/response-secret': { secret: 'taken over' },
  'POST /api/webhook/endpoints/{id}/destinations': { url: 'https://example.com/taken' },
  'POST /api/webhook/endpoints/{id}/destinations/{destinationId}/forward': {
    requestId: '019a9d2e-90aa-7d0c-b1f2-6f0a4c2e7d42',
  },
  'POST /api/webhook/endpoints/{id}/destinations/{destinationId}/preview': {
    requestId: '019a9d2e-90aa-7d0c-b1f2-6f0a4c2e7d42',
  },
  'POST /api/webhook/endpoints/{id}/requests/{requestId}/shares': {},
  'POST /api/webhook/endpoints/{id}/listeners': {},
  'POST /api/webhook/endpoints/{id}/requests/{requestId}/answer': {
    listener: '019a9d2e-90aa-7d0c-b1f2-6f0a4c2e7d42',
    status: 200,
    headers: [],
    bodyBase64: '',
  },
  'POST /api/webhook/endpoints/{id}/replays': {
    destination: '019a9d2e-90aa-7d0c-b1f2-6f0a4c2e7d42',
    filter: {},
  },
  'POST /api/webhook/endpoints/{id}/rules': { answers: [{}] },
  'PUT /api/webhook/endpoints/{id}/rules/order': { ids: [] },
  'POST /api/webhook/endpoints/{id}/rules/preview': {
    requestId: '019a9d2e-90aa-7d0c-b1f2-6f0a4c2e7d42',
  },
}

let portreeve: TestService
let database: Database
let alice: Person
let bob: Person
let reader: Person
let second: Workspace
let session: Headers
let routes: Route[]
const values = new Map<string, string>()

beforeAll(async () => {
  // No jobs, which would act on the rows.
  portreeve = await startTestService({
    ROLES: 'web',
    REQUEST_LIMITS: 'off',
    WEBHOOK_FORWARDING: 'all',
  })
  database = openDatabase(portreeve.databaseUrl)
  alice = await portreeve.addPerson('Alice')
  await post('/api/v1/abuse/tokens', { label: 'mine' })
  await post('/api/v1/abuse/fleet/keys', { label: 'mine' })
  await post('/api/v1/abuse/watched-networks', { cidr: '8.8.4.0/24' })
  const made = await post('/api/webhook/endpoints', { label: 'mine' })
  const { endpoint } = (await made.json()) as { endpoint: { id: string; token: string } }
  await post(`/api/webhook/endpoints/${endpoint.id}/rules`, { answers: [{}] })
  const url = 'https://example.com/x'
  await post(`/api/webhook/endpoints/${endpoint.id}/destinations`, { url })
  await portreeve.request(`/webhooks/${endpoint.token}`, { method: 'POST', body: 'captured' })
  await post('/api/v1/monitoring/hosts', { host: '9.9.9.9' })
  await post('/api/v1/alerts/channels', { type: 'webhook', url: 'http://127.0.0.1/x' })
  await post('/api/v1/dmarc/domains', { domain: 'first.example.com' })
  await database.pool.query('update dmarc_domain set verified_at = now()')
  await upload(aggregate({ domain: 'first.example.com' }))
  await portreeve.addToken(alice.id, alice.id, { label: 'to revoke' })
  // The other rows refer to the only workspace there is yet.
  await fillEveryTable(database.pool)
  await database.pool.query(
    `insert into abuse_mail (workspace_id, day, recipient, network, is_test)
     values ($1, '2026-11-21', 'abuse@example.net', '8.8.4.0 - 8.8.4.255', true)`,
    [alice.id],
  )
  for (const statement of PRESENTABLE) await database.pool.query(statement)
  for (const params of Object.values(OBJECTS))
    for (const text of Object.values(params ?? {})) values.set(text, await findValue(text))
  ;[bob, second, reader] = [
    await portreeve.addPerson('Bob'),
    await portreeve.addWorkspace(alice),
    await portreeve.addMember(alice.id, 'Rosa', 'read-only'),
  ]
  session = await signIn(alice)
  routes = protectedRoutes()
})
afterAll(async () => {
  await database.close()
  await portreeve.stop()
})

const bearer = ({ token }: { token: string }): Headers => ({ authorization: `Bearer ${token}` })

async function findValue(text: string): Promise<string> {
  const { rows } = await database.pool.query<Record<string, string>>(`${text} limit 1`)
  const [value = ''] = Object.values(rows[0] ?? {})
  expect(value, text).not.toBe('')
  return value
}

async function post(path: string, body: object, headers = bearer(alice)): Promise<Response> {
  const response = await portreeve.request(path, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect([path, response.status]).toEqual([path, 201])
  return response
}

async function upload(report: string): Promise<void> {
  const response = await portreeve.request('/api/v1/dmarc/reports', {
    method: 'POST',
    headers: { ...bearer(alice), 'content-type': 'application/xml' },
    body: report,
  })
  expect(await response.json()).toMatchObject({ data: { stored: 1 } })
}

async function signIn({ email, password }: Person): Promise<Headers> {
  const { headers } = await portreeve.request('/api/auth/sign-in/email', {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: portreeve.url },
    body: JSON.stringify({ email, password }),
  })
  return { cookie: cookieOf(headers), origin: portreeve.url }
}

/** The operations that need an account, except those of the sign-in library. */
function protectedRoutes(): Route[] {
  const { paths } = JSON.parse(readFileSync('openapi.json', 'utf8')) as {
    paths: Record<string, Record<string, { security: object[] }>>
  }
  return Object.entries(paths)
    .filter(([path]) => !path.startsWith('/api/auth/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { security }]) => security.length > 0)
        .map(([method]) => ({ method: method.toUpperCase(), path })),
    )
}

const prefixOf = ({ path }: Route) =>
  Object.keys(OBJECTS).find((prefix) => path === prefix || path.startsWith(`${prefix}/`))

/** The routes that name an object of the first workspace. */
const routesToObjects = () =>
  routes.filter((route) => {
    const prefix = prefixOf(route)
    return prefix !== undefined && OBJECTS[prefix] !== null
  })

/** The path of a route with the ids of the first workspace, or others. */
function pathOf(route: Route, others: Record<string, string> = {}): string {
  const params = OBJECTS[prefixOf(route) ?? ''] ?? {}
  return route.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(others[name] ?? values.get(params[name] ?? '') ?? ''),
  )
}

async function call(
  route: Route,
  headers: Headers,
  path = pathOf(route),
): Promise<[status: number, code: string | null]> {
  const stop = new AbortController()
  const hasBody = !['GET', 'DELETE'].includes(route.method)
  const response = await portreeve.request(path, {
    method: route.method,
    headers: { ...headers, ...(hasBody && { 'content-type': 'application/json' }) },
    signal: stop.signal,
    ...(hasBody && { body: JSON.stringify(BODIES[`${route.method} ${route.path}`] ?? {}) }),
  })
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  const { code = null } = isJson ? ((await response.json()) as { code?: string }) : {}
  // A stream has no end.
  stop.abort()
  return [response.status, code]
}

/** Calls the routes one after another. @returns those that answered otherwise */
async function deviations(
  all: Route[],
  expected: (route: Route, answer: [number, string | null]) => boolean,
  ask: (route: Route) => Promise<[number, string | null]>,
): Promise<string[]> {
  expect(all.length).toBeGreaterThan(0)
  const wrong: string[] = []
  for (const route of all) {
    const answer = await ask(route)
    if (!expected(route, answer)) wrong.push(`${route.method} ${route.path} ${answer.join(' ')}`)
  }
  return wrong
}

const isNotFound = (_route: Route, [status, code]: [number, string | null]) =>
  status === 404 && code === 'not_found'

/**
 * What the tables hold, apart from records about the requests themselves and from alerts, which
 * background jobs raise and deliver meanwhile.
 */
async function contentOfTables(): Promise<Record<string, string>> {
  const { rows: tables } = await database.pool.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind = 'r'
       and relname !~ '^(api_token|session|request_rate|password_attempt|auth_rate_limit|audit_entry|alert|alert_incident|alert_message.*)$'`,
  )
  const content: Record<string, string> = {}
  for (const { name } of tables) {
    const { rows } = await database.pool.query<{ sum: string }>(
      `select count(*) || ' ' || coalesce(sum(hashtextextended((to_jsonb(t) - '{last_sent_at,failing_since,last_error}'::text[])::text, 0)), 0) as sum from ${name} t`,
    )
    content[name] = rows[0]?.sum ?? ''
  }
  return content
}

const isReading = ({ method }: Route) => method === 'GET'

describe('an object of a workspace', () => {
  it('is known here for every path with a parameter', () => {
    const missing = routes.filter((route) => route.path.includes('{') && !prefixOf(route))
    expect(missing).toEqual([])
  })

  it('is read by its owner, and by a member with the role read-only', async () => {
    const reading = routesToObjects().filter(isReading)
    const isFound = (_route: Route, [status]: [number, string | null]) => status === 200
    // A secret is read by members who may change it.
    const isShown = (route: Route, answer: [number, string | null]) =>
      route.path.endsWith('/response-secret') ? answer[0] === 403 : isFound(route, answer)
    const wrongFor = (person: Person, isRight: typeof isFound) =>
      deviations(reading, isRight, (route) => call(route, bearer(person)))
    expect(await wrongFor(alice, isFound)).toEqual([])
    expect(await wrongFor(reader, isShown)).toEqual([])
  })

  it('is not changed by a member with the role read-only', async () => {
    const before = await contentOfTables()
    const changing = routes.filter((route) => !isReading(route) && !isForAdministrators(route))
    // Members of every role may revoke their own tokens, and have a digest of their own, whose
    // settings and test this request gets wrong: test/digest/routes.test.ts.
    // They may also preview where an alert would go: test/alerts/rules.
    const ownDigest: Record<string, string> = {
      '/api/v1/alerts/rules/preview': 'invalid_request',
      '/api/v1/digest': 'invalid_request',
      '/api/v1/digest/test': 'unavailable',
    }
    const isForbidden = (route: Route, [status, code]: [number, string | null]) =>
      (status === 403 && code === 'forbidden') ||
      (route.path === '/api/v1/tokens/{id}' && code === 'not_found') ||
      (code !== null && ownDigest[route.path] === code)
    const wrong = await deviations(changing, isForbidden, (route) => call(route, bearer(reader)))
    expect(wrong).toEqual([])
    expect(await contentOfTables()).toEqual(before)
  })

  it.each([
    ['its owner in another workspace, by token', () => bearer(second)],
    [
      'its owner in another workspace, by X-Workspace',
      () => ({ ...session, 'x-workspace': second.id }),
    ],
    ['another account', () => bearer(bob)],
  ])('is not found by %s', async (_who, headersOf) => {
    const before = await contentOfTables()
    const wrong = await deviations(routesToObjects(), isNotFound, (route) =>
      call(route, headersOf()),
    )
    expect(wrong).toEqual([])
    expect(await contentOfTables()).toEqual(before)
  })

  it('is not found by its owner who names another workspace in the query', async () => {
    const reading = routesToObjects().filter(isReading)
    const wrong = await deviations(reading, isNotFound, (route) =>
      call(route, session, `${pathOf(route)}?workspace=${second.id}`),
    )
    expect(wrong).toEqual([])
  })

  it('is not reached through an object of another workspace', async () => {
    const made = await post('/api/webhook/endpoints', {}, bearer(second))
    const { endpoint } = (await made.json()) as { endpoint: { id: string } }
    const domain = await post(
      '/api/v1/dmarc/domains',
      { domain: 'second.example.com' },
      bearer(second),
    )
    const { data } = (await domain.json()) as { data: { id: string } }
    const own: Record<string, string> = {
      '/api/webhook/endpoints/{id}': endpoint.id,
      '/api/v1/dmarc/domains/{id}': data.id,
    }
    const nested = routesToObjects().filter(
      (route) => own[prefixOf(route) ?? ''] && /requestId|reportId/.test(route.path),
    )
    const wrong = await deviations(nested, isNotFound, (route) =>
      call(route, bearer(second), pathOf(route, { id: own[prefixOf(route) ?? ''] ?? '' })),
    )
    expect(wrong).toEqual([])
  })

  it('is in no list of another workspace', async () => {
    const lists = routes.filter(
      (route) =>
        isReading(route) &&
        !route.path.includes('{') &&
        !NOT_LISTS.has(route.path) &&
        !isForAdministrators(route),
    )
    const ids = [...values.entries()].filter(([text]) => !text.includes('host('))
    for (const { path } of lists) {
      const inFirst = await (await portreeve.request(path, { headers: bearer(alice) })).text()
      const inSecond = await (await portreeve.request(path, { headers: bearer(second) })).text()
      const found = ids.filter(([, id]) => inFirst.includes(id) && inSecond.includes(id))
      expect([path, found]).toEqual([path, []])
    }
  })

  it('is announced only to streams of its workspace', async () => {
    const [first, other] = await Promise.all([follow(bearer(alice)), follow(bearer(second))])
    const byQuery = await follow(session, `?workspace=${second.id}`)
    const host = randomUUID()
    await post('/api/v1/monitoring/hosts', { host: `${host}.example.com` })
    await vi.waitFor(() => expect(first.rooms).toContain('monitoring'), 5_000)
    await post('/api/v1/abuse/tokens', { label: 'a later change' }, bearer(second))
    for (const { rooms } of [other, byQuery]) {
      await vi.waitFor(() => expect(rooms).toContain('attacks'), 5_000)
      expect(rooms).not.toContain('monitoring')
    }
    for (const { stop } of [first, other, byQuery]) stop()
  })
})

/** Streams, which have no end, and the data of the account itself. */
const NOT_LISTS = new Set([
  '/api/v1/events',
  '/api/v1/blacklist-check/events',
  '/api/v1/account/export',
])

const ADMINISTRATION =
  /^\/api\/v1\/(accounts|audit|service|abuse\/(appeals|candidates|export|feeds\/\{id|mails\/opt-outs|peers|sensors|whitelist))\b/
const isForAdministrators = ({ path }: Route) => ADMINISTRATION.test(path)

/** Follows the changes of a workspace. */
async function follow(headers: Headers, query = '') {
  const stop = new AbortController()
  const response = await portreeve.request(`/api/v1/events${query}`, {
    headers,
    signal: stop.signal,
  })
  expect(response.status).toBe(200)
  const rooms: string[] = []
  void (async () => {
    const text = response.body?.pipeThrough(new TextDecoderStream())
    if (!text) return
    for await (const { data } of readEvents(text))
      rooms.push((JSON.parse(data) as { room: string }).room)
  })().catch(() => {})
  return { rooms, stop: () => stop.abort() }
}
