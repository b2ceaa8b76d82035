import { spawn, spawnSync, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, isAbsolute } from 'node:path'
import { Fault } from '../../errors.ts'

/** A user of the operating system. */
export type User = { name: string; uid: number; gid: number }

const UNPRIVILEGED = ['portreeve', 'postgres', 'nobody']

/** Whether another user is needed, because PostgreSQL does not run as root. */
export function isRoot(): boolean {
  return process.getuid?.() === 0
}

/** The user of this process. Without a name, as in a container with another user, it is its number. */
export function ourselves(): User {
  const [uid, gid] = [process.getuid?.() ?? -1, process.getgid?.() ?? -1]
  return { name: ownName() ?? String(uid), uid, gid }
}

/** The name of the user of this process; null for a number that the system has no name for. */
export function ownName(): string | null {
  try {
    return userInfo().username
  } catch {
    return null
  }
}

/**
 * The first user of `portreeve`, `postgres` and `nobody` that exists.
 * @throws Fault `unavailable`
 */
export function unprivilegedUser(): User {
  const users = systemUsers()
  const user = UNPRIVILEGED.map((name) => users.find((u) => u.name === name)).find(
    (u) => u !== undefined,
  )
  if (user) return user
  const sentence =
    `PostgreSQL does not run as root, and this system has none of the users ${UNPRIVILEGED.join(', ')}. ` +
    'Start Portreeve as an ordinary user, or set DATABASE_URL.'
  throw new Fault('unavailable', sentence)
}

/** The user with this number. Without a name, the number is used. */
export function userOf(uid: number, gid: number): User {
  return systemUsers().find((user) => user.uid === uid) ?? { name: String(uid), uid, gid }
}

function systemUsers(): User[] {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  return lines
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
}

/**
 * Starts a program as another user. A parent folder that this user may not enter (a checkout in
 * /root) is opened by one capability alone, set by util-linux’s setpriv.
 * @param user null for the current user
 * @param paths files that the program must reach
 * @throws Fault `unavailable` when that is impossible
 */
export function spawnAs(
  user: User | null,
  command: string[],
  paths: string[],
  options: SpawnOptions,
): ChildProcess {
  const [program = '', ...args] = user ? asUser(user, command, paths) : command
  // Node enters `cwd` before it changes the user, so it must be a folder that every user may enter.
  return spawn(program, args, { cwd: '/', ...options, ...identityOf(user, program, command) })
}

function identityOf(
  user: User | null,
  program: string,
  command: string[],
): { uid?: number; gid?: number } {
  return user && program === command[0] ? { uid: user.uid, gid: user.gid } : {}
}

function asUser(user: User, command: string[], paths: string[]): string[] {
  const [program = ''] = command
  if (isAbsolute(program) && !mayEnter(program, user)) {
    const sentence = `PostgreSQL runs as ${user.name}, who may not execute it. Allow it: chmod -R go+rX ${dirname(dirname(program))}`
    throw new Fault('unavailable', sentence)
  }
  const closed = paths.map((path) => closedFolder(path, user)).find((folder) => folder !== null)
  if (closed === undefined) return command
  const setpriv = setprivFor(user)
  if (works(setpriv)) return [...setpriv, ...command]
  const sentence =
    `PostgreSQL runs as ${user.name}, who may not enter ${closed}. Allow it (chmod o+x ${closed}), move Portreeve ` +
    'and DATA_DIR to a folder that everybody may enter, start Portreeve as an ordinary user, or set DATABASE_URL.'
  throw new Fault('unavailable', sentence)
}

function setprivFor(user: User): string[] {
  const identity = [
    `--reuid=${user.uid}`,
    `--regid=${user.gid}`,
    '--clear-groups',
    '--no-new-privs',
  ]
  const capability = ['inh-caps', 'ambient-caps', 'bounding-set'].map(
    (set) => `--${set}=-all,+dac_read_search`,
  )
  // access(2), with which PostgreSQL finds its own programs, ignores capabilities without this bit.
  return ['setpriv', ...identity, '--securebits=+no_setuid_fixup', ...capability, '--']
}

function works([program = '', ...args]: string[]): boolean {
  return spawnSync(program, [...args, 'true'], { cwd: '/', stdio: 'ignore' }).status === 0
}

/** The outermost folder of `path` that the user may not enter, or null. */
function closedFolder(path: string, user: User): string | null {
  const above = dirname(path)
  const outer = above === path ? null : closedFolder(above, user)
  return outer ?? (mayEnter(path, user) ? null : path)
}

/** Entering a folder and executing a program need the same bits. */
function mayEnter(path: string, user: User): boolean {
  const { mode, uid, gid } = statSync(path)
  const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001
  return (mode & bit) !== 0
}
