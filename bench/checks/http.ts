// What a request costs beyond bare node:http: /healthz and an authenticated trivial route,
// interleaved with the bare server.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { createAccount } from '../../src/accounts/accounts.ts'
import { issueToken } from '../../src/accounts/tokens/api-tokens.ts'
import { startService } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/log.ts'
import { openDatabase } from '../../src/store/database.ts'
import { reachEmbedded } from '../../src/store/embedded.ts'

const ROUNDS = 3
const SECONDS = 3
const CONNECTIONS = 64

type Role = 'bare' | 'service'
type Ready = { url: string; token: string }

/** Runs the comparison; takes about a minute and a half. Returns the printed table. */
export async function run(): Promise<string> {
  const bare = await start('bare')
  const service = await start('service')
  const authorization = { authorization: `Bearer ${service.token}` }
  const contenders = [
    { name: 'bare `node:http`', url: bare.url, headers: {} },
    { name: '`/healthz`', url: `${service.url}/healthz`, headers: {} },
    {
      name: '`/api/v1/account` with a token',
      url: `${service.url}/api/v1/account`,
      headers: authorization,
    },
  ]
  const figures = contenders.map(() => [] as number[])
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, contender] of contenders.entries())
      figures[i]?.push(await load(contender.url, contender.headers))
  }
  for (const { child } of [bare, service]) child.kill('SIGTERM')
  await Promise.all([bare, service].map(({ child }) => once(child, 'exit')))
  const ratios = (figure: number[]) =>
    median(figure.map((value, round) => value / (figures[0]?.[round] ?? 1)))
  const rows = contenders.map(
    ({ name }, i) =>
      `| ${name} | ${Math.round(median(figures[i] ?? []))} | ${ratios(figures[i] ?? []).toFixed(2)} |`,
  )
  return [
    '| 64 connections | requests/s | of bare, round by round |',
    '|---|---|---|',
    ...rows,
  ].join('\n')
}

async function load(url: string, headers: Record<string, string>): Promise<number> {
  const { requests, non2xx } = await autocannon({
    url,
    headers,
    connections: CONNECTIONS,
    duration: SECONDS,
  })
  if (non2xx > 0) throw new Error(`${url} answered ${non2xx} times with something else than 2xx`)
  return requests.average
}

function median(figures: number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN
}

/** Each server runs in its own process, as in production. This process generates the load. */
async function start(role: Role): Promise<Ready & { child: ChildProcess }> {
  const child = fork(import.meta.filename, [role])
  const [ready] = (await once(child, 'message')) as [Ready]
  return { ...ready, child }
}

async function serveBare(): Promise<Ready> {
  const body = JSON.stringify({ status: 'ok' })
  const server = createServer((_request, response) => {
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
      .end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  process.once('SIGTERM', () => process.exit(0))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: '' }
}

async function serveService(): Promise<Ready> {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-bench-'))
  const log = createLog('warn')
  const service = await startService(
    readConfig({
      DATA_DIR: folder,
      PORT: '0',
      SMTP_LISTEN: 'off',
      LOG_LEVEL: 'warn',
      REQUEST_LIMITS: 'off',
    }),
    log,
  )
  const { url } = await reachEmbedded({ dataDir: folder, log })
  const { db, close } = openDatabase(url)
  const account = await createAccount(db, {
    email: 'alice@example.com',
    password: 'a password of hers',
    plan: 'free',
  })
  const { token } = await issueToken(db, { accountId: account.id, workspaceId: account.id })
  await close()
  process.once('SIGTERM', () => {
    void service.stop().then(() => {
      rmSync(folder, { recursive: true })
      process.exit(0)
    })
  })
  return { url: service.url.replace('localhost', '127.0.0.1'), token }
}

if (process.send)
  process.send(process.argv[2] === 'bare' ? await serveBare() : await serveService())
else if (import.meta.main) console.log(await run())
