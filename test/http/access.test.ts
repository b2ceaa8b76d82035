import { readFileSync } from 'node:fs'
import type { onRequestHookHandler, preParsingHookHandler } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ACCESS_FILE, accessPage, visibleRoutes } from '../../scripts/access.ts'
import { Fault } from '../../src/errors.ts'
import { isAtLeast, isSafe, MODULES, ROLES, type Role, type Scope } from '../../src/http/access.ts'
import { recordRouteAccess, type RouteAccess } from '../../src/http/route-access.ts'
import { openDatabase } from '../../src/store/database.ts'
import { cookieOf } from '../accounts/module.ts'
import { startTestService, type Person, type TestService } from '../service.ts'

/** Answers in place of the handler, so that a call shows only whether it was let through. */
const PASSED = 299
const answerAtOnce: preParsingHookHandler = (request, reply, payload, done) => {
  if (request.headers['x-stop-after-access'] === undefined) done(null, payload)
  else void reply.code(PASSED).send()
}

/** Rejects a request as its limits would. */
const refuse: onRequestHookHandler = (request, _reply, done) =>
  done(
    request.headers['x-refuse'] === undefined ? undefined : new Fault('rate_limited', 'Too many.'),
  )

type Headers = Record<string, string>

/** Headers of each kind of caller. */
type Callers = {
  sessions: Record<Role, Headers>
  tokens: Record<Role, Headers>
  stranger: Headers
  strangersToken: Headers
  /** The owner, who signed in longer ago than a recent sign-in. */
  stale: Headers
  administrator: Headers
  administratorsToken: Headers
  administratorsScopedToken: Headers
  expired: Headers
  revoked: Headers
}

let portreeve: TestService
let routes: RouteAccess[]
let workspaceId: string
let owner: Person
let callers: Callers
/** Of the owner, by their scopes. */
const scoped = new Map<string, Headers>()

beforeAll(async () => {
  portreeve = await startTestService({ REQUEST_LIMITS: 'off' }, (app) => {
    routes = recordRouteAccess(app)
    app.addHook('preParsing', answerAtOnce)
    app.addHook('onRequest', refuse)
  })
  owner = await portreeve.addPerson('Olivia')
  workspaceId = owner.id
  const members = {
    owner,
    admin: await portreeve.addMember(workspaceId, 'Adam', 'admin'),
    member: await portreeve.addMember(workspaceId, 'Mary', 'member'),
    'read-only': await portreeve.addMember(workspaceId, 'Rosa', 'read-only'),
  }
  const administrator = await portreeve.addPerson('Ines', { admin: true })
  const stranger = await portreeve.addPerson('Stan')
  const [sessions, tokens] = [{}, {}] as [Record<Role, Headers>, Record<Role, Headers>]
  for (const role of ROLES) {
    sessions[role] = await signIn(members[role])
    tokens[role] = bearer(members[role].token)
  }
  callers = {
    sessions,
    tokens,
    stranger: await signIn(stranger),
    strangersToken: bearer(stranger.token),
    stale: await signIn(owner),
    administrator: await signIn(administrator),
    administratorsToken: bearer(administrator.token),
    administratorsScopedToken: bearer(
      await portreeve.addToken(administrator.id, administrator.id, { scopes: ['*:write'] }),
    ),
    expired: bearer(
      await portreeve.addToken(owner.id, workspaceId, { expiresAt: new Date(Date.now() - 1_000) }),
    ),
    revoked: bearer(await portreeve.addToken(owner.id, workspaceId)),
  }
  await makeOld(callers.stale)
  await deleteToken(callers.revoked)
  for (const scopes of SCOPE_SETS) {
    const token = await portreeve.addToken(owner.id, workspaceId, { scopes })
    scoped.set(scopes.join(), bearer(token))
  }
})
afterAll(() => portreeve.stop())

