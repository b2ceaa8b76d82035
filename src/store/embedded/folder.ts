import { once } from 'node:events'
import {
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Fault } from '../../errors.ts'
import { ownerOfFolder, syncFolder } from '../file.ts'
import { SHIPPED_MAJOR, type Binaries } from './binaries.ts'
import { explainFailure } from './problem.ts'
import { copyTemplate, hasTemplate } from './database-template.ts'
import {
  isRoot,
  ourselves,
  ownName,
  spawnAs,
  unprivilegedUser,
  userOf,
  type User,
} from './database-user.ts'

/**
 * Sorts by UTF-8 bytes, with Unicode’s case mapping: the same on every system and in every version.
 */
const LOCALE = [
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
]

/**
 * The user that the server runs as: null for the current one. For root it is the owner of the
 * folder, or of the folder above it, or else an unprivileged user.
 * @throws Fault `unavailable` when another user owns the folder
 */
export function serverUser(folder: string): User | null {
  const owner = existsSync(folder) ? statSync(folder) : null
  if (isRoot()) {
    const user = owner && owner.uid !== 0 ? owner : ownerOfFolder(folder)
    return user ? userOf(user.uid, user.gid) : unprivilegedUser()
  }
  if (!owner || process.platform === 'win32' || owner.uid === ourselves().uid) return null
  const { name } = userOf(owner.uid, owner.gid)
  throw new Fault(
    'unavailable',
    `${folder} belongs to ${name}. Start Portreeve as ${name}, or choose another DATA_DIR.`,
  )
}

/**
 * Creates the data folder, or checks an existing one. One of an older PostgreSQL is upgraded later.
 * @throws Fault `conflict` when the folder contains something else, `unavailable` when it cannot be
 *   created
 */
export async function prepareFolder(
  folder: string,
  binaries: Binaries,
  user: User | null,
  passwordFile: string | null,
): Promise<void> {
  removeHalfMade(folder)
  const major = majorOf(folder)
  if (major !== null) {
    if (major > SHIPPED_MAJOR) throw newerThanOurs(folder, major)
    if (user) giveTo(user, folder)
  } else {
    requireEmpty(folder)
    await makeFolder(folder, binaries, user, passwordFile)
  }
}

function newerThanOurs(folder: string, major: number): Fault {
  const sentence =
    `${folder} was made by PostgreSQL ${major}, and this Portreeve ships PostgreSQL ${SHIPPED_MAJOR}. ` +
    `Start the Portreeve that made it, or serve it with PostgreSQL ${major} and set DATABASE_URL, ` +
    'or move the folder away to begin with an empty one.'
  return new Fault('conflict', sentence)
}

/** The major version that created a folder; null without one. */
export function majorOf(folder: string): number | null {
  const file = join(folder, 'PG_VERSION')
  return existsSync(file) ? parseInt(readFileSync(file, 'utf8'), 10) : null
}

function requireEmpty(folder: string): void {
  if (!existsSync(folder) || readdirSync(folder).length === 0) return
  throw new Fault(
    'conflict',
    `${folder} holds something that is not a database. Move it away, or choose another DATA_DIR.`,
  )
}

/**
 * A folder that root copied (a restored backup) belongs to root, and PostgreSQL does not run as
 * root.
 */
function giveTo(user: User, folder: string): void {
  if (statSync(folder).uid === user.uid) return
  for (const path of readdirSync(folder, { recursive: true }))
    lchownSync(join(folder, String(path)), user.uid, user.gid)
  chownSync(folder, user.uid, user.gid)
}

/** Created under another name first, so that a folder with the final name is always complete. */
async function makeFolder(
  folder: string,
  binaries: Binaries,
  user: User | null,
  passwordFile: string | null,
): Promise<void> {
  const half = `${folder}.new-${process.pid}`
  mkdirSync(half, { mode: 0o700 })
  const password = passwordFile ? [`--pwfile=${passwordFile}`] : []
  const isPrepared = hasTemplate()
  try {
    if (isPrepared) copyTemplate(half)
    else if (!user) requireName()
    if (user) giveTo(user, half)
    if (!isPrepared)
      await initdb([
        '--username=postgres',
        ...password,
        ...LOCALE,
        '--data-checksums',
        '--no-sync',
        '--no-instructions',
      ])
    await initdb(['--sync-only'])
    renameSync(half, folder)
  } catch (error) {
    rmSync(half, { recursive: true, force: true })
    // Another Portreeve that started at the same time was faster. Its folder is as good.
    if (majorOf(folder) === null) throw error
  }
  syncFolder(dirname(folder))

  async function initdb(args: string[]): Promise<void> {
    const command = [join(binaries.bin, 'initdb'), `--pgdata=${half}`, ...args]
    const child = spawnAs(user, command, [binaries.bin, half], {
      env: binaries.env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const [output, [code]] = await Promise.all([
      child.stderr ? text(child.stderr) : '',
      once(child, 'exit'),
    ])
    if (code !== 0) throw explainFailure('initdb', folder, output)
  }
}

/** initdb, unlike the server, does not run as a user without a name. */
function requireName(): void {
  if (process.platform === 'win32' || ownName() !== null) return
  const sentence =
    `PostgreSQL’s initdb needs a name for the user it runs as, and user ${process.getuid?.()} has none. ` +
    'Give it one in /etc/passwd, or set DATABASE_URL.'
  throw new Fault('unavailable', sentence)
}

/** Removes incomplete folders of killed processes. */
function removeHalfMade(folder: string): void {
  const above = dirname(folder)
  const prefix = `${basename(folder)}.new-`
  for (const name of readdirSync(above).filter((entry) => entry.startsWith(prefix))) {
    const pid = Number(name.slice(prefix.length))
    if (pid === process.pid || !isAlive(pid)) removeIfStill(join(above, name))
  }
}

/** The initdb of a killed process may still be writing. Then the next start removes it. */
function removeIfStill(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error
  }
}

/** Whether a process with this number exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
