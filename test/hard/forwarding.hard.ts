import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createLog } from '../../src/log.ts'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { startEmbedded, type Embedded } from '../../src/store/embedded.ts'
import { migrate } from '../../src/store/migrate-schema.ts'
import { newEndpointToken } from '../../src/webhooks/endpoint-token.ts'
import { insertEndpoint } from '../../src/webhooks/endpoints/endpoints.sql.ts'
import {
  newDestinationId,
  newDestinationSecret,
  seal,
} from '../../src/webhooks/forwarding/destination-settings.ts'
import { insertDestination } from '../../src/webhooks/forwarding/destinations.sql.ts'
import { startInstance, type Instance } from '../deploy/instance.ts'
import { freePort } from '../free-port.ts'
import { figure } from './figures.ts'

const KILLS = 12
const DELIVERIES = 20_000
/** As many endpoints as keep all of that. */
const ENDPOINTS = 20
const CONCURRENCY = 10
const SENDERS = 32
const SECRET_KEY = 'the key of a service that is killed a dozen times'

/** How long before a kill a request may have been sent whose result was not stored. */
const IN_FLIGHT_MS = 10_000

type Arrival = { id: string; repeat: string; at: number }

let folder: string
let store: Embedded
let database: Database
let instance: Instance
const arrivals: Arrival[] = []
const server = createServer((request, response) => {
  const id = String(request.headers['x-portreeve-request'])
  arrivals.push({ id, repeat: String(request.headers['x-portreeve-repeat']), at: Date.now() })
  // Some are always on their way.
  request.resume().once('end', () => {
    setTimeout(() => response.writeHead(204).end(), Math.random() * 20)
  })
})

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'portreeve-forwarding-'))
  store = await startEmbedded({ dataDir: folder, log: createLog('silent') })
  database = openDatabase(store.url)
  await migrate(database.pool)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(async () => {
  await instance.kill('SIGKILL')
  server.closeAllConnections()
  server.close()
  await database.close()
  await store.stop()
  rmSync(folder, { recursive: true })
})

describe('killed without warning, a dozen times while it forwards 20,000 requests, the service', () => {
  it('delivers all of them, and repeats only what was in flight, marked as repeated', async () => {
    const tokens = await makeEndpoints()
    const env = {
      DATABASE_URL: store.url,
      SECRET_KEY,
      PORT: String(await freePort()),
      DNS_SERVERS: '127.0.0.1:1',
      REQUEST_LIMITS: 'off',
      WEBHOOK_FORWARDING: 'all',
      FORWARD_PRIVATE_TARGETS: '127.0.0.0/8',
    }
    instance = await startInstance(env)
    const sending = send(`http://127.0.0.1:${env.PORT}`, tokens)
    const inFlight = new Set<string>()
    for (let kill = 1; kill <= KILLS; kill++) {
      await arrived((DELIVERIES * kill) / (KILLS + 1))
      await instance.kill('SIGKILL')
      const killedAt = Date.now()
      for (const id of await withoutResult()) {
        const { at } = arrivals.findLast((one) => one.id === id) ?? { at: NaN }
        expect(killedAt - at).toBeLessThan(IN_FLIGHT_MS)
        inFlight.add(id)
      }
      // Otherwise each lease would have to end, which takes half a minute.
      await database.pool.query(
        `update webhook_destination set claimed_until = now() where claimed_until is not null`,
      )
      instance = await startInstance(env)
    }
    await sending
    await expect.poll(countWaiting, { timeout: 120_000, interval: 200 }).toBe(0)

    const first = new Set<string>()
    const repeated = arrivals.filter(({ id }) => first.size === first.add(id).size)
    expect(first.size).toBeGreaterThanOrEqual(DELIVERIES)
    expect(await storedWithoutArrival(first)).toEqual([])
    expect(repeated.filter(({ id }) => !inFlight.has(id))).toEqual([])
    expect(repeated.filter(({ repeat }) => repeat !== 'maybe-delivered')).toEqual([])
    figure(
      `killed ${KILLS} times while it forwarded ${first.size} requests`,
      `all arrived; ${repeated.length} came twice, each marked, and all of them were in flight`,
    )
  })
})

async function makeEndpoints(): Promise<string[]> {
  const plan = 'enterprise'
  const email = 'a@people.test'
  const { id: workspaceId } = await createAccount(database.db, {
    email,
    password: 'a long enough password',
    plan,
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const tokens: string[] = []
  for (let count = 0; count < ENDPOINTS; count++) {
    const endpoint = await insertEndpoint(database.db, { workspaceId, token: newEndpointToken() })
    const id = newDestinationId()
    const settings = { url, headers: [], secret: newDestinationSecret(), previous: null }
    await insertDestination(database.db, {
      id,
      endpointId: endpoint.id,
      workspaceId,
      target: new URL(url).origin,
      sealed: seal(id, settings, SECRET_KEY),
      concurrency: CONCURRENCY,
    })
    tokens.push(endpoint.token)
  }
  return tokens
}

/** Sends until so many are acknowledged. What fails is sent again, as another request. */
async function send(url: string, tokens: string[]): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: SENDERS })
  let acknowledged = 0
  // It is sent about as fast as it is forwarded.
  const isAhead = () => acknowledged > arrivals.length + 2_000 && acknowledged < DELIVERIES
  const sendOne = (token: string) =>
    new Promise<number>((resolve) => {
      httpRequest(`${url}/webhooks/${token}`, { method: 'POST', agent }, (response) => {
        response.resume().once('close', () => resolve(response.statusCode ?? 0))
      })
        .on('error', () => resolve(0))
        .end('x'.repeat(500))
    })
  const work = async (_: unknown, sender: number) => {
    for (let count = sender; acknowledged < DELIVERIES; count++) {
      const status = await sendOne(tokens[count % tokens.length] as string)
      if (status === 200) acknowledged++
      else await sleep(100)
      while (isAhead()) await sleep(20)
    }
  }
  await Promise.all(Array.from({ length: SENDERS }, work))
  agent.destroy()
}

async function arrived(count: number): Promise<void> {
  await expect.poll(() => arrivals.length, { timeout: 200_000, interval: 5 }).toBeGreaterThan(count)
}

/** The requests that arrived, of which no result is stored. */
async function withoutResult(): Promise<string[]> {
  const { rows } = await database.pool.query<{ id: string }>(
    `select request_id as id from webhook_delivery where state = 'sending'`,
  )
  const seen = new Set(arrivals.map(({ id }) => id))
  return rows.map(({ id }) => id).filter((id) => seen.has(id))
}

async function countWaiting(): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    `select count(*)::int as count from webhook_delivery where state <> 'delivered'`,
  )
  return rows[0]?.count ?? -1
}

async function storedWithoutArrival(seen: Set<string>): Promise<string[]> {
  const { rows } = await database.pool.query<{ id: string }>(
    'select request_id as id from webhook_delivery',
  )
  return rows.map(({ id }) => id).filter((id) => !seen.has(id))
}
