import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import type { Entry } from './entry.ts'
import type { Packed } from './pack.ts'
import { ADVISORY_LOCKS } from '../../store/advisory-locks.ts'
import { findRow, updateRows } from '../../store/row.ts'

export type Snapshot = { version: number; count: number; createdAt: Date; readyAt: Date | null }

const SNAPSHOT = ['version', 'count', 'createdAt', 'readyAt'] as const

/** The newest version, whether or not its files are stored. */
export async function findLatest(db: Db): Promise<Snapshot> {
  const rows = db.selectFrom('abuseSnapshot').select(SNAPSHOT).orderBy('version', 'desc')
  return rows.limit(1).executeTakeFirstOrThrow()
}

/** The newest version that can be served. */
export async function findReady(db: Db): Promise<Snapshot> {
  const rows = db.selectFrom('abuseSnapshot').select(SNAPSHOT).where('readyAt', 'is not', null)
  return rows.orderBy('version', 'desc').limit(1).executeTakeFirstOrThrow()
}

export async function insertSnapshot(
  db: Db,
  snapshot: { version: number; count: number; createdAt: Date },
) {
  await db.insertInto('abuseSnapshot').values(snapshot).execute()
}

export async function markReady(db: Db, version: number): Promise<void> {
  await updateRows(db, 'abuseSnapshot', { version }, { readyAt: new Date() })
}

/**
 * Deletes the files of versions that are no longer served, and versions that no difference is built
 * for.
 */
export async function deleteOldSnapshots(
  db: Db,
  before: { version: number; createdAt: Date },
): Promise<void> {
  await db.deleteFrom('abuseSnapshotFile').where('version', '<', before.version).execute()
  await db
    .deleteFrom('abuseSnapshot')
    .where('version', '<', before.version)
    .where('createdAt', '<', before.createdAt)
    .execute()
}

export async function insertFile(
  db: Db,
  version: number,
  format: string,
  file: Packed,
): Promise<void> {
  await db
    .insertInto('abuseSnapshotFile')
    .values({ version, format, ...file })
    .onConflict((conflict) => conflict.columns(['version', 'format']).doUpdateSet({ ...file }))
    .execute()
}

export async function findFile(
  db: Db,
  version: number,
  format: string,
): Promise<Packed | undefined> {
  const file = db.selectFrom('abuseSnapshotFile').select(['etag', 'size', 'gzip'])
  return file.where('version', '=', version).where('format', '=', format).executeTakeFirst()
}

/** All files of a version. */
export async function listFiles(db: Db, version: number): Promise<(Packed & { format: string })[]> {
  const files = db.selectFrom('abuseSnapshotFile').select(['format', 'etag', 'size', 'gzip'])
  return files.where('version', '=', version).execute()
}

/**
 * Finds listed addresses that are missing from the list, and addresses of the list that are no
 * longer listed.
 */
export async function findUnpublished(db: Db): Promise<{ added: string[]; removed: string[] }> {
  const { rows } = await sql<{ address: string; published: boolean }>`
    select address, published from abuse_address
    where (state = 'listed' and not shared) is distinct from published`.execute(db)
  const those = (published: boolean) =>
    rows.filter((r) => r.published === published).map(({ address }) => address)
  return { added: those(false), removed: those(true) }
}

export async function setPublished(db: Db, addresses: string[], published: boolean): Promise<void> {
  await db
    .updateTable('abuseAddress')
    .set({ published })
    .where('address', '=', sql<string>`any(${addresses}::inet[])`)
    .execute()
}

/**
 * Finds listed addresses that must never be listed, because a range was added while their report
 * was being stored.
 */
export async function setWhitelisted(db: Db, addresses: string[]): Promise<void> {
  await db
    .updateTable('abuseAddress')
    .set((eb) => ({ state: 'whitelisted', revision: eb('revision', '+', 1) }))
    .where('address', '=', sql<string>`any(${addresses}::inet[])`)
    .execute()
}

export async function insertChanges(
  db: Db,
  version: number,
  changes: { added: string[]; removed: string[] },
) {
  const insert = (addresses: string[], listed: boolean) =>
    sql`
    insert into abuse_snapshot_change (version, address, listed)
    select ${version}::integer, address, ${listed}::boolean from unnest(${addresses}::inet[]) as address`.execute(
      db,
    )
  await insert(changes.added, true)
  await insert(changes.removed, false)
}