const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` })

async function signIn({ email, password }: Person): Promise<Headers> {
  const { headers } = await portreeve.request('/api/auth/sign-in/email', {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: portreeve.url },
    body: JSON.stringify({ email, password }),
  })
  return { cookie: cookieOf(headers), origin: portreeve.url }
}

async function query(text: string, values: unknown[]): Promise<number | null> {
  const { pool, close } = openDatabase(portreeve.databaseUrl)
  const { rowCount } = await pool.query(text, values)
  await close()
  return rowCount
}

async function makeOld({ cookie = '' }: Headers): Promise<void> {
  const [, token = ''] = /session_token=([^.;]+)/.exec(decodeURIComponent(cookie)) ?? []
  const old = `update session set authenticated_at = now() - interval '11 minutes' where token = $1`
  expect(await query(old, [token])).toBe(1)
}

async function deleteToken({ authorization = '' }: Headers): Promise<void> {
  const list = (await (
    await portreeve.request('/api/v1/tokens', { headers: { authorization } })
  ).json()) as { data: { id: string }[] }
  const { status } = await portreeve.request(`/api/v1/tokens/${list.data[0]?.id}`, {
    method: 'DELETE',
    headers: { authorization },
  })
  expect(status).toBe(200)
}

/** Each scope by itself, and for each module all others. */
const SCOPE_SETS: Scope[][] = [
  ...MODULES.flatMap((module): Scope[][] => [
    [`${module}:read`],
    [`${module}:write`],
    othersThan(module),
  ]),
  ['*:read'],
  ['*:write'],
  [],
]

function othersThan(module: string): Scope[] {
  return MODULES.filter((other) => other !== module).map((other): Scope => `${other}:write`)
}

/** What a call got: its status, or the code of the rejection. */
type Outcome = 'passed' | 'unauthenticated' | 'forbidden' | 'not_a_member' | 'reauthenticate'

const STATUS = { unauthenticated: 401, forbidden: 403, not_a_member: 403, reauthenticate: 403 }

/** A path of the route, in the workspace. */
const pathOf = ({ path }: RouteAccess) =>
  path.replace(':workspaceId', workspaceId).replaceAll(/:\w+/g, 'x')

async function call(route: RouteAccess, headers: Headers): Promise<Outcome> {
  const response = await portreeve.request(pathOf(route), {
    method: route.method,
    headers: { ...headers, 'x-stop-after-access': 'yes' },
  })
  if (response.status === PASSED) return 'passed'
  const { code } = (await response.json()) as { code: keyof typeof STATUS }
  expect(response.status, code).toBe(STATUS[code])
  return code
}

/** Calls a route as each of them. @returns the outcomes by name */
async function callAs(route: RouteAccess, all: Record<string, Headers>) {
  const outcomes = Object.entries(all).map(async ([name, headers]) => [
    name,
    await call(route, headers),
  ])
  return Object.fromEntries(await Promise.all(outcomes)) as Record<string, Outcome>
}

const inWorkspace = (headers: Headers): Headers => ({ ...headers, 'x-workspace': workspaceId })

function eachRole<T>(of: (role: Role) => T): Record<string, T> {
  return Object.fromEntries(ROLES.map((role) => [role, of(role)]))
}

/** Calls all rows concurrently, a few at a time. @returns those that answered otherwise */
async function deviations(
  rows: RouteAccess[],
  compare: (route: RouteAccess) => Promise<[found: object, expected: object]>,
): Promise<string[]> {
  const left = [...rows]
  const wrong: string[] = []
  const work = async () => {
    for (let route = left.pop(); route; route = left.pop()) {
      const [found, expected] = (await compare(route)).map((each) => JSON.stringify(each))
      if (found !== expected)
        wrong.push(`${route.method} ${route.path}: ${found}, expected ${expected}`)
    }
  }
  await Promise.all(Array.from({ length: 4 }, work))
  return wrong
}

/** The routes whose caller our hooks authenticate. */
const rowsFor = (audience: RouteAccess['audience']) =>
  routes.filter((route) => route.audience === audience && !route.path.startsWith('/api/auth/'))

const deniedToTokens = ({ session }: RouteAccess, otherwise: Outcome): Outcome =>
  otherwise === 'passed' && session !== null ? 'forbidden' : otherwise

const ofRole = ({ role }: RouteAccess, own: Role): Outcome =>
  role === null || isAtLeast(own, role) ? 'passed' : 'forbidden'

describe('docs/access.md', () => {
  it('lists the routes as the service registers them (npm run access)', async () => {
    expect(readFileSync(ACCESS_FILE, 'utf8')).toBe(await accessPage(routes))
  })

  it('has a row for every operation of the API, and every other route is public', async () => {
    const document = (await (await portreeve.request('/openapi.json')).json()) as {
      paths: Record<string, Record<string, { security: object[] }>>
    }
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, { security }]) =>
          `${method.toUpperCase()} ${path} ${security.map((each) => Object.keys(each)).join(' ')}`,
      ),
    )
    const securityOf = ({ audience, session }: RouteAccess) =>
      audience === 'public' ? '' : session === null ? 'token session' : 'session'
    const rows = visibleRoutes(routes).map(
      (route) => `${route.method} ${route.path.replaceAll(/:(\w+)/g, '{$1}')} ${securityOf(route)}`,
    )
    const beside = operations.filter((operation) => BESIDE_THE_TABLE.test(operation))
    expect([...rows, ...beside].toSorted()).toEqual(operations.toSorted())
    const hidden = routes.filter(({ isHidden }) => isHidden)
    expect(hidden.filter(({ audience }) => audience !== 'public')).toEqual([])
  })

  it('lets administrators change nothing without a recent sign-in but what programs keep', () => {
    const changes = routes.filter(
      ({ audience, method }) => audience === 'administrator' && !isSafe(method),
    )
    expect(changes.length).toBeGreaterThan(15)
    const byToken = changes.filter(({ session }) => session !== 'fresh')
    expect(byToken.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /api/v1/abuse/whitelist',
      'DELETE /api/v1/abuse/whitelist/:id',
      'POST /api/v1/abuse/sensors',
      'DELETE /api/v1/abuse/sensors/:id',
    ])
  })

  it('lets tokens change nothing that concerns the account itself', () => {
    const own = rowsFor('account').filter(({ role, method }) => role === null && method !== 'GET')
    expect(own.length).toBeGreaterThan(5)
    expect(own.filter(({ session }) => session === null)).toEqual([])
  })
})

describe('every route for accounts', () => {
  it('is called by those whose role in the workspace allows it, by session and by token', async () => {
    const wrong = await deviations(rowsFor('account'), async (route) => {
      const sessions = await callAs(
        route,
        eachRole((role) => inWorkspace(callers.sessions[role])),
      )
      const tokens = await callAs(
        route,
        eachRole((role) => callers.tokens[role]),
      )
      const expected = {
        sessions: eachRole((role) => ofRole(route, role)),
        tokens: eachRole((role) => deniedToTokens(route, ofRole(route, role))),
      }
      return [{ sessions, tokens }, expected]
    })
    expect(wrong).toEqual([])
  })

  it('is closed to strangers, and to callers without a valid token', async () => {
    const wrong = await deviations(rowsFor('account'), async (route) => {
      const found = await callAs(route, {
        anonymous: {},
        expired: callers.expired,
        revoked: callers.revoked,
        unknown: bearer(`prv_${'x'.repeat(43)}`),
        stranger: inWorkspace(callers.stranger),
        strangersToken: inWorkspace(callers.strangersToken),
        administrator: inWorkspace(callers.administrator),
        administratorsToken: inWorkspace(callers.administratorsToken),
        nonsense: { ...callers.stranger, 'x-workspace': 'x' },
        foreignOrigin: {
          ...inWorkspace(callers.sessions.owner),
          origin: 'https://elsewhere.example',
        },
      })
      const isNamedByPath = route.path.includes(':workspaceId')
      const expected = {
        anonymous: 'unauthenticated',
        expired: 'unauthenticated',
        revoked: 'unauthenticated',
        unknown: 'unauthenticated',
        stranger: 'not_a_member',
        strangersToken: 'not_a_member',
        administrator: 'not_a_member',
        administratorsToken: 'not_a_member',
        nonsense: 'not_a_member',
        foreignOrigin: route.method === 'GET' ? 'passed' : 'forbidden',
      }
      return [found, isNamedByPath ? { ...expected, nonsense: found['nonsense'] } : expected]
    })
    expect(wrong).toEqual([])
  })

  it('requires the scope of the table from a token with scopes', async () => {
    const wrong = await deviations(rowsFor('account'), async (route) => {
      const needed = route.scope ?? 'checks:read'
      const [module = '', right = ''] = needed.split(':')
      const names = {
        read: `${module}:read`,
        write: `${module}:write`,
        all: `*:${right}`,
        reading: '*:read',
        others: othersThan(module).join(),
        none: '',
      }
      const found = await callAs(
        route,
        Object.fromEntries(
          Object.entries(names).map(([name, scopes]) => [name, scoped.get(scopes) as Headers]),
        ),
      )
      const forReading: Outcome = right === 'read' ? 'passed' : 'forbidden'
      const expected: Record<string, Outcome> =
        route.session !== null || route.scope === null
          ? eachName(names, deniedToTokens(route, 'passed'))
          : {
              read: forReading,
              write: 'passed',
              all: 'passed',
              reading: forReading,
              others: 'forbidden',
              none: 'forbidden',
            }
      return [found, expected]
    })
    expect(wrong).toEqual([])
  })

  it('requires a recent sign-in where the table says so', async () => {
    const wrong = await deviations(rowsFor('account'), async (route) => {
      const found = await callAs(route, { stale: inWorkspace(callers.stale) })
      return [found, { stale: route.session === 'fresh' ? 'reauthenticate' : 'passed' }]
    })
    expect(wrong).toEqual([])
  })
})

/** Public operations that the page names in its introduction. */
const BESIDE_THE_TABLE = /^\w+ \/(webhooks\/\{token\}|openapi\.json|healthz|readyz) $/

function eachName<T>(names: object, value: T): Record<string, T> {
  return Object.fromEntries(Object.keys(names).map((name) => [name, value]))
}

describe('every route for administrators', () => {
  it('is closed to all others, whatever their role in a workspace', async () => {
    const wrong = await deviations(rowsFor('administrator'), async (route) => {
      const found = await callAs(route, {
        anonymous: {},
        owner: callers.sessions.owner,
        ownersToken: callers.tokens.owner,
        administrator: callers.administrator,
        token: callers.administratorsToken,
        scopedToken: callers.administratorsScopedToken,
      })
      const expected = {
        anonymous: 'unauthenticated',
        owner: 'forbidden',
        ownersToken: 'forbidden',
        administrator: 'passed',
        token: deniedToTokens(route, 'passed'),
        scopedToken: 'forbidden',
      }
      return [found, expected]
    })
    expect(wrong).toEqual([])
  })
})

describe('every other route', () => {
  it('is open to everyone', async () => {
    const open = routes.filter(({ audience }) => audience === 'public')
    expect(open.length).toBeGreaterThan(20)
    const wrong = await deviations(open, async (route) => [
      await callAs(route, { anonymous: {} }),
      { anonymous: 'passed' },
    ])
    expect(wrong).toEqual([])
  })

  it('of the sign-in needs the session that the table names', async () => {
    const rows = routes.filter(
      ({ path, audience }) => path.startsWith('/api/auth/') && audience === 'account',
    )
    expect(rows.length).toBeGreaterThan(5)
    // The sign-in library authenticates them itself, so their handlers answer.
    const statuses = rows.map(async ({ method, path }) => {
      const body = '{"password":"x","currentPassword":"x","newPassword":"y","token":"z","name":"N"}'
      const headers = { 'content-type': 'application/json', origin: portreeve.url }
      const response = await portreeve.request(path, {
        method,
        headers,
        ...(method !== 'GET' && { body }),
      })
      return `${method} ${path} ${response.status}`
    })
    expect(await Promise.all(statuses)).toEqual(
      rows.map(({ method, path }) => `${method} ${path} 401`),
    )
  })
})

describe('each route, and paths without one', () => {
  const others = ['/nothing', '/api/v1/x', '/api/v2/x', '/taxii2/x', '/v1/x', '/healthz', '/readyz']

  it('delays a 429 by half a second, whatever its error handler', async () => {
    const all = [...routes, ...others.map((path) => ({ method: 'GET', path }))]
    const refusals = all.map(async ({ method, path }) => {
      const began = performance.now()
      const url = path.replaceAll(/:\w+/g, 'x')
      const { status } = await portreeve.request(url, { method, headers: { 'x-refuse': 'yes' } })
      const isDelayed = performance.now() - began > 490
      return status === 429 && isDelayed ? [] : [`${method} ${path}: ${status}`]
    })
    expect((await Promise.all(refusals)).flat()).toEqual([])
  })

  it('names its methods to a request with another one', async () => {
    const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
    const byPath = Map.groupBy(routes, (route) => route.path.replaceAll(/:\w+/g, 'x'))
    const wrong = Array.from(byPath, async ([path, ofPath]) => {
      const own = ofPath.map(({ method }) => method)
      const { status, headers } = await portreeve.request(path, {
        method: METHODS.find((method) => !own.includes(method)) ?? '',
      })
      // A route with a parameter has the path, too.
      if (status === 401) return []
      const allowed = headers.get('allow')?.split(', ') ?? []
      return own.every((method) => allowed.includes(method)) ? [] : [`${path}: ${allowed.join()}`]
    })
    expect((await Promise.all(wrong)).flat()).toEqual([])
  })

  it('fails in the form of its API where a parameter is longer than the router accepts', async () => {
    const long = 'a'.repeat(501)
    const bodies = await Promise.all(
      [`/v1/allowlists/${long}`, `/api/v1/monitoring/hosts/${long}`].map(async (path) => {
        const response = await portreeve.request(path, { headers: callers.administratorsToken })
        return [response.status, Object.keys((await response.json()) as object)]
      }),
    )
    expect(bodies).toEqual([
      [404, ['message']],
      [404, ['success', 'error', 'code']],
    ])
  })

  it('fails with no internal error, whatever is sent to it', async () => {
    const left = routes.flatMap((route, index) => oddRequests(route, index))
    const wrong: string[] = []
    const work = async () => {
      for (let odd = left.pop(); odd; odd = left.pop()) {
        const { path, ...init } = odd
        const response = await portreeve.request(path, init)
        if (response.status === 500) wrong.push(`${init.method} ${path}: ${init.body ?? ''}`)
        await response.body?.cancel()
      }
    }
    await Promise.all(Array.from({ length: 8 }, work))
    expect(wrong.map((each) => each.slice(0, 300))).toEqual([])
  }, 60_000)
})

const NESTED = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
const ODD_SEGMENTS = ['a'.repeat(501), '%00', '%F0%9F%92%A9', '..%2f..', '-1', 'a'.repeat(14_000)]
const ODD_QUERIES = ['page=1e9&limit=-1', 'q=%00', 'q=%ff', 'limit=5&limit=6', 'sort=__proto__']
const ODD_BODIES = ['null', '[]', '"x"', '{"__proto__":{}}', '{"id":{"a":[]}}', 'NaN', '0']
const FIELDS = ['email', 'password', 'name', 'token', 'code', 'state', 'newPassword', 'domain']

/** A few odd requests of a route, others than its neighbours get. */
function oddRequests({ method, path }: RouteAccess, index: number) {
  // Streams do not end.
  if (path.endsWith('/events')) return []
  const pick = (list: string[]) => list[index % list.length] as string
  const common = {
    method,
    headers: { ...callers.administratorsToken, 'content-type': 'application/json' },
  }
  const usual = path.replaceAll(/:\w+/g, 'x')
  const bodies = [pick(ODD_BODIES), `{"${pick(FIELDS)}":${NESTED}}`]
  return [
    { ...common, path: path.replaceAll(/:\w+/g, pick(ODD_SEGMENTS)), body: null },
    { ...common, path: `${usual}?${pick(ODD_QUERIES)}`, body: null },
    ...(method === 'GET' ? [] : bodies.map((body) => ({ ...common, path: usual, body }))),
  ]
}
