import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { issueToken } from '../../src/accounts/tokens/api-tokens.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { accountOn, contents, fill, mail, read } from '../migration/mailbox.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { startProxy, type Proxy } from '../servers/proxy.ts'
import { startInstance, type Instance } from './instance.ts'
import { captureOf, reportOf, startSender } from './load.ts'
import { startNginx, type Nginx } from './nginx.ts'

const MAILBOXES = 10
/** For what takes minutes on a busy machine. */
const LONG = { timeout: 140_000, interval: 200 }
/** A source has 120 reports in five minutes: as many sources as the load needs. */
const SOURCES = Array.from({ length: 200 }, (_, n) => `127.1.${n}.1`)

let database: FreshDatabase
let mailServer: MailServer
let slow: Proxy
let instances: Instance[]
let nginx: Nginx
let token: string
let begunAt: Date

beforeAll(async () => {
  ;[database, mailServer] = await Promise.all([freshDatabase(), startDovecot()])
  slow = await startProxy(mailServer.port, { roundTrip: 150 })
  const email = 'alice@people.test'
  const account = await createAccount(database.db, {
    email,
    password: 'the password of Alice',
    plan: 'enterprise',
  })
  token = (await issueToken(database.db, { accountId: account.id, workspaceId: account.id })).token
  begunAt = new Date()
  const shared = {
    DATABASE_URL: database.url,
    SECRET_KEY: 'the key that all instances have in common',
    BASE_URL: 'http://portreeve.test',
    TRUSTED_PROXIES: '127.0.0.0/8',
    ALLOW_PRIVATE_TARGETS: '127.0.0.0/8,::1',
    DNS_SERVERS: '127.0.0.1:1',
  }
  const roles = ['web', 'web,worker', 'web,worker,smtp']
  instances = await Promise.all(roles.map((ROLES) => startInstance({ ...shared, ROLES })))
  nginx = await startNginx(instances.map(({ url }) => url))
}, 180_000)
afterAll(async () => {
  await nginx.stop()
  await Promise.all(instances.map((instance) => instance.kill()))
  await slow.close()
  await Promise.all([mailServer.stop(), database.drop()])
})

async function api<T>(method: string, path: string, body?: unknown, base = nginx.url): Promise<T> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const response = await fetch(base + path, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  })
  return (await response.json()) as T
}

async function makeEndpoint(settings = {}): Promise<{ id: string; token: string }> {
  return (
    await api<{ endpoint: { id: string; token: string } }>(
      'POST',
      '/api/webhook/endpoints',
      settings,
    )
  ).endpoint
}

async function query<T extends object>(text: string, values: unknown[] = []): Promise<T[]> {
  return (await database.pool.query<T>(text, values)).rows
}

async function count(text: string): Promise<number> {
  return (await query<{ n: number }>(`select count(*)::int as n from ${text}`))[0]?.n ?? 0
}

/** A report through nginx from an address of ours. */
function reportFrom(localAddress: string, ip: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' }
    const sent = httpRequest(
      `${nginx.url}/api/v1/abuse/report`,
      { method: 'POST', localAddress, headers },
      (answer) => {
        answer.resume().once('end', () => resolve(answer.statusCode ?? 0))
      },
    )
    sent.on('error', reject).end(JSON.stringify({ ip, service: 'ssh' }))
  })
}

