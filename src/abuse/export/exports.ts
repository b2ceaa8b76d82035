import type { Kysely } from 'kysely'
import type { Logger } from '../../log.ts'
import type { Notifications } from '../../store/notifications.ts'
import type { DB } from '../../store/tables.ts'
import type { Entry } from './entry.ts'
import type { FormatName } from './export-formats.ts'
import type { Packed } from './pack.ts'
import { PUBLISHED, readPublished, renderFile } from './publish.ts'
import {
  findChangesSince,
  findFile,
  findReady,
  listFiles,
  type Snapshot,
} from './list-export.sql.ts'

type Difference = { version: number; complete: boolean; added: string[]; removed: string[] }

/** The published list, as every instance serves it. */
export type Exports = {
  current(): Snapshot
  /** A file of the current version, of one service where one is named. */
  file(format: FormatName, service: string | null): Promise<Packed>
  /** The addresses of the current version, sorted; read once per version. */
  list(): Promise<Snapshot & { entries: readonly Entry[] }>
  /** Returns the changes since a version, or the whole list when that version is too old. */
  since(version: number): Promise<Difference>
  close(): void
}

/** Files in memory, the oldest of which goes first. */
const MAX_CACHED_FILES = 64

export async function createExports(
  db: Kysely<DB>,
  notifications: Notifications,
  { log, pageUrl }: { log: Logger; pageUrl: string },
): Promise<Exports> {
  let current = await findReady(db)
  const files = new Map<string, Promise<Packed>>()

  async function refresh(): Promise<void> {
    const ready = await findReady(db)
    if (ready.version <= current.version) return
    current = ready
    files.clear()
    await warm()
  }

  /** The first client must not wait for the database. */
  async function warm(): Promise<void> {
    const { version } = current
    const stored = await listFiles(db, version)
    if (version !== current.version) return
    for (const { format, ...packed } of stored) files.set(`${format} `, Promise.resolve(packed))
  }

  let isClosed = false
  const look = () =>
    void refresh().catch(
      (err: unknown) => isClosed || log.warn({ err }, 'a new list could not be looked up'),
    )
  const stops = [notifications.on(PUBLISHED, look), notifications.onReconnect(look)]

  async function read(format: FormatName, service: string | null): Promise<Packed> {
    const { version, createdAt } = current
    const stored = service === null ? await findFile(db, version, format) : undefined
    if (stored) return stored
    const list = { version, generatedAt: createdAt, pageUrl }
    return renderFile(format, list, await readPublished(db, service))
  }

  function file(format: FormatName, service: string | null): Promise<Packed> {
    const key = `${format} ${service ?? ''}`
    const known = files.get(key)
    if (known) return known
    const reading = read(format, service)
    files.set(key, reading)
    reading.catch(() => files.delete(key))
    const [oldest] = files.keys()
    if (files.size > MAX_CACHED_FILES && oldest !== undefined) files.delete(oldest)
    return reading
  }

  let listing: { version: number; entries: Promise<Entry[]> } | undefined
  function readList() {
    const snapshot = current
    if (listing?.version !== snapshot.version) {
      const reading = { version: snapshot.version, entries: readPublished(db, null) }
      reading.entries.catch(() => (listing = undefined))
      listing = reading
    }
    return listing.entries.then((entries) => ({ ...snapshot, entries }))
  }

  await warm()
  return {
    current: () => current,
    file,
    list: readList,
    async since(version) {
      const { version: until } = current
      const changes = await findChangesSince(db, version, until)
      if (changes) {
        const those = (listed: boolean) =>
          changes.filter((c) => c.listed === listed).map(({ address }) => address)
        return { version: until, complete: false, added: those(true), removed: those(false) }
      }
      const added = (await readPublished(db, null)).map(({ address }) => address)
      return { version: until, complete: true, added, removed: [] }
    },
    close() {
      isClosed = true
      stops.forEach((stop) => stop())
    },
  }
}
