import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createLog } from '../../src/log.ts'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { startEmbedded, type Embedded } from '../../src/store/embedded.ts'
import { migrate } from '../../src/store/migrate-schema.ts'
import { insertEndpoint } from '../../src/webhooks/endpoints/endpoints.sql.ts'
import { newEndpointToken } from '../../src/webhooks/endpoint-token.ts'
import {
  newDestinationId,
  newDestinationSecret,
  seal,
} from '../../src/webhooks/forwarding/destination-settings.ts'
import { insertDestination } from '../../src/webhooks/forwarding/destinations.sql.ts'
import { SURROUNDINGS } from '../cli/command.ts'
import { startReceiver } from '../servers/receiver.ts'

const SECRET_KEY = 'the key of a service that is going to be killed'
/** Few enough for each endpoint that none is trimmed. */
const ENDPOINTS = 10
const PER_ENDPOINT = 900

const patience = { interval: 10, timeout: 40_000 }

let folder: string
let store: Embedded
let database: Database
let workspaceId: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'portreeve-durability-'))
  store = await startEmbedded({ dataDir: folder, log: createLog('silent') })
  database = openDatabase(store.url)
  await migrate(database.pool)
  const account = await createAccount(database.db, {
    email: 'a@people.test',
    password: 'a long enough password',
    plan: 'pro',
  })
  workspaceId = account.id
}, 120_000)
afterAll(async () => {
  await database.close()
  await store.stop()
  rmSync(folder, { recursive: true })
})

