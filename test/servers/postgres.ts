import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { findBinaries } from '../../src/store/embedded/binaries.ts'
import { isRoot, spawnAs, unprivilegedUser } from '../../src/store/embedded/database-user.ts'

export type PostgresKind = 'embedded' | 'debian15'
export type Postgres = {
  /** Of the superuser, to the database `postgres`. */
  url: string
  /** The last lines that it wrote. */
  lastLines(): string
  /**
   * How one of its processes ended by itself, and with it all the others and every connection; null
   * while none did.
   */
  fall(): string | null
  /** Kills it without warning and starts it again. */
  crash(): Promise<void>
  stop(): Promise<void>
}

export const DEBIAN_15 = '/usr/lib/postgresql/15/bin'
const FAST = [
  'fsync=off',
  'full_page_writes=off',
  'synchronous_commit=off',
  'max_connections=400',
  'shared_buffers=64MB',
]

/** What was committed outlives the process. */
const DURABLE = ['max_connections=400', 'shared_buffers=64MB']

/** The shipped one, and the oldest that we support, from Debian's package postgresql-15. */
export const KINDS: PostgresKind[] = ['embedded', 'debian15']

/** Starts a server in a temporary folder, on a Unix socket; by default fast and not durable. */
export async function startPostgres(
  kind: PostgresKind,
  {
    isDurable = false,
    environment = {},
  }: { isDurable?: boolean; environment?: Record<string, string> } = {},
): Promise<Postgres> {
  if (kind === 'debian15' && !existsSync(DEBIAN_15))
    throw new Error(`no PostgreSQL 15 at ${DEBIAN_15}: install postgresql-15`)
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-postgres-'))
  const { bin, env } =
    kind === 'embedded' ? findBinaries(join(folder, 'lib')) : { bin: DEBIAN_15, env: {} }
  const user = isRoot() ? unprivilegedUser() : null
  if (user) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const run = (program: string, args: string[], stderr: 'ignore' | 'pipe' = 'ignore') =>
    spawnAs(user, [join(bin, program), ...args], [bin, folder], {
      env: { ...process.env, ...env, ...environment },
      stdio: ['ignore', 'ignore', stderr],
    })

  const [code] = await once(
    run('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N']),
    'exit',
  )
  if (code !== 0) throw new Error(`initdb of ${kind} ended with ${code}`)
  const settings = [
    ...(isDurable ? DURABLE : FAST),
    'listen_addresses=',
    `unix_socket_directories=${folder}`,
  ].flatMap((s) => ['-c', s])
  const log = createLog()
  const start = () => {
    const started = run('postgres', ['-D', data, ...settings], 'pipe')
    log.follow(started)
    return started
  }
  let server = start()
  const kill = () => server.kill('SIGINT')
  process.once('exit', kill)
  const url = `postgres://postgres@localhost/postgres?host=${folder}`
  await answers(url)
  return {
    url,
    lastLines: log.lastLines,
    fall: log.fall,
    async crash() {
      server.kill('SIGKILL')
      await once(server, 'exit')
      // It does not start while a process of the old one is left.
      for (let tries = 0; tries < 40; tries++) {
        server = start()
        if ((await Promise.race([once(server, 'exit'), answers(url)])) === undefined) return
        await sleep(100)
      }
      throw new Error('it did not start again')
    },
    async stop() {
      process.removeListener('exit', kill)
      kill()
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
      rmSync(folder, { recursive: true })
    },
  }
}

/** Logged after one of its processes crashed; the lines before have the cause. */
const FALL = 'terminating any other active server processes'

function createLog() {
  const lines: string[] = []
  let fall: string | null = null
  return {
    lastLines: () => lines.join('\n'),
    fall: () => fall,
    follow({ stderr }: ChildProcess): void {
      if (!stderr) return
      createInterface({ input: stderr }).on('line', (line) => {
        lines.push(line)
        if (lines.length > 40) lines.shift()
        if (line.includes(FALL)) fall ??= lines.slice(-5).join('\n')
      })
    },
  }
}

/** The same server's URL with another database. */
export function databaseUrl(url: string, database: string): string {
  return Object.assign(new URL(url), { pathname: `/${database}` }).href
}

/** Runs one statement on a connection of its own. */
export async function execute(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/** Waits until a server answers, ten seconds at most. */
export async function answers(url: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await execute(url, 'select 1')
    } catch (error) {
      if (tries > 200) throw error
      await sleep(50)
    }
  }
}