describe('three instances on one PostgreSQL behind nginx', () => {
  it('give a source 120 reports in all, whichever of them it meets', async () => {
    const sent = Array.from({ length: 180 }, (_, n) => reportFrom('127.2.0.1', `8.9.0.${n}`))
    const statuses = await Promise.all(sent)
    expect(statuses.filter((status) => status === 200)).toHaveLength(120)
    expect(statuses.filter((status) => status === 429)).toHaveLength(60)
  })

  it('all serve a changed endpoint, and 404 for a deleted one', async () => {
    const endpoint = await makeEndpoint({ responseBody: 'one' })
    const answers = () =>
      Promise.all(
        instances.map(async ({ url }) => {
          const response = await fetch(`${url}/webhooks/${endpoint.token}`, { method: 'POST' })
          return response.status === 200 ? response.text() : response.status
        }),
      )
    expect(await answers()).toEqual(['one', 'one', 'one'])
    await api('PUT', `/api/webhook/endpoints/${endpoint.id}`, { responseBody: 'two' })
    await expect.poll(answers).toEqual(['two', 'two', 'two'])
    await api('DELETE', `/api/webhook/endpoints/${endpoint.id}`)
    await expect.poll(answers).toEqual([404, 404, 404])
  })

  it('revoke a token in all of them', async () => {
    const [account] = await query<{ id: string }>('select account_id as id from api_token')
    const other = await issueToken(
      database.db,
      { accountId: account?.id ?? '', workspaceId: account?.id ?? '' },
      'short-lived',
    )
    const statuses = () =>
      Promise.all(
        instances.map(async ({ url }) => {
          const headers = { authorization: `Bearer ${other.token}` }
          return (await fetch(`${url}/api/v1/account`, { headers })).status
        }),
      )
    expect(await statuses()).toEqual([200, 200, 200])
    await api('DELETE', `/api/v1/tokens/${other.id}`)
    await expect.poll(statuses).toEqual([401, 401, 401])
  })

  it(
    'run four migrations at once in all, and lose nothing acknowledged when one is killed under load',
    { timeout: 240_000 },
    async () => {
      const worker = instances[1] as Instance
      const tokens = await Promise.all(
        Array.from({ length: 8 }, async () => (await makeEndpoint()).token),
      )
      const ids = await submitMigrations()
      const captures = startSender(nginx.url, captureOf(tokens))
      const reports = startSender(nginx.url, reportOf(100), { from: SOURCES })
      let most = 0
      const watching = setInterval(() => {
        void count(`pgboss.job where name = 'migration.run' and state = 'active'`).then(
          (running) => (most = Math.max(most, running)),
        )
      }, 50)

      const acknowledged = () =>
        Math.min(captures.tally.acknowledged.size, reports.tally.acknowledged.size)
      await expect.poll(() => most, LONG).toBe(4)
      await expect.poll(acknowledged, LONG).toBeGreaterThan(200)
      await worker.kill('SIGKILL')
      const known = acknowledged()
      await expect.poll(acknowledged, LONG).toBeGreaterThan(known + 200)
      const [captured, reported] = await Promise.all([captures.stop(), reports.stop()])
      await expect.poll(() => count(`migration where status = 'completed'`), LONG).toBe(ids.length)
      clearInterval(watching)

      expect(most).toBe(4)
      expect(await query('select status, error_count from migration group by 1, 2')).toEqual([
        { status: 'completed', error_count: 0 },
      ])
      const here = contents((await read(accountOn(mailServer.port)))['INBOX'])
      for (let n = 0; n < MAILBOXES; n++) {
        expect(contents((await read(accountOn(mailServer.port, `there${n}`)))['INBOX'])).toEqual(
          here,
        )
      }

      const kept = await query<{ place: string }>(
        `select '/webhooks/' || token || path as place from webhook_request r join webhook_endpoint e on e.id = r.endpoint_id`,
      )
      const places = new Set(kept.map(({ place }) => place))
      expect(captured.acknowledged.size).toBeGreaterThan(50)
      expect([...captured.acknowledged].filter((place) => !places.has(place))).toEqual([])

      const heard = new Set(
        (await query<{ address: string }>('select distinct address from abuse_report')).map(
          ({ address }) => address,
        ),
      )
      expect(reported.acknowledged.size).toBeGreaterThan(50)
      expect([...reported.acknowledged].filter((address) => !heard.has(address))).toEqual([])
      // nginx reports running requests as failed, and uses the other instances.
      for (const { others } of [captured, reported])
        expect([...others.keys()].filter((status) => ![0, 502].includes(status))).toEqual([])
      expect((await fetch(`${nginx.url}/readyz`)).status).toBe(200)
    },
  )

  it('enqueue due work once, not once per instance', { timeout: 150_000 }, async () => {
    const due = `pgboss.job where created_on > '${begunAt.toISOString()}' and name = 'monitoring.sweep'`
    await expect.poll(() => count(due), LONG).toBeGreaterThan(1)
    // A minute's work may be enqueued late, and then beside the next minute's.
    const minutes = Math.ceil((Date.now() - begunAt.getTime()) / 60_000) + 1
    const tooOften = await query(
      'select name, count(*) from pgboss.job where created_on > $1 and name = any($2) group by 1 having count(*) > $3',
      [begunAt, ['monitoring.sweep', 'dmarc.names', 'delisting.tend'], minutes],
    )
    expect(await count(due)).toBeGreaterThan(1)
    expect(tooOften).toEqual([])
  })
})

/** One mailbox to many, over a slow line. */
async function submitMigrations(): Promise<string[]> {
  await mailServer.addUser('alice', 'secret')
  await fill(accountOn(mailServer.port), {
    INBOX: Array.from({ length: 400 }, () => ({ body: mail(4_000) })),
  })
  const side = (user: string, port: number) => ({
    host: '127.0.0.1',
    port,
    secure: false,
    user,
    password: 'secret',
  })
  const ids = []
  for (let n = 0; n < MAILBOXES; n++) {
    await mailServer.addUser(`there${n}`, 'secret')
    const body = {
      source: side('alice', mailServer.port),
      destination: side(`there${n}`, slow.port),
      folders: ['INBOX'],
    }
    ids.push((await api<{ migrationId: string }>('POST', '/api/v1/imap/migrate', body)).migrationId)
  }
  return ids
}
