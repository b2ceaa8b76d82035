import { createHmac } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createLog } from '../../src/log.ts'
import { openDatabase } from '../../src/store/database.ts'
import { evaluateEndpoint } from '../../src/webhooks/alerts/evaluate-endpoints.ts'
import type { AlertState } from '../../src/webhooks/alerts/endpoint-alerts.sql.ts'
import { watchEndpoints } from '../../src/webhooks/alerts/watch-endpoints.ts'
import { MAX_VERIFIED_REQUESTS } from '../../src/webhooks/limits.ts'
import { SERVICE_KEY, type Person } from '../service.ts'
import { startWebhooks, type Endpoint, type WebhooksTest } from './module.ts'

const NONE = { calledEveryMinutes: null, badSignature: false, silentAfterMinutes: null }

const FRESH: AlertState = {
  checkedCount: -1,
  seenSeq: 0,
  lastRequestAt: null,
  calledCount: 0,
  calledAt: null,
  silentFrom: new Date(0),
  silentSince: null,
  silentDay: null,
  silentCount: 0,
  badCount: 0,
  badAt: null,
  badReason: null,
  badAlertAt: null,
  goodAt: null,
}

/** An endpoint as a pass claims it. */
const WATCHED = {
  ...NONE,
  id: '0199a1c2-7c3b-7f7e-8a51-3c1d9f0b6a11',
  run: 1,
  workspaceId: '0199a1c2-6d1e-7b0a-9c55-2f4e8d7a1b03',
  responsibleId: '0199a1c2-6d1e-7b0a-9c55-2f4e8d7a1b03',
  token: 'Ab3dE5fG7h',
  label: '',
  requestCount: 0,
  signature: null,
  signatureSecret: null,
}

let portreeve: WebhooksTest
let database: ReturnType<typeof openDatabase>
let bob: Person
beforeAll(async () => {
  // Passes are made by these tests alone.
  portreeve = await startWebhooks({ ROLES: 'web' })
  database = openDatabase(portreeve.portreeve.databaseUrl)
  bob = await portreeve.portreeve.addPerson('Bob')
})
afterAll(async () => {
  await database.close()
  await portreeve.stop()
})
beforeEach(async () => {
  await database.pool.query(
    `insert into webhook_watch (watched_since) values (now() - interval '60 days') on conflict (id)
     do update set watched_since = now() - interval '60 days', last_pass_at = now()`,
  )
})
afterEach(async () => {
  await database.pool.query('delete from webhook_endpoint; delete from alert')
})

/** What the job does every minute, at a later time: everything stored moves back instead. */
async function pass(minutesLater = 0): Promise<void> {
  const back = `- interval '${minutesLater} minutes'`
  await database.pool.query(
    `update webhook_alert set due_at = now() - interval '1 day', last_request_at = last_request_at ${back},
      called_at = called_at ${back}, silent_from = silent_from ${back}, silent_since = silent_since ${back},
      bad_at = bad_at ${back}, bad_alert_at = bad_alert_at ${back}, good_at = good_at ${back}`,
  )
  await database.pool.query(`update webhook_request set received_at = received_at ${back}`)
  const deps = { db: database.db, secretKey: SERVICE_KEY, log: createLog('silent') }
  await watchEndpoints(deps, new AbortController().signal)
}

type Row = {
  kind: string
  phase: string
  severity: string
  title: string
  text: string
  path: string
  incident: string | null
  isOpen: boolean | null
  workspaceId: string
}

async function raised(): Promise<Row[]> {
  const { rows } = await database.pool.query<Row>(
    `select a.kind, a.phase, a.severity, a.title, a.text, a.path, a.workspace_id as "workspaceId",
      i.key as incident, i.resolved_at is null as "isOpen"
    from alert a left join alert_incident i on i.id = a.incident_id order by a.id`,
  )
  return rows
}

const kinds = async () => (await raised()).map(({ kind, phase }) => `${kind} ${phase}`)

