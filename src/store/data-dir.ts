import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { Fault } from '../errors.ts'
import { makeFolder } from './file.ts'

/**
 * Creates DATA_DIR unless it exists, and calls `use`, which reads or writes a file in it.
 * @throws Fault `unavailable` with the command that mends it, when the file system refuses that
 */
export function inDataDir<T>(dataDir: string, path: string, use: () => T): T {
  try {
    makeFolder(dataDir)
    return use()
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'EACCES' || code === 'EPERM')
      throw new Fault('unavailable', deniedSentence(path), { cause })
    if (code === 'EROFS') throw new Fault('unavailable', readOnlySentence(dataDir), { cause })
    throw cause
  }
}

/**
 * What to do when the user of this process may not use a path of DATA_DIR, or make it there.
 * @param path of a file or folder directly in DATA_DIR
 */
export function deniedSentence(path: string): string {
  const [user, { existing, owner }] = [`${process.getuid?.()}:${process.getgid?.()}`, nearest(path)]
  // The owner is right.
  if (user === owner) return `${path} cannot be made or used. Set DATA_DIR to a folder on a disk.`
  return (
    `Portreeve runs as user ${user} and may not use ${existing}, which belongs to ${owner}. ` +
    `Run chown -R ${user} ${nearest(dirname(path)).existing} (of a container: on the host, with the path of the mounted folder), ` +
    `or start Portreeve as the owner (--user ${owner}).`
  )
}

export function readOnlySentence(path: string): string {
  return `${path} is on a read-only file system. Mount a folder or volume there, or set DATA_DIR.`
}

/** The path, or the innermost folder above it that can be seen. */
function nearest(path: string): { existing: string; owner: string } {
  try {
    const { uid, gid } = statSync(path)
    return { existing: path, owner: `${uid}:${gid}` }
  } catch {
    return nearest(dirname(path))
  }
}
