import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Fault } from '../../errors.ts'
import { syncFolder } from '../file.ts'
import type { ObjectStore } from './object-store.ts'

/** Ends the name of an incomplete file. */
const PART = '.part'

/** An incomplete file that no process writes any more. */
const STALE_PART_MS = 24 * 60 * 60_000

/** Errors of file systems without hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/**
 * An archive in a folder, which must exist: a missing one is often a disk that is not mounted, and
 * the backup would fill the disk below.
 */
export function openFolderStore(root: string): ObjectStore {
  const pathOf = (key: string) => join(root, ...key.split('/'))

  async function requireRoot(): Promise<void> {
    const isFolder = await stat(root).then(
      (stats) => stats.isDirectory(),
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return false
        throw error
      },
    )
    if (!isFolder)
      throw new Fault(
        'unavailable',
        `${root} is not a folder. Mount the disk, or create the folder.`,
      )
  }

  /** Writes a durable file beside the final path. */
  async function writePart(key: string, body: Readable): Promise<string> {
    await requireRoot()
    await makeFolder(root, dirname(pathOf(key)))
    const part = `${pathOf(key)}.${randomBytes(6).toString('hex')}${PART}`
    try {
      await pipeline(body, createWriteStream(part, { flags: 'wx', mode: 0o600, flush: true }))
      return part
    } catch (error) {
      await rm(part, { force: true })
      throw error
    }
  }

  return {
    name: root,
    async list(prefix) {
      await requireRoot()
      const folder = prefix.includes('/') ? dirname(`${prefix}x`) : ''
      const found = await filesIn(join(root, folder))
      return found
        .map(({ path, bytes }) => ({ key: relative(root, path).split(sep).join('/'), bytes }))
        .filter(({ key }) => key.startsWith(prefix))
        .toSorted((one, other) => (one.key < other.key ? -1 : 1))
    },
    async listFolders() {
      await requireRoot()
      const entries = await readdir(root, { withFileTypes: true })
      return entries
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name)
        .toSorted()
    },
    async create(key, body) {
      const part = await writePart(key, Readable.from([body]))
      try {
        return await claimName(part, pathOf(key))
      } finally {
        await rm(part, { force: true })
        syncFolder(dirname(pathOf(key)))
      }
    },
    async write(key, body) {
      const part = await writePart(key, body)
      const { size } = await stat(part)
      await rename(part, pathOf(key))
      syncFolder(dirname(pathOf(key)))
      return size
    },
    async read(key) {
      const file = await open(pathOf(key))
      return file.createReadStream()
    },
    async remove(keys) {
      for (const key of keys) await rm(pathOf(key), { force: true })
      for (const folder of new Set(keys.map((key) => dirname(pathOf(key)))))
        await removeEmpty(root, folder)
    },
  }
}

/** Gives a complete file its name unless that is taken. */
async function claimName(part: string, path: string): Promise<boolean> {
  try {
    await link(part, path)
    return true
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    if (!NO_LINKS.has(code)) throw error
  }
  if (await exists(path)) return false
  await rename(part, path)
  return true
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

/** Creates the folders below the root, each durable in the one above. */
async function makeFolder(root: string, folder: string): Promise<void> {
  if (folder === root || (await exists(folder))) return
  await makeFolder(root, dirname(folder))
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  syncFolder(dirname(folder))
}

async function filesIn(folder: string): Promise<{ path: string; bytes: number }[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw error
    },
  )
  const files: { path: string; bytes: number }[] = []
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name)
    // Retention removes files meanwhile.
    const stats = await stat(path).catch(() => null)
    if (!stats) continue
    if (!entry.name.endsWith(PART)) files.push({ path, bytes: stats.size })
    else if (Date.now() - stats.mtimeMs > STALE_PART_MS) await rm(path, { force: true })
  }
  return files
}

async function removeEmpty(root: string, folder: string): Promise<void> {
  if (folder === root || (await readdir(folder).catch(() => ['?'])).length > 0) return
  await rm(folder, { recursive: true, force: true })
  await removeEmpty(root, dirname(folder))
}
