import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fchownSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
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
  owner: Owner | null = null,
): void {
  renameSync(writeBeside(path, text, mode, owner), path)
  syncFolder(dirname(path))
}

/** Creates a file atomically unless it exists; true for the one caller that created it. */
export function createFile(path: string, text: string, mode: number): boolean {
  const temporary = writeBeside(path, text, mode, null)
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
