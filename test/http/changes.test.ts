import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { changeAccount, setPassword } from '../../src/accounts/accounts.ts'
import { startService, type RunningService } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { ACCOUNT_LIMITS } from '../../src/http/limits/request-limits.ts'
import { createLog } from '../../src/log.ts'
import { readEvents } from '../../src/net/http/event-stream.ts'
import { notifyChange } from '../../src/store/changes.ts'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { SERVICE_KEY, startTestService, type TestService, type Person } from '../service.ts'
import { itAlone } from '../scaled/alone.ts'

type Told = { room: string; id: string | null }

let house: TestService
let other: RunningService
let database: Database
let [alice, bob, charlie, admin]: Person[] = []
beforeAll(async () => {
  house = await startTestService()
  const settings = { DATABASE_URL: house.databaseUrl, PORT: '0', ROLES: 'web', SMTP_LISTEN: 'off' }
  const config = readConfig({
    ...settings,
    SECRET_KEY: SERVICE_KEY,
  })
  other = await startService(config, createLog('silent'))
  database = openDatabase(house.databaseUrl)
  ;[alice, bob, charlie] = await Promise.all(
    ['Alice', 'Bob', 'Charlie'].map((name) => house.addPerson(name)),
  )
  admin = await house.addPerson('Adele', { admin: true })
})
afterAll(async () => {
  await database.close()
  await other.stop()
  await house.stop()
})

const stopping: AbortController[] = []
afterEach(() => stopping.splice(0).forEach((each) => each.abort()))

/** Follows in the background, as a tab does: by cookie, or by token. */
async function follow(headers: Record<string, string>, base = house.url) {
  const stop = new AbortController()
  stopping.push(stop)
  const response = await fetch(new URL('/api/v1/events', base), { headers, signal: stop.signal })
  const told: Told[] = []
  const names: string[] = []
  let hasEnded = false
  void (async () => {
    for await (const { name, data } of readEvents(
      response.body!.pipeThrough(new TextDecoderStream()),
    )) {
      names.push(name)
      told.push(JSON.parse(data) as Told)
    }
    hasEnded = true
  })().catch(() => {})
  const until = (room: string, id?: string) =>
    vi.waitFor(
      () =>
        expect(told).toContainEqual(
          id === undefined ? expect.objectContaining({ room }) : { room, id },
        ),
      3_000,
    )
  return { response, told, names, until, hasEnded: () => hasEnded, stop: () => stop.abort() }
}

/**
 * Changes are sent in their order: with this one, a stream has got all before it.
 * @returns its id
 */
async function notifyLast({ id } = alice as Person): Promise<string> {
  const last = randomUUID()
  await notifyChange(database.db, id, 'checks', last)
  return last
}

/** The topics of what concerns more than one workspace, which a new service changes as well. */
const isShared = ({ room }: Told) => room === 'attacks' || room === 'administration'

const by = ({ token } = alice as Person) => ({ authorization: `Bearer ${token}` })

async function api(method: string, path: string, body?: object, { token } = alice as Person) {
  const headers = body ? { 'content-type': 'application/json' } : {}
  const answer = await house.request(path, {
    token,
    method,
    headers,
    body: body && JSON.stringify(body),
  })
  return (await answer.json()) as {
    data: { id: string }
    endpoint: { id: string; token: string }
    id: string
  }
}

async function signIn({ email, password }: Person): Promise<Record<string, string>> {
  const headers = { origin: house.url, 'content-type': 'application/json' }
  const body = JSON.stringify({ email, password })
  const answer = await house.request('/api/auth/sign-in/email', { method: 'POST', headers, body })
  expect(answer.status).toBe(200)
  return {
    cookie: answer.headers
      .getSetCookie()
      .map((each) => each.split(';')[0])
      .join('; '),
  }
}

