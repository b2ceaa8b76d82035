import { open, readdir } from 'node:fs/promises'
import { join, posix, relative, sep } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Client } from 'pg'
import type { Pack } from 'tar-stream'

/** The first entry of a backup. `takenAt` is ISO 8601, `postgres` the major version. */
export type BackupHead = { format: 1; takenAt: string; postgres: number }

/** The first and the last entry. A backup that lacks one is incomplete. */
export const HEAD = 'portreeve-backup.json'
export const LABEL = 'postgres/backup_label'

/** The moments between which a base backup was made, and the WAL segments that it needs. */
export type BackupFacts = { startedAt: Date; finishedAt: Date; startWal: string; endWal: string }

/** Folders whose files PostgreSQL recreates, or, for the write-ahead log, that are copied last. */
const LEFT_OUT =
  /^(pg_wal|pg_dynshmem|pg_notify|pg_replslot|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\//
const OF_THE_MOMENT = /^(postmaster\.(pid|opts)|\.s\.PGSQL.*)$|(^|\/)(pg_internal\.init|pgsql_tmp)/

/**
 * Packs the data folder of a running server as PostgreSQL’s manual describes (“Making a Base Backup
 * Using the Low Level API”): the files while they change, then the write-ahead log that makes them
 * consistent.
 * @param adminUrl of the superuser
 */
export async function packBaseBackup(
  adminUrl: string,
  folder: string,
  pack: Pack,
  head: BackupHead,
): Promise<BackupFacts> {
  const client = new Client({ connectionString: adminUrl, application_name: 'portreeve backup' })
  client.on('error', () => {})
  // Ended while it connects, the client would wait forever.
  await client.connect()
  // Ends the connection when the target cannot be written.
  pack.once('close', () => void client.end())
  try {
    await packText(pack, HEAD, JSON.stringify(head))
    // The slot ends with the connection. Until then it retains the log written from now on.
    await client.query('select pg_create_physical_replication_slot($1, true, true)', [
      `backup_${process.pid}`,
    ])
    const started = await client.query<{ at: Date; wal: string }>(
      `select clock_timestamp() as at, pg_walfile_name(pg_backup_start('portreeve', true)) as wal`,
    )
    await packFolders(pack, folder)
    await packFiles(pack, folder, isKept)
    const stopped = await client.query<{ label: string; last: string; at: Date }>(
      'select labelfile as label, pg_walfile_name(lsn) as last, clock_timestamp() as at from pg_backup_stop(false)',
    )
    const [start, end] = [started.rows[0], stopped.rows[0]]
    if (!start || !end) throw new Error('PostgreSQL did not describe the backup')
    const { label, last } = end
    await packFiles(
      pack,
      folder,
      (name) => name.startsWith('pg_wal/') && isLog(posix.basename(name), last),
    )
    await packText(pack, LABEL, label)
    return { startedAt: start.at, finishedAt: end.at, startWal: start.wal, endWal: last }
  } finally {
    await client.end()
  }
}

function isKept(name: string): boolean {
  return !LEFT_OUT.test(name) && !OF_THE_MOMENT.test(name)
}

/** Segments after the last one are empty; timeline histories have other names. */
function isLog(name: string, last: string): boolean {
  return /^[0-9A-F]{24}$/.test(name) ? name <= last : name.endsWith('.history')
}

/** Empty folders must exist as well. A slot’s own folder would be taken for a slot. */
async function packFolders(pack: Pack, folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const name = nameIn(folder, entry.parentPath, entry.name)
    if (entry.isDirectory() && isKept(name))
      pack.entry({ name: `postgres/${name}`, type: 'directory', mode: 0o700 })
  }
}

async function packFiles(
  pack: Pack,
  folder: string,
  isWanted: (name: string) => boolean,
): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const name = nameIn(folder, entry.parentPath, entry.name)
    if (entry.isFile() && isWanted(name))
      await packFile(pack, `postgres/${name}`, join(folder, name))
  }
}

function nameIn(folder: string, parent: string, name: string): string {
  return relative(folder, join(parent, name)).split(sep).join('/')
}

async function packFile(pack: Pack, name: string, path: string): Promise<void> {
  const file = await open(path).catch(ifGone)
  // The table was dropped meanwhile, which the log contains too.
  if (!file) return
  const { size } = await file.stat()
  // A stream cannot read zero bytes.
  if (size === 0) return file.close().then(() => packText(pack, name, ''))
  await pipeline(
    file.createReadStream({ end: size - 1 }),
    filledUpTo(size),
    pack.entry({ name, size, mode: 0o600 }),
  )
}

/** A file may shrink while it is read. The log contains the missing part. */
function filledUpTo(size: number): Transform {
  let missing = size
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      missing -= chunk.length
      done(null, chunk)
    },
    flush(done) {
      done(null, Buffer.alloc(missing))
    },
  })
}

function ifGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

async function packText(pack: Pack, name: string, text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    pack.entry({ name, mode: 0o600 }, text, (error) => (error ? reject(error) : resolve()))
  })
}
