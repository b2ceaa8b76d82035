import { execFileSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../log.ts'
import type { Binaries } from './binaries.ts'
import type { OwnerKind } from './claim.ts'
import { nameOf, type ServerAddress } from './connection.ts'
import { spawnAs, type User } from './database-user.ts'

/** One run of the server. */
export type Server = {
  pid: number | undefined
  /** Resolves with its last lines of output when it has ended. */
  ended: Promise<string>
  isRunning(): boolean
  /** Stops it: clients are disconnected; committed data is on disk. */
  stop(): Promise<void>
}

/** Settings for a small machine with full durability. */
const SETTINGS = [
  'fsync=on',
  'synchronous_commit=on',
  'full_page_writes=on',
  // Captured requests are trimmed within seconds, while they are still in memory.
  'shared_buffers=128MB',
  'effective_cache_size=256MB',
  'work_mem=8MB',
  'maintenance_work_mem=64MB',
  'max_wal_size=512MB',
  // Filling 16 MB of each new WAL file with zeros would delay commits by about 60 ms.
  'wal_init_zero=off',
  'jit=off',
  'max_parallel_workers_per_gather=0',
  'timezone=UTC',
  'log_timezone=UTC',
  'log_line_prefix=',
  'log_checkpoints=off',
  // Errors of statements reach the service as errors. The log would repeat them with users’ data.
  'log_min_messages=log',
]

/** Settings that need a major version. */
const SINCE: [number, string][] = [[18, 'io_method=sync']]

/** Milliseconds for a fast shutdown, before the immediate one that leaves the rest to recovery. */
const FAST_SHUTDOWN_MS = 10_000
const IMMEDIATE_SHUTDOWN_MS = 5_000

/** FATAL concerns one connection. An error that ends the server is reported separately. */
const LEVELS: Record<string, 'debug' | 'warn' | 'error'> = { WARNING: 'warn', PANIC: 'error' }

/** What one process of the service, and commands beside it, can use. */
const MAX_CONNECTIONS = 50

/** A data folder and everything needed to start its server. */
export type Site = {
  folder: string
  binaries: Binaries
  user: User | null
  address: ServerAddress
  log: Logger
  /** Connections that the server accepts; by default those of one process. */
  maxConnections?: number | undefined
  /** Who runs the server; by default the service. */
  owner?: OwnerKind | undefined
}

/** Starts the server on a prepared folder. */
export function spawnServer({
  folder,
  binaries,
  user,
  address,
  log,
  maxConnections = MAX_CONNECTIONS,
}: Site): Server {
  const newer = SINCE.filter(([major]) => binaries.major >= major).map(([, setting]) => setting)
  const settings = [
    ...SETTINGS,
    ...newer,
    ...address.settings,
    `max_connections=${maxConnections}`,
    `cluster_name=${nameOf(folder)}`,
  ].flatMap((setting) => ['-c', setting])
  const child = spawnAs(
    user,
    [join(binaries.bin, 'postgres'), '-D', folder, ...settings],
    [binaries.bin, folder],
    {
      env: binaries.env,
      stdio: ['ignore', 'ignore', 'pipe'],
      // In this process group, Ctrl-C would stop it before running work has finished.
      detached: true,
    },
  )
  const lines = lastLines(child, log)
  const closed = once(child, 'close')
  // Its children may outlive it and keep the pipe open. Its own output is complete at its exit.
  const ended = once(child, 'exit')
    .then(() => Promise.race([closed, sleep(500)]))
    .then(
      () => lines.join('\n'),
      (error: Error) => error.message,
    )
  const isRunning = () =>
    child.pid !== undefined && child.exitCode === null && child.signalCode === null
  const signal = (name: 'INT' | 'QUIT' | 'KILL') => isRunning() && sendSignal(child, name, binaries)
  const onExit = () => signal('INT')
  process.once('exit', onExit)
  void ended.then(() => process.removeListener('exit', onExit))
  return {
    pid: child.pid,
    ended,
    isRunning,
    async stop() {
      signal('INT')
      const timers = [
        setTimeout(signal, FAST_SHUTDOWN_MS, 'QUIT'),
        setTimeout(signal, FAST_SHUTDOWN_MS + IMMEDIATE_SHUTDOWN_MS, 'KILL'),
      ]
      await ended
      timers.forEach(clearTimeout)
    },
  }
}

function lastLines(child: ChildProcess, log: Logger): string[] {
  const lines: string[] = []
  if (!child.stderr) return lines
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.push(line)
    if (lines.length > 20) lines.shift()
    log[LEVELS[/^[A-Z]+/.exec(line)?.[0] ?? ''] ?? 'debug']({ postgres: line })
  })
  return lines
}

function sendSignal(
  child: ChildProcess,
  name: 'INT' | 'QUIT' | 'KILL',
  { bin, env }: Binaries,
): void {
  // Windows has no signals. There, pg_ctl uses the server’s named pipe.
  if (process.platform === 'win32')
    execFileSync(join(bin, 'pg_ctl'), ['kill', name, String(child.pid)], { env })
  else child.kill(`SIG${name}`)
}