describe('a change in an account', () => {
  it('is sent in every instance, to that account only', async () => {
    const streams = await Promise.all([follow(by()), follow(by(), other.url)])
    const strangers = await Promise.all(
      [charlie, admin].map(async (person, n) => {
        const stream = await follow(by(person), n === 0 ? house.url : other.url)
        const hear = async () => {
          const id = await notifyLast(person)
          await stream.until('checks', id)
          return stream.told.splice(0).filter((one) => !isShared(one) && one.id !== id)
        }
        // What a new stream repeats.
        await hear()
        return hear
      }),
    )
    const { data } = await api('POST', '/api/v1/monitoring/hosts', { host: '9.9.9.9' })
    for (const { until } of streams) {
      await until('monitoring', data.id)
    }
    const { endpoint } = await api('POST', '/api/webhook/endpoints', {})
    await house.request(`/webhooks/${endpoint.token}`, { method: 'POST', body: 'x' })
    for (const { told, until } of streams) {
      await until('requests')
      expect(told).toContainEqual({ room: 'webhooks', id: endpoint.id })
      expect(told).toContainEqual({ room: 'requests', id: endpoint.id })
    }
    for (const hear of strangers) expect(await hear()).toEqual([])
  })

  it('is sent for every module', async () => {
    const { until } = await follow(by(bob))
    const { data } = await api(
      'POST',
      '/api/v1/dmarc/domains',
      { domain: 'rooms.example.com' },
      bob,
    )
    await until('dmarc', data.id)
    const { id } = await api('POST', '/api/v1/abuse/tokens', { label: 'x' }, bob)
    await until('attacks', id)
    await api(
      'POST',
      '/api/v1/alerts/channels',
      { type: 'webhook', url: 'http://127.0.0.1/x' },
      bob,
    )
    await until('alerts')
  })

  it('is sent quickly, and bursts are combined', async () => {
    const { told, until } = await follow(by())
    const begun = performance.now()
    await notifyChange(database.db, alice?.id ?? '', 'delisting', 'one')
    await until('delisting')
    expect(performance.now() - begun).toBeLessThan(10_000)
    const storm = performance.now()
    for (let i = 0; i < 400; i++)
      await notifyChange(database.db, alice?.id ?? '', 'migrations', i % 2 ? 'odd' : 'even')
    const seconds = (performance.now() - storm) / 1_000
    await until('checks', await notifyLast())
    const those = told.filter(({ room }) => room === 'migrations')
    expect(new Set(those.map(({ id }) => id))).toEqual(new Set(['odd', 'even']))
    expect(those.length).toBeLessThanOrEqual(2 * Math.ceil(4 * (seconds + 1)))
  })

  it('is sent as a whole after too many changes in a module', async () => {
    const { told } = await follow(by())
    const those = Array.from({ length: 50 }, (_, at) => `host-${at}`)
    await database.db.transaction().execute(async (trx) => {
      for (const id of those) await notifyChange(trx, alice?.id ?? '', 'monitoring', id)
    })
    await vi.waitFor(() => expect(told).toContainEqual({ room: 'monitoring', id: null }))
    expect(told.length).toBeLessThan(12)
  })

  it('is replayed to a client that connects a moment later', async () => {
    const earlier = await follow(by(bob))
    const id = await notifyLast(charlie)
    await earlier.until('checks', await notifyLast(bob))
    const { until } = await follow(by(charlie))
    await until('checks', id)
  })

  it('is sent to administrators only where it concerns the administration', async () => {
    const [theirs, mine] = await Promise.all([follow(by(admin)), follow(by(bob))])
    await notifyChange(database.db, 'administrators', 'administration', 'theirs')
    await notifyChange(database.db, 'everybody', 'attacks', 'ours')
    await mine.until('attacks', 'ours')
    await theirs.until('administration', 'theirs')
    expect(mine.told.map(({ room }) => room)).not.toContain('administration')
  })

  it('is followed by `missed` when notifications were interrupted', async () => {
    const { names } = await follow(by())
    const mine = `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'portreeve notifications'
      and datname = current_database()`
    await database.pool.query(mine)
    await vi.waitFor(() => expect(names).toContain('missed'), 5_000)
  })
})

describe('the stream', () => {
  it('ends when its token is revoked, while others continue', async () => {
    const cookie = await signIn(bob as Person)
    const made = await house.request('/api/v1/tokens', {
      method: 'POST',
      headers: { ...cookie, origin: house.url, 'content-type': 'application/json' },
      body: JSON.stringify({ label: 'to be revoked' }),
    })
    const { id, token } = (await made.json()) as { id: string; token: string }
    const [gone, stays] = await Promise.all([
      follow(by({ token } as Person), other.url),
      follow(by(bob)),
    ])
    await api('DELETE', `/api/v1/tokens/${id}`, undefined, bob)
    await vi.waitFor(() => expect(gone.hasEnded()).toBe(true), 3_000)
    await stays.until('account')
    expect(stays.hasEnded()).toBe(false)
  })

  it('ends on sign-out, here or elsewhere, and on a password change', async () => {
    const [here, elsewhere] = [await signIn(bob as Person), await signIn(bob as Person)]
    const tabs = await Promise.all([follow(here), follow(elsewhere, other.url)])
    const headers = { ...here, origin: house.url, 'content-type': 'application/json' }
    await house.request('/api/auth/revoke-other-sessions', { method: 'POST', headers, body: '{}' })
    await vi.waitFor(() => expect(tabs[1]?.hasEnded()).toBe(true), 3_000)
    expect(tabs[0]?.hasEnded()).toBe(false)
    await house.request('/api/auth/sign-out', { method: 'POST', headers, body: '{}' })
    await vi.waitFor(() => expect(tabs[0]?.hasEnded()).toBe(true), 3_000)
    const again = await follow(await signIn(bob as Person))
    await setPassword(database.db, bob?.email ?? '', 'the password of Bob')
    await vi.waitFor(() => expect(again.hasEnded()).toBe(true), 3_000)
  })

  it('ends when the role of its account changes', async () => {
    const dora = await house.addPerson('Dora', { admin: true })
    const { hasEnded } = await follow(by(dora))
    await changeAccount(database.db, dora.id, { admin: false })
    await vi.waitFor(() => expect(hasEnded()).toBe(true), 3_000)
  })

  itAlone('the limit protects the memory of one instance')(
    'is rejected without an account, and beyond the limit of an account',
    async () => {
      expect((await house.request('/api/v1/events')).status).toBe(401)
      const eve = await house.addPerson('Eve')
      const tabs = await Promise.all(
        Array.from({ length: ACCOUNT_LIMITS['change streams'].maxConcurrent }, () =>
          follow(by(eve)),
        ),
      )
      expect(tabs.map(({ response }) => response.status)).toEqual(tabs.map(() => 200))
      const refused = await house.request('/api/v1/events', { token: eve.token })
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2'])
      expect(await refused.json()).toMatchObject({ code: 'rate_limited' })
      tabs[0]?.stop()
      await vi.waitFor(async () => expect((await follow(by(eve))).response.status).toBe(200))
    },
  )

  it('ends when the service stops', async () => {
    const settings = {
      DATABASE_URL: house.databaseUrl,
      PORT: '0',
      ROLES: 'web',
      SMTP_LISTEN: 'off',
    }
    const config = readConfig({
      ...settings,
      SECRET_KEY: SERVICE_KEY,
    })
    const third = await startService(config, createLog('silent'))
    const { hasEnded } = await follow(by(), third.url)
    const begun = performance.now()
    await third.stop()
    await vi.waitFor(() => expect(hasEnded()).toBe(true))
    expect(performance.now() - begun).toBeLessThan(15_000)
  })
})
