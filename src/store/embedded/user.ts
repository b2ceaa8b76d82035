import { spawn, spawnSync, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, isAbsolute } from 'node:path'
import { Fault } from '../../errors.ts'

/** A user of this system. */
export type User = { name: string; uid: number; gid: number }

const UNPRIVILEGED = ['portreeve', 'postgres', 'nobody']

/** Whether PostgreSQL, which refuses to run as root, needs another user than ours. */
export function isRoot(): boolean {
  return process.getuid?.() === 0
}

/**
 * The user we run as.
 * @throws Fault `unavailable` for one without a name (a container's random number), whom PostgreSQL
 *   does not accept
 */
export function ourselves(): User {
  try {
    const { username, uid, gid } = userInfo()
    return { name: username, uid, gid }
  } catch (cause) {
    const sentence =
      `PostgreSQL needs a name for the user it runs as, and user ${process.getuid?.()} has none. ` +
      'Give it one in /etc/passwd, or set DATABASE_URL.'
    throw new Fault('unavailable', sentence, { cause })
  }
}

/**
 * The first of `portreeve`, `postgres` and `nobody` that exists.
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

/** The user with this number; one without a name is called by its number. */
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
 * Starts a program as another user. A folder on the way that this user may not enter (a checkout
 * under /root) is opened for it by one capability, given by util-linux's setpriv, and no other.
 * @param user null to start it as ourselves
 * @param paths what the program must reach
 * @throws Fault `unavailable` when there is no way
 */
export function spawnAs(
  user: User | null,
  command: string[],
  paths: string[],
  options: SpawnOptions,
): ChildProcess {
  const [program = '', ...args] = user ? asUser(user, command, paths) : command
  // Node changes into `cwd` before it changes the user: the root is a folder everybody may enter.
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
  // access(2), by which PostgreSQL finds its own programs, leaves capabilities aside without this
  // bit.
  return ['setpriv', ...identity, '--securebits=+no_setuid_fixup', ...capability, '--']
}

function works([program = '', ...args]: string[]): boolean {
  return spawnSync(program, [...args, 'true'], { cwd: '/', stdio: 'ignore' }).status === 0
}

/** The outermost folder above `path` that the user may not enter, or null. */
function closedFolder(path: string, user: User): string | null {
  const above = dirname(path)
  const outer = above === path ? null : closedFolder(above, user)
  return outer ?? (mayEnter(path, user) ? null : path)
}

/** Enters a folder, executes a program: the same bits. */
function mayEnter(path: string, user: User): boolean {
  const { mode, uid, gid } = statSync(path)
  const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001
  return (mode & bit) !== 0
}
