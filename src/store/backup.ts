import { createReadStream, createWriteStream, mkdirSync, renameSync, rmSync } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { extract, pack as createPack, type Extract } from 'tar-stream'
import { Fault, messageOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import {
  lockDataDir,
  reachEmbedded,
  startEmbedded,
  STOPPING_MS,
  type Embedded,
} from './embedded.ts'
import {
  HEAD,
  LABEL,
  packBaseBackup,
  type BackupFacts,
  type BackupHead,
} from './embedded/base-backup.ts'
import { SHIPPED_MAJOR } from './embedded/binaries.ts'
import { majorOf } from './embedded/folder.ts'
import { databaseIn, keptFolder } from './embedded/upgrade.ts'
import { syncFolder } from './file.ts'

/** An entry of an archive: its header and a stream of its bytes. */
type Entry = Extract extends AsyncIterable<infer E> ? E : never

type Options = { dataDir: string; log: Logger; file: string }

/** Reads a restored database at a URL, while its server runs for a moment. */
export type Inspect = (url: string) => Promise<void>

/** PostgreSQL’s pages compress to a third at level 1, and hardly further at higher levels. */
const COMPRESSION = { level: 1 }

/**
 * Writes the whole embedded database to one file (tar, gzip), with or without a running service. It
 * contains everything committed before it ends.
 * @returns size of the file in bytes; the file is written completely or not at all
 * @throws Fault `unavailable` when the database cannot be reached or the file cannot be written
 */
export async function backUp({ dataDir, log, file }: Options): Promise<number> {
  const server = await reachEmbedded({ dataDir, log })
  const half = `${resolve(file)}.part-${process.pid}`
  try {
    await packInto(server, (packed) => pipeline(packed, createWriteStream(half, { mode: 0o600 })))
    await makeDurable(half)
    renameSync(half, resolve(file))
    syncFolder(dirname(resolve(file)))
    return (await stat(file)).size
  } catch (cause) {
    rmSync(half, { force: true })
    throw new Fault('unavailable', `The backup was not made: ${messageOf(cause)}.`, { cause })
  } finally {
    await server.stop()
  }
}

/**
 * Packs the database of a running server.
 * @param save consumes the bytes of the file; when it fails, packing ends
 * @param signal ends it with an error
 */
export async function packInto<T>(
  server: Pick<Embedded, 'adminUrl' | 'folder'>,
  save: (packed: Readable) => Promise<T>,
  signal?: AbortSignal,
): Promise<BackupFacts & { postgres: number; saved: T }> {
  const pack = createPack()
  const postgres = majorOf(server.folder) ?? SHIPPED_MAJOR
  const head: BackupHead = { format: 1, takenAt: new Date().toISOString(), postgres }
  const gzip = createGzip(COMPRESSION)
  const compressed = pipeline(pack, gzip)
  const packed = packBaseBackup(server.adminUrl, server.folder, pack, head).then((facts) => {
    pack.finalize()
    return facts
  })
  const saving = save(gzip)
  const stop = () => pack.destroy(new Error('The service stops.'))
  signal?.addEventListener('abort', stop)
  try {
    const [facts, saved] = await Promise.all([packed, saving, compressed])
    return { ...facts, postgres, saved }
  } catch (error) {
    pack.destroy()
    gzip.destroy()
    // The first error is the cause; the others follow from it.
    await Promise.allSettled([packed, saving, compressed])
    throw error
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

async function makeDurable(path: string): Promise<void> {
  const file = await open(path, 'r+')
  await file.sync()
  await file.close()
}

/**
 * Restores a backup to a data folder without a database, and starts it once. A backup of an older
 * PostgreSQL is upgraded.
 * @returns when the backup was taken
 * @throws Fault `conflict` when there is a database or another Portreeve, `invalid_request` when the file is incomplete
 *   or from a newer version
 */
export async function restore({
  dataDir,
  log,
  file,
  inspect,
}: Options & { inspect?: Inspect }): Promise<Date> {
  const folder = join(resolve(dataDir), 'postgres')
  const lock = await lockDataDir({ dataDir, log }, STOPPING_MS)
  // The next start removes incomplete folders of this name.
  const half = `${folder}.new-${process.pid}`
  const made: string[] = []
  try {
    requireNoDatabase(dataDir)
    made.push(half, folder)
    const { takenAt, postgres } = await unpack(createReadStream(file), half)
    renameSync(half, folder)
    syncFolder(dirname(folder))
    await startOnce({ dataDir, log, lock }, inspect)
    // The old database that an upgrade would keep is in the file already.
    if (postgres !== SHIPPED_MAJOR)
      rmSync(keptFolder(folder, postgres), { recursive: true, force: true })
    return new Date(takenAt)
  } catch (cause) {
    for (const path of made) rmSync(path, { recursive: true, force: true })
    if (cause instanceof Fault) throw cause
    throw new Fault('invalid_request', `${file} cannot be restored: ${messageOf(cause)}.`, {
      cause,
    })
  } finally {
    lock.release()
  }
}

/** Starts a restored database, which tests and upgrades it. */
export async function startOnce(
  options: Parameters<typeof startEmbedded>[0],
  inspect: Inspect = async () => {},
): Promise<void> {
  const server = await startEmbedded(options)
  try {
    await inspect(server.url)
  } finally {
    await server.stop()
  }
}

/**
 * A restore never replaces a database.
 * @throws Fault `conflict`
 */
export function requireNoDatabase(dataDir: string): void {
  const present = databaseIn(resolve(dataDir))
  if (present !== null)
    throw new Fault('conflict', `${present} exists. Stop the service and move it away first.`)
}

/** Unpacks a backup to a new folder. */
export async function unpack(packed: Readable, folder: string): Promise<BackupHead> {
  const entries = extract()
  const unpacked = pipeline(packed, createGunzip(), entries)
  let head: BackupHead | undefined
  let last = ''
  // Awaited together: a file that cannot be read ends the loop with its error.
  await Promise.all([
    unpacked,
    (async () => {
      for await (const entry of entries) {
        last = entry.header.name
        if (head) await unpackEntry(entry, folder)
        else head = await readHead(entry)
      }
    })(),
  ])
  if (!head || last !== LABEL) throw new Error('it is not whole')
  return head
}

async function readHead(entry: Entry): Promise<BackupHead> {
  if (entry.header.name !== HEAD) throw new Error('it is no backup of Portreeve')
  const head = JSON.parse(await text(entry)) as BackupHead
  if (head.format === 1 && head.postgres <= SHIPPED_MAJOR) return head
  throw new Error(
    `it was made with PostgreSQL ${head.postgres}, and this Portreeve ships ${SHIPPED_MAJOR}: restore it with the ` +
      'Portreeve that made it',
  )
}

async function unpackEntry(entry: Entry, folder: string): Promise<void> {
  const { name, type } = entry.header
  const path = name.replace(/\/$/, '').split('/')
  if (path.shift() !== 'postgres' || path.some((step) => ['', '.', '..'].includes(step)))
    throw new Error(`it holds “${name}”, which is none of a backup’s files`)
  const target = join(folder, ...path)
  mkdirSync(type === 'directory' ? target : dirname(target), { recursive: true, mode: 0o700 })
  if (type === 'file')
    await pipeline(entry, createWriteStream(target, { mode: 0o600, flush: true }))
  else entry.resume()
}
