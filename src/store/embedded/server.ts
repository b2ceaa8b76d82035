import { execFileSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../log.ts'
import type { Binaries } from './binaries.ts'
import { nameOf, type ServerAddress } from './connection.ts'
import { spawnAs, type User } from './user.ts'

/** One run of the server. */
export type Server = {
  pid: number | undefined
  /** Resolves with the last lines it wrote when it has ended, for whatever reason. */
  ended: Promise<string>
  isRunning(): boolean
  /** Ends it: clients are cut off, what is committed is on disk. */
  stop(): Promise<void>
}

/** A small machine, and nothing given up of what makes a commit last. */
const SETTINGS = [
  'fsync=on',
  'synchronous_commit=on',
  'full_page_writes=on',
  'max_connections=50',
  // What comes in within some seconds is still there when it is trimmed.
  'shared_buffers=128MB',
  'effective_cache_size=256MB',
  'work_mem=8MB',
  'maintenance_work_mem=64MB',
  'max_wal_size=512MB',
  // Writing sixteen megabytes of nothing before each new log file would hold every commit for some
  // 60 ms.
  'wal_init_zero=off',
  'jit=off',
  'max_parallel_workers_per_gather=0',
  'timezone=UTC',
  'log_timezone=UTC',
  'log_line_prefix=',
  'log_checkpoints=off',
  // What a statement did wrong reaches us as its error. The log would repeat it with the values of
  // people in it.
  'log_min_messages=log',
]

/** Settings that came with a major version. */
const SINCE: [number, string][] = [[18, 'io_method=sync']]

/** Milliseconds for a fast shutdown, before the immediate one that leaves the rest to recovery. */
const FAST_SHUTDOWN_MS = 10_000
const IMMEDIATE_SHUTDOWN_MS = 5_000

/** FATAL is about one connection only; one that ends the server comes back as our own error. */
const LEVELS: Record<string, 'debug' | 'warn' | 'error'> = { WARNING: 'warn', PANIC: 'error' }

/** Starts the server on a folder that is ready for it. */
export function spawnServer(
  folder: string,
  binaries: Binaries,
  user: User | null,
  address: ServerAddress,
  log: Logger,
): Server {
  const newer = SINCE.filter(([major]) => binaries.major >= major).map(([, setting]) => setting)
  const settings = [
    ...SETTINGS,
    ...newer,
    ...address.settings,
    `cluster_name=${nameOf(folder)}`,
  ].flatMap((setting) => ['-c', setting])
  const child = spawnAs(
    user,
    [join(binaries.bin, 'postgres'), '-D', folder, ...settings],
    [binaries.bin, folder],
    {
      env: binaries.env,
      stdio: ['ignore', 'ignore', 'pipe'],
      // In our process group, Ctrl-C at a terminal would end it before we have finished what runs.
      detached: true,
    },
  )
  const lines = lastLines(child, log)
  const closed = once(child, 'close')
  // Its children may outlive it and hold the pipe open: what it wrote itself is there at once.
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
  // Windows knows no signals: there the server listens on a pipe, which pg_ctl knows.
  if (process.platform === 'win32')
    execFileSync(join(bin, 'pg_ctl'), ['kill', name, String(child.pid)], { env })
  else child.kill(`SIG${name}`)
}
