import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import { replaceFile } from '../file.ts'
import { tryClaim } from './claim.ts'
import { nameOf, socketLock } from './connection.ts'
import { inUse } from './folder-lock.ts'
import { isAlive } from './folder.ts'
import type { User } from './database-user.ts'

/** Milliseconds for another Portreeve or command to release the folder. */
const RELEASE_DEADLINE_MS = 3_000

/** Seconds within which the process that started a server claims it. */
const CLAIM_GRACE_SECONDS = 1

/** The signals that stop a server, with the milliseconds until the next. */
const ENDINGS: [NodeJS.Signals, number][] = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
]

/**
 * Stops the server of a killed Portreeve, so that a new one can start. Committed data is in the
 * folder.
 * @throws Fault `conflict` when another Portreeve uses the folder
 */
export async function endLeftovers(
  folder: string,
  url: string,
  user: User | null,
  log: Logger,
): Promise<void> {
  const deadline = performance.now() + RELEASE_DEADLINE_MS
  for (;;) {
    const claim = await tryClaim(url)
    // Read before the processes, so that a server that writes one meanwhile is found among them.
    const notes = readNotes(folder, user)
    const processes = processesOf(folder)
    if (claim === 'away' && processes.length === 0) return disown(notes, user)
    const isLate = performance.now() > deadline
    if (claim === 'taken' && isLate) throw inUse(folder)
    if (typeof claim === 'object' ? claim.age > CLAIM_GRACE_SECONDS : claim === 'away' && isLate)
      await endOrphan(folder, processes, log)
    if (typeof claim === 'object') await claim.release().catch(() => {})
    await sleep(200)
  }
}

async function endOrphan(folder: string, processes: number[], log: Logger): Promise<void> {
  // It responds on the socket but is no visible process: it runs in another container.
  if (processes.length === 0) throw inUse(folder)
  log.warn({ pids: processes }, 'ending the PostgreSQL that an earlier Portreeve left behind')
  for (const [signal, milliseconds] of ENDINGS)
    if (await endWith(folder, signal, milliseconds)) return
  throw new Fault(
    'unavailable',
    `An earlier PostgreSQL does not end: end the processes ${processes.join(', ')} first.`,
  )
}

/**
 * Signals the server, or its children where only those are left. True when all have ended in time.
 */
async function endWith(
  folder: string,
  signal: NodeJS.Signals,
  milliseconds: number,
): Promise<boolean> {
  const deadline = performance.now() + milliseconds
  const postmaster = parseInt(readIfThere(join(folder, PID_FILE)), 10)
  const processes = processesOf(folder)
  const targets = signal !== 'SIGKILL' && processes.includes(postmaster) ? [postmaster] : processes
  for (const pid of targets) kill(pid, signal)
  while (processesOf(folder).length > 0) {
    if (performance.now() > deadline) return false
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
 * Lists the processes of this folder by the title of the server and its children. A process number
 * alone proves nothing, because it may be reused.
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
    const lines = execFileSync('ps', ['-axww', '-o', 'pid=,command='], { encoding: 'utf8' })
      .trim()
      .split('\n')
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

/** A file with the server’s process number, which prevents a second server. */
type Note = { path: string; text: string }

const PID_FILE = 'postmaster.pid'

function readNotes(folder: string, user: User | null): Note[] {
  const paths = [join(folder, PID_FILE), socketLock(folder, user)]
  return paths.map((path) => ({ path, text: readIfThere(path) })).filter(({ text }) => text !== '')
}

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

/**
 * Removes a stale file whose number another process has now, because PostgreSQL would not start. A
 * file that names its own parent counts as stale, and PostgreSQL still checks the shared memory it
 * names.
 */
function disown(notes: Note[], user: User | null): void {
  for (const { path, text } of notes) {
    const stale = isAlive(parseInt(text, 10)) && readIfThere(path) === text
    if (stale) replaceFile(path, text.replace(/^\d+/, String(process.pid)), 0o600, user)
  }
}
