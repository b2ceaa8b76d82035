import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fchownSync,
  fsyncSync,
  lchownSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'

type Owner = { uid: number; gid: number }

/**
 * Replaces a file atomically: after a crash either the old or the new one exists. Does not follow a
 * symbolic link.
 */
export function replaceFile(
  path: string,
  text: string,
  mode: number,
  owner = ownerOfFolder(path),
): void {
  renameSync(writeBeside(path, text, mode, owner), path)
  syncFolder(dirname(path))
}

/** Creates a file atomically unless it exists; true for the one caller that created it. */
export function createFile(path: string, text: string, mode: number): boolean {
  const temporary = writeBeside(path, text, mode, ownerOfFolder(path))
  try {
    linkSync(temporary, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(temporary)
    syncFolder(dirname(path))
  }
}

/**
 * Creates a folder and the folders above it. Not `recursive` of Node, which never ends below /proc.
 * As root, each belongs to the owner of the folder above it.
 */
export function makeFolder(path: string, mode = 0o777): void {
  if (existsSync(path)) return
  makeFolder(dirname(path), mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return
    throw error
  }
  giveToFolderOwner(path)
}

/**
 * As root, gives a new file to the owner of its folder: a command of root must leave nothing that
 * the service, which runs as this user, cannot use.
 */
export function giveToFolderOwner(path: string): void {
  const owner = ownerOfFolder(path)
  if (owner) lchownSync(path, owner.uid, owner.gid)
}

/** The owner of a file’s folder, if this process is root and the owner is not. */
export function ownerOfFolder(path: string): Owner | null {
  if (process.geteuid?.() !== 0) return null
  const { uid, gid } = statSync(dirname(path))
  return uid === 0 ? null : { uid, gid }
}

/** Makes a folder’s list of files durable. */
export function syncFolder(folder: string): void {
  // Windows cannot open folders, and makes their entries durable by itself.
  if (process.platform === 'win32') return
  const fd = openSync(folder, 'r')
  fsyncSync(fd)
  closeSync(fd)
}

function writeBeside(path: string, text: string, mode: number, owner: Owner | null): string {
  const temporary = `${path}.${randomBytes(6).toString('hex')}`
  const fd = openSync(temporary, 'wx', mode)
  if (owner) fchownSync(fd, owner.uid, owner.gid)
  writeSync(fd, text)
  fsyncSync(fd)
  closeSync(fd)
  return temporary
}
