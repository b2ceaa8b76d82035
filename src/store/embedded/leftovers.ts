import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import { replaceFile } from '../file.ts'
import { tryClaim, type Claim } from './claim.ts'
import { nameOf, socketFiles } from './door.ts'
import type { User } from './user.ts'

/** Milliseconds a Portreeve that is stopping, or a command that is at work, has to let go of the folder. */
const PATIENCE = 3_000

/** Seconds within which whoever started a server takes the claim to it. */
const INFANCY = 1

/** How a server is ended: each signal, and the milliseconds it has before the next. */
const ENDINGS: [NodeJS.Signals, number][] = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
]

/**
 * Ends the server of a Portreeve that was killed, and clears away what a crash leaves, so that a new server can start.
 * Whatever was committed is in the folder.
 * @throws Fault `conflict` when another Portreeve is using the folder
 */
export async function endLeftovers(folder: string, url: string, user: User | null, log: Logger): Promise<void> {
  const deadline = Date.now() + PATIENCE
  for (;;) {
    const claim = await tryClaim(url)
    const processes = processesOf(folder)
    if (claim === 'away' && processes.length === 0) return clearFiles(folder, user)
    if (typeof claim === 'object' && claim.age > INFANCY) return endOrphan(folder, user, claim, log)
    if (typeof claim === 'object') await claim.release()
    if (Date.now() > deadline) {
      if (claim === 'taken') throw inUse(folder)
      if (claim === 'away') return endOrphan(folder, user, null, log)
    }
    await sleep(200)
  }
}

function inUse(folder: string): Fault {
  return new Fault(
    'conflict',
    `Another Portreeve is using ${folder}. Stop it first, or give this one a DATA_DIR of its own.`,
  )
}

async function endOrphan(folder: string, user: User | null, claim: Claim | null, log: Logger): Promise<void> {
  const processes = processesOf(folder)
  // It answers at our socket but is not among the processes we see: it runs in another container.
  if (processes.length === 0) throw inUse(folder)
  log.warn({ pids: processes }, 'ending the PostgreSQL that an earlier Portreeve left behind')
  for (const [signal, milliseconds] of ENDINGS) {
    if (await endWith(folder, signal, milliseconds)) break
  }
  await claim?.release().catch(() => {})
  clearFiles(folder, user)
}

/** Signals the server, or where only its children are left, these. True when all are gone in time. */
async function endWith(folder: string, signal: NodeJS.Signals, milliseconds: number): Promise<boolean> {
  const deadline = Date.now() + milliseconds
  const postmaster = Number(readPidFile(folder)[0])
  const processes = processesOf(folder)
  const targets = signal !== 'SIGKILL' && processes.includes(postmaster) ? [postmaster] : processes
  for (const pid of targets) kill(pid, signal)
  while (processesOf(folder).length > 0) {
    if (Date.now() > deadline) return false
    await sleep(20)
  }
  return true
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/**
 * The processes that serve this folder, by the name that the server and its children carry: a number alone proves
 * nothing, because it may be another process's by now.
 */
export function processesOf(folder: string): number[] {
  const name = nameOf(folder)
  return commandLines()
    .filter(([pid, command]) => command.includes(name) && pid !== process.pid)
    .map(([pid]) => pid)
}

function commandLines(): [number, string][] {
  if (process.platform === 'win32') return []
  if (!existsSync('/proc/self/cmdline')) {
    const lines = execFileSync('ps', ['-axww', '-o', 'pid=,command='], { encoding: 'utf8' }).trim().split('\n')
    return lines.map((line) => [parseInt(line, 10), line])
  }
  const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))
  return pids.map((pid) => [Number(pid), readCommandLine(pid)])
}

function readCommandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

function readPidFile(folder: string): string[] {
  const path = join(folder, 'postmaster.pid')
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []
}

/**
 * PostgreSQL does not start while the process named in `postmaster.pid` lives, though that number may be a stranger's by
 * now. A file that names the server's own parent is stale to it; the shared memory noted in it is still looked at.
 */
function clearFiles(folder: string, user: User | null): void {
  const [pid, ...rest] = readPidFile(folder)
  if (pid !== undefined) replaceFile(join(folder, 'postmaster.pid'), [process.pid, ...rest].join('\n'), 0o600, user)
  if (process.platform !== 'win32') for (const file of socketFiles(folder, user)) rmSync(file, { force: true })
}
