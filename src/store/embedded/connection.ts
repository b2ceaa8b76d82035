import { createHash, randomBytes } from 'node:crypto'
import { chownSync, lstatSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Fault } from '../../errors.ts'
import { createFile } from '../file.ts'
import { ourselves, ownName, type User } from './database-user.ts'

/** The address of the server, which only this user of the system can use. */
export type ServerAddress = {
  /** Settings of the server. */
  settings: string[]
  hba: string
  ident: string
  /** Contains the password, where one is needed. */
  passwordFile: string | null
  url: (role: string, database: string) => string
}

/** `sun_path` holds 104 bytes on macOS and 108 on Linux, with the final zero. */
const MAX_SOCKET_PATH_BYTES = 103
const SOCKET = '.s.PGSQL.5432'

/**
 * Returns a Unix socket, on which the kernel authenticates the user by name, or lets in its number; on Windows, a loopback port
 * and a password.
 * @param folder the data folder, which only the server’s user can read
 * @param user the user that the server runs as, or null for the current one
 * @param named the final path of a folder that is still being created, whose password file it uses
 */
export function serverAddressOf(
  folder: string,
  user: User | null,
  named: string = folder,
): ServerAddress {
  return process.platform === 'win32'
    ? loopbackDoor(folder, named)
    : socketDoor(socketFolder(folder, user), user)
}

/** A short name that is unique per data folder. */
export function nameOf(folder: string): string {
  return `portreeve-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`
}

/** The lock file of the socket, which names its server. */
export function socketLock(folder: string, user: User | null): string {
  return join(process.platform === 'win32' ? folder : socketFolder(folder, user), `${SOCKET}.lock`)
}

function socketDoor(socket: string, user: User | null): ServerAddress {
  return {
    settings: [
      'listen_addresses=',
      `unix_socket_directories=${socket}`,
      // Only its owner can connect, so that a user without a name needs no other authentication.
      'unix_socket_permissions=0700',
    ],
    hba: `local all all ${ownName() === null ? 'trust' : 'peer map=portreeve'}\n`,
    // Root has every right here anyway, and must be able to stop a server of another user’s
    // service. The service must be able to use a server that a command of root started.
    ident: [...new Set([ourselves().name, user?.name ?? 'root', 'root'])].flatMap(rolesOf).join(''),
    passwordFile: null,
    url: (role, database) =>
      `postgres://${role}@localhost/${database}?host=${encodeURIComponent(socket)}`,
  }
}

/** Each role by name, because PostgreSQL before 16 has no `all`. */
function rolesOf(name: string): string[] {
  return ['postgres', 'portreeve'].map((role) => `portreeve "${name}" ${role}\n`)
}

/**
 * The data folder itself, or, where its path is too long for a socket, an equally private folder in
 * /tmp.
 */
function socketFolder(folder: string, user: User | null): string {
  if (Buffer.byteLength(join(folder, SOCKET)) <= MAX_SOCKET_PATH_BYTES) return folder
  const short = join('/tmp', nameOf(folder))
  const owner = user ?? ourselves()
  try {
    mkdirSync(short, { mode: 0o700 })
    chownSync(short, owner.uid, owner.gid)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const { uid, mode } = lstatSync(short)
  // Any user could create this folder in /tmp first, and would own the socket in it.
  if (uid === owner.uid && (mode & 0o40777) === 0o40700) return short
  throw new Fault(
    'unavailable',
    `${short} is not a folder of ${owner.name} alone: remove it, or choose a shorter DATA_DIR.`,
  )
}

function loopbackDoor(folder: string, named: string): ServerAddress {
  const passwordFile = `${named}.password`
  createFile(passwordFile, randomBytes(32).toString('hex'), 0o600)
  const password = readFileSync(passwordFile, 'utf8')
  const port = 20_000 + (parseInt(nameOf(folder).slice(-4), 16) % 10_000)
  return {
    settings: ['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories='],
    hba: 'host all all 127.0.0.1/32 scram-sha-256\n',
    ident: '',
    passwordFile,
    url: (role, database) => `postgres://${role}:${password}@127.0.0.1:${port}/${database}`,
  }
}