/**
 * Lists the changes after a version, each address in its present state; null when that version is
 * too old.
 */
export async function findChangesSince(
  db: Db,
  since: number,
  until: number,
): Promise<{ address: string; listed: boolean }[] | null> {
  const known = await findRow(db, 'abuseSnapshot', ['version'], { version: since })
  if (!known) return null
  const { rows } = await sql<{ address: string; listed: boolean }>`
    select distinct on (address) address, listed from abuse_snapshot_change
    where version > ${since} and version <= ${until} order by address, version desc`.execute(db)
  return rows
}

const ROWS_PER_PAGE = 5_000

/** The published list in order, IPv4 first; of one service where one is named. */
export async function* listPublished(db: Db, service: string | null): AsyncGenerator<Entry[]> {
  let after: string | null = null
  for (;;) {
    let query = db
      .selectFrom('abuseAddress')
      .select([
        'address',
        'score',
        'confidence',
        'services',
        'networks',
        'firstReportedAt',
        'lastReportedAt',
      ])
      .where('published', '=', true)
      .orderBy('address')
      .limit(ROWS_PER_PAGE)
    if (after !== null) query = query.where('address', '>', after)
    if (service !== null) query = query.where(sql<boolean>`services @> array[${service}]::text[]`)
    const rows = (await query.execute()) as Entry[]
    if (rows.length > 0) yield rows
    if (rows.length < ROWS_PER_PAGE) return
    after = rows.at(-1)?.address ?? null
  }
}

/** Addresses of the published list, in order, in pages. */
export async function* listPublishedAddresses(db: Db): AsyncGenerator<string[]> {
  let after: string | null = null
  for (;;) {
    // As one text: reading thousands of rows takes much longer.
    const { rows }: { rows: { addresses: string | null }[] } = await sql<{
      addresses: string | null
    }>`
      select array_to_string(array_agg(address order by address), ' ') as addresses from (
        select address from abuse_address
        where published and (${after}::inet is null or address > ${after}::inet)
        order by address limit ${ROWS_PER_PAGE}
      ) as page`.execute(db)
    const page: string[] = rows[0]?.addresses?.split(' ') ?? []
    if (page.length > 0) yield page
    if (page.length < ROWS_PER_PAGE) return
    after = page.at(-1) ?? null
  }
}

export type Hold = { countBefore: number; countAfter: number; heldAt: Date; approved: boolean }

const HOLD = ['countBefore', 'countAfter', 'heldAt', 'approved'] as const

export async function findHold(db: Db): Promise<Hold | undefined> {
  return db.selectFrom('abuseSnapshotHold').select(HOLD).executeTakeFirst()
}

/**
 * Keeps the time at which the hold began. An approval is valid for the size it was given for, and
 * for smaller changes.
 */
export async function saveHold(
  db: Db,
  hold: { countBefore: number; countAfter: number },
  at: Date,
): Promise<void> {
  await db
    .insertInto('abuseSnapshotHold')
    .values({ ...hold, heldAt: at })
    .onConflict((conflict) => conflict.column('single').doUpdateSet(hold))
    .execute()
}

export async function approveHold(db: Db): Promise<Hold | undefined> {
  return db
    .updateTable('abuseSnapshotHold')
    .set({ approved: true })
    .returning(HOLD)
    .executeTakeFirst()
}

export async function deleteHold(db: Db): Promise<void> {
  await db.deleteFrom('abuseSnapshotHold').execute()
}

/** Acquires the lock of the list publisher for this connection; false when another has it. */
export async function acquirePublisherLock(db: Db): Promise<boolean> {
  const { rows } = await sql<{
    taken: boolean
  }>`select pg_try_advisory_lock(${ADVISORY_LOCKS.listPublisher}) as taken`.execute(db)
  return rows[0]?.taken ?? false
}

export async function releasePublisherLock(db: Db): Promise<void> {
  await sql`select pg_advisory_unlock(${ADVISORY_LOCKS.listPublisher})`.execute(db)
}
