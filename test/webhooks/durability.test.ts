import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createLog } from '../../src/log.ts'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { startEmbedded, type Embedded } from '../../src/store/embedded.ts'
import { migrate } from '../../src/store/migrate.ts'
import { insertEndpoint } from '../../src/webhooks/endpoints/store.ts'
import { newEndpointToken } from '../../src/webhooks/endpoint-token.ts'
import { SURROUNDINGS } from '../cli/command.ts'

const SECRET_KEY = 'the key of a service that is going to be killed'
/** Few enough for each endpoint that none is trimmed. */
const ENDPOINTS = 10
const PER_ENDPOINT = 900

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

async function startChild(): Promise<{ child: ChildProcess; url: string }> {
  const env = {
    ...SURROUNDINGS,
    DATABASE_URL: store.url,
    PORT: '0',
    ROLES: 'web',
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

async function makeTokens(): Promise<string[]> {
  const rows = Array.from({ length: ENDPOINTS }, () =>
    insertEndpoint(database.db, { workspaceId, token: newEndpointToken() }),
  )
  return (await Promise.all(rows)).map(({ token }) => token)
}

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
