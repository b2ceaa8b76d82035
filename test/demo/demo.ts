import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { ROOT } from '../../src/version.ts'
import { emptyDatabase } from '../database.ts'
import { freePort } from '../free-port.ts'

export type TestDemo = {
  url: string
  /** What the process connected to, besides its database; what it looked up. */
  connections(): string[]
  /** Begins the next day. */
  nextDay(): void
  stop(): Promise<void>
}

/** Runs a demo until it listens or ends. It has a process of its own, because it loses its network. */
export function runDemo(databaseUrl: string, port: number, file: string) {
  const env = {
    PATH: process.env['PATH'],
    DEMO: 'true',
    DATABASE_URL: databaseUrl,
    HOST: '127.0.0.1',
    PORT: String(port),
    CONNECTIONS_FILE: file,
    // Shown in the pictures of the README.
    WEBHOOK_BASE_URL: 'https://hooks.seagull.example',
    // Servers that it must not ask.
    DNS_SERVERS: '127.0.0.1:9',
    SMTP_URL: 'smtp://127.0.0.1:9',
  }
  const script = join(ROOT, 'src', 'cli', 'main.ts')
  const start = `(await import(${JSON.stringify(script)})).main(['serve', '--json']).then((code) => process.exit(code))`
  const recorder = join(import.meta.dirname, 'record-connections.ts')
  const args = ['--import', recorder, '--input-type=module', '--eval', start]
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const { promise: ready, resolve } = Promise.withResolvers<void>()
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => {
      output += bytes.toString()
      if (output.includes('Portreeve is ready')) resolve()
    })
  const ended = once(child, 'exit').then(() => output)
  const signal = (name: NodeJS.Signals) => child.kill(name)
  return { ready, ended, signal }
}

/** Starts a demo with a database of its own. */
export async function startTestDemo(): Promise<TestDemo> {
  const database = await emptyDatabase()
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-demo-'))
  const file = join(folder, 'connections')
  writeFileSync(file, '')
  const { ready, ended, signal } = runDemo(database.url, port, file)
  const early = await Promise.race([ready, ended])
  if (early !== undefined) throw new Error(`the demo ended: ${early}`)
  const own = new URL(database.url)
  return {
    url: `http://localhost:${port}`,
    connections() {
      const lines = [...new Set(readFileSync(file, 'utf8').trim().split('\n'))]
      const isDatabase = (line: string) =>
        ['unix', `tcp ${own.hostname}:${own.port}`].includes(line)
      if (!lines.some(isDatabase)) throw new Error('not even the database was recorded')
      return lines.filter((line) => !isDatabase(line) && line !== `name ${own.hostname}`)
    },
    nextDay: () => void signal('SIGUSR2'),
    async stop() {
      signal('SIGTERM')
      await ended
      await database.drop()
      rmSync(folder, { recursive: true })
    },
  }
}

/** Signs a page in to the demo, as a visitor does. */
export async function enterDemo(page: Page): Promise<void> {
  await page.goto('/')
  await page.getByRole('button', { name: 'Open the demo' }).click()
  await page.waitForURL('**/home')
}