async function call({ url }: Endpoint, body = '{"order": 1}', headers = {}): Promise<void> {
  expect((await fetch(url, { method: 'POST', body, headers })).status).toBe(200)
}

const signed = (body: string, secret = 'hush') => ({
  'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
})

describe('the alerts of an endpoint', () => {
  it('are off by default, are changed one by one, and belong to their owner', async () => {
    const endpoint = await portreeve.makeEndpoint()
    expect(endpoint.alerts).toEqual(NONE)
    const change = (body: object, token?: string) =>
      portreeve.api('PUT', `/${endpoint.id}`, { alerts: body }, token)
    expect((await change({ silentAfterMinutes: 60 })).json.endpoint.alerts).toEqual({
      ...NONE,
      silentAfterMinutes: 60,
    })
    const both = { ...NONE, silentAfterMinutes: 60, calledEveryMinutes: 1_440 }
    expect((await change({ calledEveryMinutes: 1_440 })).json.endpoint.alerts).toEqual(both)
    expect((await portreeve.api('GET', `/${endpoint.id}`)).json.endpoint.alerts).toEqual(both)
    expect((await portreeve.api('GET', '')).json.endpoints[0]?.alerts).toEqual(both)
    expect((await change({ silentAfterMinutes: 5 }, bob.token)).status).toBe(404)
    expect((await change({ silentAfterMinutes: 5 }, '')).status).toBe(401)
    await change(NONE)
    expect((await database.pool.query('select from webhook_alert')).rowCount).toBe(0)
  })

  it('are bounded, and need a signature scheme to verify', async () => {
    for (const [alerts, path] of [
      [{ silentAfterMinutes: 4 }, 'alerts.silentAfterMinutes'],
      [{ silentAfterMinutes: 43_201 }, 'alerts.silentAfterMinutes'],
      [{ calledEveryMinutes: 14 }, 'alerts.calledEveryMinutes'],
      [{ calledEveryMinutes: 15.5 }, 'alerts.calledEveryMinutes'],
      [{ badSignature: true }, 'alerts.badSignature'],
    ] as const) {
      const { status, json } = await portreeve.api('POST', '', { alerts })
      expect([status, json.details[0]?.path]).toEqual([400, path])
    }
    const signature = { scheme: 'github', secret: 'hush' }
    const alerts = { badSignature: true }
    const { id, alerts: made } = await portreeve.makeEndpoint({ signature, alerts })
    expect(made).toEqual({ ...NONE, badSignature: true })
    const { json } = await portreeve.api('PUT', `/${id}`, { signature: null })
    expect(json.endpoint.alerts).toEqual(NONE)
  })

  it('end with the endpoint', async () => {
    const endpoint = await portreeve.makeEndpoint({ alerts: { silentAfterMinutes: 5 } })
    await call(endpoint)
    await pass()
    await pass(6)
    expect(await raised()).toMatchObject([{ kind: 'webhook.silent', isOpen: true }])
    await portreeve.api('DELETE', `/${endpoint.id}`)
    expect(await raised()).toMatchObject([{ isOpen: false }])
    expect((await database.pool.query('select from webhook_alert')).rowCount).toBe(0)
  })
})