async function startChild(roles = 'web'): Promise<{ child: ChildProcess; url: string }> {
  const env = {
    ...SURROUNDINGS,
    DATABASE_URL: store.url,
    PORT: '0',
    ROLES: roles,
    FORWARD_PRIVATE_TARGETS: '127.0.0.0/8',
    SMTP_LISTEN: 'off',
    SECRET_KEY,
  }
  const child = spawn(process.execPath, [join(import.meta.dirname, 'child.ts')], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
  return { child, url: line.trim().replace('localhost', '127.0.0.1') }
}

/**
 * Sends on many connections until stopped. @returns acknowledged requests, and the other statuses
 */
function load(url: string, tokens: string[]) {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const acknowledged = new Set<string>()
  const others = new Set<number>()
  const stopping = new AbortController()
  let next = 0
  const sendOne = (path: string) =>
    new Promise<number>((resolve) => {
      const sent = httpRequest(
        `${url}${path}`,
        { method: 'POST', agent },
        (response: IncomingMessage) => {
          response.resume().once('end', () => resolve(response.statusCode ?? 0))
        },
      )
      sent.on('error', () => resolve(0)).end('x'.repeat(1_000))
    })
  async function keepSending(): Promise<void> {
    while (!stopping.signal.aborted && next < ENDPOINTS * PER_ENDPOINT) {
      const path = `/webhooks/${tokens[next % tokens.length]}/${next++}`
      const status = await sendOne(path)
      if (status === 200) acknowledged.add(path)
      else others.add(status)
      if (status !== 200) await sleep(20)
    }
  }
  const done = Promise.all(Array.from({ length: 16 }, keepSending))
  return {
    acknowledged,
    others,
    async stop() {
      stopping.abort()
      await done
      agent.destroy()
    },
  }
}

const acknowledges = ({ acknowledged }: ReturnType<typeof load>, atLeast: number) =>
  expect
    .poll(() => acknowledged.size, { interval: 10, timeout: 40_000 })
    .toBeGreaterThanOrEqual(atLeast)

async function stored(): Promise<Set<string>> {
  const { rows } = await database.pool.query<{ place: string }>(
    `select '/webhooks/' || token || path as place from webhook_request r join webhook_endpoint e on e.id = r.endpoint_id`,
  )
  return new Set(rows.map(({ place }) => place))
}

function makeEndpoints() {
  const rows = Array.from({ length: ENDPOINTS }, () =>
    insertEndpoint(database.db, { workspaceId, token: newEndpointToken() }),
  )
  return Promise.all(rows)
}

const makeTokens = async () => (await makeEndpoints()).map(({ token }) => token)

const missingFrom = (found: Set<string>, wanted: Set<string>) =>
  [...wanted].filter((path) => !found.has(path))

describe('a request that was acknowledged', () => {
  it('is stored after kill -9 of the service under load', async () => {
    const { child, url } = await startChild()
    const loading = load(url, await makeTokens())
    await acknowledges(loading, 1_000)
    child.kill('SIGKILL')
    await once(child, 'exit')
    await loading.stop()
    expect(missingFrom(await stored(), loading.acknowledged)).toEqual([])
    expect(loading.others).toContain(0)
  }, 60_000)

  it('is stored after kill -9 of the database under load, and the senders of others got an error', async () => {
    const { child, url } = await startChild()
    const loading = load(url, await makeTokens())
    await acknowledges(loading, 1_000)
    process.kill(store.pid as number, 'SIGKILL')
    await acknowledges(loading, loading.acknowledged.size + 500)
    await loading.stop()
    expect([...loading.others].every((status) => status === 503)).toBe(true)
    expect(missingFrom(await stored(), loading.acknowledged)).toEqual([])
    const { rows } = await database.pool.query<{ captured: number; counted: number }>(
      `select request_count as counted, (select count(*) from webhook_request where endpoint_id = e.id) as captured from webhook_endpoint e`,
    )
    for (const { captured, counted } of rows) expect(counted).toBe(captured)
    child.kill('SIGKILL')
    await once(child, 'exit')
  }, 90_000)
})

describe('a request that is forwarded', () => {
  it('arrives after kill -9 of the service, and what may have arrived before is marked', async () => {
    const receiver = await startReceiver((response) => {
      // Some are on their way when the service is killed.
      setTimeout(() => response.writeHead(204).end(), 20)
    })
    onTestFinished(() => receiver.close())
    const [endpoint, ...others] = await makeEndpoints()
    if (!endpoint) throw new Error('no endpoint was made')
    await addDestination(endpoint.id, receiver.origin)
    const first = await startChild('web,worker')
    const loading = load(first.url, [endpoint.token, ...others.map(({ token }) => token)])
    await expect.poll(() => receiver.received.length, patience).toBeGreaterThan(50)
    first.child.kill('SIGKILL')
    await once(first.child, 'exit')
    await loading.stop()
    const before = receiver.received.length
    // Otherwise its lease would have to end.
    await database.pool.query('update webhook_destination set claimed_until = now()')
    const second = await startChild('worker')
    const waiting = async () => {
      const { rows } = await database.pool.query<{ state: string }>(
        `select state from webhook_delivery where state <> 'delivered'`,
      )
      return rows
    }
    await expect.poll(waiting, patience).toEqual([])
    second.child.kill('SIGKILL')
    await once(second.child, 'exit')
    const wanted = [...loading.acknowledged].filter((path) => path.includes(endpoint.token))
    const paths = receiver.received.map(({ path }) => `/webhooks/${endpoint.token}${path}`)
    expect(missingFrom(new Set(paths), new Set(wanted))).toEqual([])
    const seen = new Set<string>()
    const repeats = receiver.received.flatMap(({ headers }) => {
      const id = String(headers['webhook-id'])
      const isRepeated = seen.has(id)
      seen.add(id)
      return isRepeated ? [headers['x-portreeve-repeat']] : []
    })
    expect(receiver.received.length).toBeGreaterThan(before)
    expect(new Set(repeats)).toEqual(new Set(repeats.length > 0 ? ['maybe-delivered'] : []))
  }, 90_000)
})

async function addDestination(endpointId: string, url: string): Promise<void> {
  const id = newDestinationId()
  const settings = { url, headers: [], secret: newDestinationSecret(), previous: null }
  const sealed = seal(id, settings, SECRET_KEY)
  await insertDestination(database.db, { id, endpointId, workspaceId, target: url, sealed })
}
