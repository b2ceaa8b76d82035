import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../errors.ts'
import { createFile, makeFolder } from '../file.ts'

/** Exclusive use of a database folder. It ends with the process, however that ends. */
export type FolderLock = { release(): void }

/** SQLITE_BUSY: another process holds the lock. */
const BUSY = 5

/**
 * Takes the lock of a folder that has or gets a database, if it is free. The lock is on a file
 * beside the folder, so that it holds while there is no folder, or while it is moved away. Node has
 * no file locks of its own; SQLite has them on every system.
 * @param folder such as DATA_DIR/postgres
 * @returns null when another process, or another part of this one, holds it
 * @throws errors of the operating system when the file cannot be written
 */
export function tryLockFolder(folder: string): FolderLock | null {
  const path = `${folder}.lock`
  makeFolder(dirname(path))
  // Opening and closing the file here would end the locks that this process has on it.
  if (existsSync(path)) accessSync(path, constants.W_OK)
  else createFile(path, '', 0o600)
  const file = new DatabaseSync(path, { timeout: 0 })
  try {
    file.exec('pragma journal_mode = memory; begin exclusive')
    return { release: () => void (file.isOpen && file.close()) }
  } catch (error) {
    file.close()
    if ((error as { errcode?: number }).errcode === BUSY) return null
    throw error
  }
}

/** The folder is in use. */
export function inUse(folder: string): Fault {
  const sentence = `Another Portreeve is using ${folder}. Stop it first, or give this one a DATA_DIR of its own.`
  return new Fault('conflict', sentence)
}