describe('webhook.called', () => {
  it('reports the first request at once, and further ones after the interval with their number', async () => {
    const endpoint = await portreeve.makeEndpoint({
      label: 'shop orders',
      alerts: { calledEveryMinutes: 60 },
    })
    await pass()
    expect(await raised()).toEqual([])
    await call(endpoint)
    await pass()
    await call(endpoint)
    await call(endpoint)
    await pass()
    await pass(30)
    expect(await raised()).toMatchObject([
      {
        kind: 'webhook.called',
        phase: 'once',
        severity: 'info',
        title: 'shop orders received 1 request',
        path: `/hooks/${endpoint.id}`,
        incident: null,
        workspaceId: portreeve.alice.id,
      },
    ])
    await call(endpoint)
    await pass(31)
    const second = (await raised())[1]
    expect(second?.title).toBe('shop orders received 3 requests')
    expect(second?.text).toMatch(/ since 20\d\d-.* UTC\. The last one arrived at /)
    await pass(120)
    expect(await raised()).toHaveLength(2)
  })

  it('counts requests that were deleted meanwhile, and none from before it was turned on', async () => {
    const endpoint = await portreeve.makeEndpoint({ label: 'shop' })
    await call(endpoint)
    await portreeve.api('PUT', `/${endpoint.id}`, { alerts: { calledEveryMinutes: 15 } })
    await call(endpoint)
    await call(endpoint)
    await portreeve.api('DELETE', `/${endpoint.id}/requests`)
    await call(endpoint)
    await pass()
    await pass(5)
    expect((await raised()).map(({ title }) => title)).toEqual(['shop received 3 requests'])
  })

  it('is raised once by several instances', async () => {
    const made = await Promise.all(
      Array.from({ length: 20 }, () =>
        portreeve.makeEndpoint({ alerts: { calledEveryMinutes: 60 } }),
      ),
    )
    await Promise.all(made.map((endpoint) => call(endpoint)))
    await Promise.all([pass(), pass(), pass()])
    expect(await raised()).toHaveLength(20)
  })
})

describe('webhook.silent', () => {
  it('is raised once after the interval, and resolved by the next request', async () => {
    const endpoint = await portreeve.makeEndpoint({
      label: 'backup',
      alerts: { silentAfterMinutes: 60 },
    })
    await pass(120)
    expect(await raised()).toEqual([])
    await call(endpoint)
    await pass()
    await pass(59)
    expect(await raised()).toEqual([])
    await pass(2)
    await pass(200)
    expect(await raised()).toMatchObject([
      {
        kind: 'webhook.silent',
        phase: 'open',
        severity: 'error',
        title: 'backup received no request for 60 minutes',
        incident: `webhook/silent/${endpoint.id}`,
        path: `/hooks/${endpoint.id}`,
        isOpen: true,
      },
    ])
    await call(endpoint)
    await pass()
    await pass()
    expect((await raised()).slice(1)).toMatchObject([
      {
        kind: 'webhook.resumed',
        phase: 'resolved',
        severity: 'info',
        title: 'Resolved: backup receives requests again',
        text: expect.stringMatching(/after 4 hours without one\.$/),
        isOpen: false,
      },
    ])
    await pass(61)
    expect(await kinds()).toEqual([
      'webhook.silent open',
      'webhook.resumed resolved',
      'webhook.silent open',
    ])
  })

  it('keeps its clock where the requests are deleted', async () => {
    const endpoint = await portreeve.makeEndpoint({ alerts: { silentAfterMinutes: 60 } })
    await call(endpoint)
    await pass()
    await portreeve.api('DELETE', `/${endpoint.id}/requests`)
    await pass(61)
    expect(await kinds()).toEqual(['webhook.silent open'])
  })

  it('starts its clock anew when it is turned on, and after a downtime of the service', async () => {
    const endpoint = await portreeve.makeEndpoint()
    await call(endpoint)
    await database.pool.query(`update webhook_request set received_at = now() - interval '2 days'`)
    await portreeve.api('PUT', `/${endpoint.id}`, { alerts: { silentAfterMinutes: 60 } })
    await pass()
    expect(await raised()).toEqual([])
    await database.pool.query(
      `update webhook_watch set last_pass_at = now() - interval '10 minutes'`,
    )
    await pass(70)
    expect(await raised()).toEqual([])
    await database.pool.query(
      `update webhook_watch set watched_since = now() - interval '61 minutes'`,
    )
    await pass()
    expect(await kinds()).toEqual(['webhook.silent open'])
  })

  it('is raised up to 24 times a day', () => {
    const start = Date.parse('2026-11-24T00:00:00Z')
    const at = (minute: number) => new Date(start + minute * 60_000)
    let state: AlertState = { ...FRESH, silentFrom: at(0), lastRequestAt: at(0) }
    const raisedAt: string[] = []
    // A request every ten minutes, where one is expected every five.
    for (let minute = 1; minute <= 48 * 60; minute++) {
      const newest = minute % 10 === 0 ? { seq: minute, receivedAt: at(minute) } : null
      const endpoint = { ...WATCHED, silentAfterMinutes: 5, newest, state }
      const verified = { seenSeq: minute, hasMore: false, bad: null, goodAt: null }
      const watched = { now: at(minute), watchedSince: at(0) }
      const { alerts, state: next } = evaluateEndpoint(endpoint, verified, watched)
      state = next
      raisedAt.push(...alerts.map((alert) => alert.at.toISOString().slice(0, 10)))
    }
    expect(raisedAt.filter((day) => day === '2026-11-24')).toHaveLength(24)
    expect(raisedAt.filter((day) => day === '2026-11-25')).toHaveLength(24)
  })

  it('ends without an alert when its interval changes', async () => {
    const endpoint = await portreeve.makeEndpoint({ alerts: { silentAfterMinutes: 60 } })
    await call(endpoint)
    await pass()
    await pass(61)
    await portreeve.api('PUT', `/${endpoint.id}`, { alerts: { silentAfterMinutes: 1_440 } })
    await pass(60)
    expect(await raised()).toMatchObject([{ kind: 'webhook.silent', isOpen: false }])
  })
})

