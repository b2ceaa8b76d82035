import type { Kysely } from 'kysely'
import type { Logger } from '../../log.ts'
import { ADMINISTRATORS, notifyChange } from '../../store/changes.ts'
import { notify } from '../../store/notifications.ts'
import type { DB } from '../../store/tables.ts'
import type { Ranges } from '../ranges/ranges.ts'
import { readSubject } from '../subject.ts'
import type { Entry, ListFacts } from './entry.ts'
import { FORMATS, STORED_FORMAT_NAMES, type FormatName } from './export-formats.ts'
import { pack, type Packed } from './pack.ts'
import {
  deleteHold,
  deleteOldSnapshots,
  findHold,
  findLatest,
  findUnpublished,
  insertChanges,
  insertFile,
  insertSnapshot,
  listPublished,
  markReady,
  saveHold,
  setPublished,
  setWhitelisted,
  type Snapshot,
} from './list-export.sql.ts'
import { DAY_MS } from '../../time.ts'

export type PublishDeps = { db: Kysely<DB>; ranges: Ranges; log: Logger; pageUrl: string }

/** The notification that a new version can be served. */
export const PUBLISHED = 'abuse.published'

/**
 * Milliseconds between two versions. With creating and fetching it, a change is published within
 * fifteen seconds.
 */
const VERSION_INTERVAL_MS = 5_000

/** Versions for which differences are kept, by age. */
const DIFFERENCE_RETENTION_MS = 7 * DAY_MS

/**
 * A list that grows or shrinks by more than this in one step is probably wrong. Small lists may.
 */
const SUSPICIOUS = { factor: 5, above: 1_000 }

/**
 * Publishes a new version when the listed addresses have changed, and creates the files of a
 * version that has none yet.
 */
export async function publish(deps: PublishDeps, now: number, signal?: AbortSignal): Promise<void> {
  const { db } = deps
  signal?.throwIfAborted()
  const latest = await findLatest(db)
  const next = latest.readyAt === null ? latest : await makeVersion(deps, latest, now)
  if (!next) return
  const files = await renderAll(deps, next, signal)
  await db.transaction().execute(async (trx) => {
    for (const [format, file] of files) await insertFile(trx, next.version, format, file)
    await markReady(trx, next.version)
    await deleteOldSnapshots(trx, {
      version: next.version - 1,
      createdAt: new Date(now - DIFFERENCE_RETENTION_MS),
    })
    await notify(trx, PUBLISHED, next.version)
  })
}

/**
 * Decides which addresses are in the next version; null when nothing has changed, or too much at
 * once.
 */
async function makeVersion(
  { db, ranges, log }: PublishDeps,
  latest: Snapshot,
  now: number,
): Promise<Snapshot | null> {
  if (now - latest.createdAt.getTime() < VERSION_INTERVAL_MS && now >= latest.createdAt.getTime())
    return null
  return db.transaction().execute(async (trx) => {
    const { added: all, removed } = await findUnpublished(trx)
    const added = all.filter((address) => isPublishable(address, ranges))
    if (added.length < all.length)
      await setWhitelisted(
        trx,
        all.filter((address) => !added.includes(address)),
      )
    if (added.length + removed.length === 0) return null
    const count = latest.count + added.length - removed.length
    const hold = await findHold(trx)
    if (isSuspicious(latest.count, count) && !hold?.approved) {
      if (!hold)
        log.error(
          { before: latest.count, after: count },
          'the list changed so much that it is held back',
        )
      await saveHold(trx, { countBefore: latest.count, countAfter: count }, new Date(now))
      if (!hold) await notifyChange(trx, ADMINISTRATORS, 'administration')
      return null
    }
    if (hold) await deleteHold(trx)
    await setPublished(trx, added, true)
    await setPublished(trx, removed, false)
    const snapshot = { version: latest.version + 1, count, createdAt: new Date(now) }
    await insertSnapshot(trx, snapshot)
    await insertChanges(trx, snapshot.version, { added, removed })
    return { ...snapshot, readyAt: null }
  })
}

/**
 * The last check before others block an address: it is a public address, no wider than the scored
 * prefix, and not exempt.
 */
function isPublishable(address: string, ranges: Ranges): boolean {
  const [ip = ''] = address.split('/')
  try {
    return readSubject(ip).key === address && !ranges.isExempt(address)
  } catch {
    return false
  }
}

function isSuspicious(before: number, after: number): boolean {
  const { factor, above } = SUSPICIOUS
  return Math.max(before, after) >= above && (after > before * factor || before > after * factor)
}

async function renderAll(
  deps: PublishDeps,
  { version, createdAt }: Snapshot,
  signal: AbortSignal | undefined,
): Promise<Map<FormatName, Packed>> {
  const entries = await readPublished(deps.db, null, signal)
  const list = { version, generatedAt: createdAt, pageUrl: deps.pageUrl }
  const files = new Map<FormatName, Packed>()
  for (const format of STORED_FORMAT_NAMES)
    files.set(format, await renderFile(format, list, entries, signal))
  return files
}

/** @throws when aborted */
export async function readPublished(
  db: Kysely<DB>,
  service: string | null,
  signal?: AbortSignal,
): Promise<Entry[]> {
  const pages: Entry[][] = []
  for await (const page of listPublished(db, service)) {
    signal?.throwIfAborted()
    pages.push(page)
  }
  return pages.flat()
}

/** @throws when aborted */
export async function renderFile(
  format: FormatName,
  list: ListFacts,
  entries: Entry[],
  signal?: AbortSignal,
): Promise<Packed> {
  return pack(FORMATS[format].render(list, entries), signal)
}
