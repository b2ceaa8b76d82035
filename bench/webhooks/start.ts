import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAccount } from '../../src/accounts/accounts.ts'
import { issueToken } from '../../src/accounts/tokens/api-tokens.ts'
import type { Plan } from '../../src/config.ts'
import { createLog } from '../../src/log.ts'
import { openDatabase } from '../../src/store/database.ts'
import { startEmbedded } from '../../src/store/embedded.ts'
import { migrate } from '../../src/store/migrate-schema.ts'
import { freePort } from '../../test/free-port.ts'
import { memoryMb, processUsage } from '../process-usage.ts'

/** Starts a program of this folder as a separate process. Its first line is its URL. */
export type Program = {
  url: string
  process: ChildProcess
  residentMb(): number
  /** The highest resident size so far. */
  peakMb(): number
  /** Processor time so far, which other work on the machine changes less than the time. */
  processorSeconds: () => number
  stop(): Promise<void>
}

export async function startProgram(
  file: string,
  env: Record<string, string> = {},
): Promise<Program> {
  const child = spawn(process.execPath, [join(import.meta.dirname, file)], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(`${file} did not start`)))
  const [line] = (await Promise.race([once(child.stdout.setEncoding('utf8'), 'data'), ended])) as [
    string,
  ]
  return programOf(child, line.trim())
}

function programOf(child: ChildProcess, url: string): Program {
  return {
    url,
    process: child,
    residentMb: () => memoryMb(child.pid ?? 0, 'VmRSS'),
    peakMb: () => memoryMb(child.pid ?? 0, 'VmHWM'),
    processorSeconds: () => processUsage(child.pid ?? 0).seconds,
    async stop() {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}

export type Store = { databaseUrl: string; apiToken: string; stop(): Promise<void> }

/** Starts the bundled PostgreSQL with its default durability, and one account. */
export async function startStore(plan: Plan = 'pro'): Promise<Store> {
  const dataDir = mkdtempSync(join(tmpdir(), 'portreeve-bench-'))
  const embedded = await startEmbedded({ dataDir, log: createLog('silent') })
  const { db, pool, close } = openDatabase(embedded.url)
  await migrate(pool)
  const account = {
    email: 'bench@people.test',
    password: 'a long enough password',
    plan,
  }
  const { id } = await createAccount(db, account)
  const { token } = await issueToken(db, { accountId: id, workspaceId: id })
  await close()
  return {
    databaseUrl: embedded.url,
    apiToken: token,
    async stop() {
      await embedded.stop()
      rmSync(dataDir, { recursive: true })
    },
  }
}

/**
 * Starts the service on this database, on a free port: from the sources, or the installed package
 * whose folder is in PORTREEVE.
 */
export function startPortreeve(
  { databaseUrl }: Store,
  settings: Record<string, string> = {},
): Promise<Program> {
  const env = {
    DATABASE_URL: databaseUrl,
    PORT: '0',
    ROLES: 'web',
    SMTP_LISTEN: 'off',
    REQUEST_LIMITS: 'off',
    SECRET_KEY: 'the key of the benchmark, which is long enough',
    BASE_URL: 'http://bench.test',
    ...settings,
  }
  const { PORTREEVE: folder } = process.env
  return folder ? startInstalled(folder, env) : startProgram('service.ts', env)
}

async function startInstalled(folder: string, env: Record<string, string>): Promise<Program> {
  const [port, metricsPort] = [await freePort(), await freePort()]
  const metrics = `127.0.0.1:${metricsPort}`
  const child = spawn(process.execPath, [join(folder, 'bin/portreeve.js'), 'serve', '--json'], {
    env: { ...env, PORT: String(port), METRICS_LISTEN: metrics, LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  // Every role has this server.
  while (!(await isReady(`http://${metrics}/readyz`))) {
    if (child.exitCode !== null) throw new Error(`${folder} did not start`)
    await sleep(20)
  }
  return programOf(child, `http://127.0.0.1:${port}`)
}

function isReady(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  )
}