describe('webhook.bad-signature', () => {
  const make = () =>
    portreeve.makeEndpoint({
      label: 'shop',
      signature: { scheme: 'github', secret: 'hush' },
      alerts: { badSignature: true },
    })

  it('reports invalid and missing signatures together, hourly, until only valid ones arrive', async () => {
    const endpoint = await make()
    await call(endpoint, 'a', signed('a'))
    await pass()
    expect(await raised()).toEqual([])
    await call(endpoint, 'b', signed('b', 'another secret'))
    await call(endpoint, 'c')
    await pass()
    await call(endpoint, 'd', signed('something else'))
    await pass(10)
    expect(await raised()).toMatchObject([
      {
        kind: 'webhook.bad-signature',
        phase: 'open',
        severity: 'warning',
        title: 'shop received 2 requests without a valid signature',
        text: expect.stringMatching(/The X-Hub-Signature-256 header is missing\.$/),
        incident: `webhook/bad-signature/${endpoint.id}`,
        path: `/hooks/${endpoint.id}`,
      },
    ])
    await call(endpoint, 'e', signed('e'))
    await pass(51)
    expect((await raised())[1]).toMatchObject({
      phase: 'update',
      title: 'shop received 1 request without a valid signature',
      isOpen: true,
    })
    await pass(30)
    expect(await raised()).toHaveLength(2)
    await pass(31)
    expect((await raised()).slice(2)).toMatchObject([
      { kind: 'webhook.good-signature', phase: 'resolved', isOpen: false },
    ])
  })

  it('ignores preflights, and requests from before it was turned on', async () => {
    const endpoint = await portreeve.makeEndpoint({
      signature: { scheme: 'github', secret: 'hush' },
    })
    await call(endpoint)
    await portreeve.api('PUT', `/${endpoint.id}`, { alerts: { badSignature: true } })
    await fetch(endpoint.url, {
      method: 'OPTIONS',
      headers: { origin: 'https://a.example', 'access-control-request-method': 'POST' },
    })
    await portreeve.captured(endpoint, 2)
    await pass()
    expect(await raised()).toEqual([])
  })

  it('reads a burst in several passes, and reports each request once', async () => {
    const endpoint = await make()
    const count = 2 * MAX_VERIFIED_REQUESTS + 10
    for (let sent = 0; sent < count; sent += 41)
      await Promise.all(Array.from({ length: Math.min(41, count - sent) }, () => call(endpoint)))
    for (const later of [0, 0, 0, 61]) await pass(later)
    const counts = (await raised()).map(({ title }) => Number(/\d+/.exec(title)?.[0]))
    expect(counts).toEqual([MAX_VERIFIED_REQUESTS, count - MAX_VERIFIED_REQUESTS])
  })
})
