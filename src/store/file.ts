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
 * Replaces a file: after a crash the old one is there or the new one, whole. A link at its place is
 * not followed.
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

/**
 * Makes a file, whole, unless it exists. Of several that try at once one succeeds: true for that
 * one.
 */
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

/** Makes durable which files a folder has. */
export function syncFolder(folder: string): void {
  // Windows cannot open a folder, and keeps its entries without being asked.
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
