import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../../config.ts'
import { findInstallation } from '../../installation.ts'

/** A process that listens on a port. */
export type PortHolder = {
  pid: number
  /** The name of its program. */
  name: string
  /** Whether it is the service of this installation. */
  isOwnService: boolean
}

type Place = Pick<Config, 'DATA_DIR' | 'DATABASE_URL'>

/** The state TCP_LISTEN in /proc/net/tcp. */
const LISTENING = '0A'

/** Words of a command line that starts the service. */
const SERVICE_WORD = /(?:^|\/)(?:portreeve(?:\.js)?|up\.ts|web-process\.[jt]s)$/

/**
 * Finds the process that listens on a TCP port of this machine.
 * @returns null where that cannot be known: it belongs to another user, or the system is not Linux
 */
export function findPortHolder(port: number, place: Place): PortHolder | null {
  const sockets = listeningSockets(port)
  if (sockets.size === 0) return null
  const pid = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .find((name) => holdsAny(name, sockets))
  if (pid === undefined) return null
  const name = readProc(`${pid}/comm`).trim()
  return { pid: Number(pid), name, isOwnService: isServiceOf(pid, place) }
}

/** Inodes of the sockets that listen on the port, on any address. */
function listeningSockets(port: number): Set<string> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = ['net/tcp', 'net/tcp6'].flatMap((file) => readProc(file).split('\n').slice(1))
  const sockets = rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, local = '', , state]) => local.endsWith(suffix) && state === LISTENING)
  return new Set(sockets.map(([, , , , , , , , , inode]) => `socket:[${inode}]`))
}

function holdsAny(pid: string, sockets: Set<string>): boolean {
  try {
    const folder = `/proc/${pid}/fd`
    return readdirSync(folder).some((fd) => sockets.has(linkOf(`${folder}/${fd}`)))
  } catch {
    // It has ended, or belongs to another user.
    return false
  }
}

/** A descriptor may be closed meanwhile. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

/** Compares the installation that the process would find with this one. */
function isServiceOf(pid: string, { DATA_DIR, DATABASE_URL }: Place): boolean {
  const words = readProc(`${pid}/cmdline`).split('\0')
  const folder = linkOf(`/proc/${pid}/cwd`)
  if (folder === '' || !words.some((word) => SERVICE_WORD.test(word))) return false
  const lines = readProc(`${pid}/environ`).split('\0')
  const variables = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
  const theirs = findInstallation(variables, folder).variables
  if (DATABASE_URL !== undefined) return theirs['DATABASE_URL'] === DATABASE_URL
  return resolve(folder, theirs['DATA_DIR'] ?? '') === DATA_DIR
}

function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8')
  } catch {
    return ''
  }
}
