import { sql, type Kysely } from 'kysely'
import type { Db } from '../../store/database.ts'
import { deleteRows, listRows, lockRow } from '../../store/row.ts'
import type { DB } from '../../store/tables.ts'
import {
  isWasteful,
  packRecords,
  readRecords,
  unpackRecord,
} from '../engine/journal/copy-records.ts'
import type { Deletion, DeletionOutcome, NewDeletion } from '../engine/journal/deletions.ts'
import { epochOf, type SavedFolder } from '../engine/journal/journal.ts'
import type { Run } from './migration-runs.sql.ts'

/**
 * The copy records of a folder, in the order in which they were added. Where many of them were
 * replaced, the others are stored again, so that they need no more space however often flags change.
 */
export async function readCopies(
  db: Kysely<DB>,
  run: Run,
  folder: string,
  state: SavedFolder,
): Promise<Buffer> {
  const packed = await findCopies(db, run.id, folder, state)
  const records = readRecords(packed)
  if (!isWasteful(packed, records)) return packed
  return db.transaction().execute(async (trx) => {
    // Nothing is added meanwhile. A worker that has lost the migration leaves it to the other.
    if (!(await lockRun(trx, run))) return packed
    const fewer = packRecords([...readRecords(await findCopies(trx, run.id, folder, state))])
    await deleteRows(trx, 'migrationCopy', { migrationId: run.id, folder, epoch: epochOf(state) })
    const row = { migrationId: run.id, folder, epoch: epochOf(state), copies: fewer }
    await trx.insertInto('migrationCopy').values(row).execute()
    return fewer
  })
}

async function lockRun(db: Db, { id, run }: Run): Promise<boolean> {
  const row = await lockRow(db, 'migration', ['id'], { id, run, status: 'running' })
  return row !== undefined
}

/** The packed copy records of a folder, in the order in which they were added. */
export async function findCopies(
  db: Db,
  id: string,
  folder: string,
  state: Pick<SavedFolder, 'sourceUidValidity' | 'destinationUidValidity'>,
): Promise<Buffer> {
  const rows = await listRows(
    db,
    'migrationCopy',
    ['copies'],
    { migrationId: id, folder, epoch: epochOf(state) },
    'id',
  )
  return Buffer.concat(rows.map(({ copies }) => copies))
}

/** Rows of one statement: PostgreSQL takes up to 65,535 parameters. */
const ROWS_PER_INSERT = 5_000

/** Adds deletions. */
export async function addDeletions(
  db: Db,
  id: string,
  deletions: readonly NewDeletion[],
): Promise<void> {
  for (let at = 0; at < deletions.length; at += ROWS_PER_INSERT) {
    const rows = deletions.slice(at, at + ROWS_PER_INSERT).map(({ record, ...deletion }) => ({
      ...deletion,
      migrationId: id,
      record: packRecords([record]),
    }))
    await db.insertInto('migrationDeletion').values(rows).execute()
  }
}

/** The open deletions of a migration, oldest first. */
export async function listDeletions(db: Db, id: string): Promise<Deletion[]> {
  const rows = await listRows(
    db,
    'migrationDeletion',
    ['id', 'folder', 'reason', 'destination', 'destinationUidValidity', 'isHeld', 'record'],
    { migrationId: id, outcome: null },
    'id',
  )
  return rows.map((row) => ({
    ...row,
    id: String(row.id),
    reason: row.reason as Deletion['reason'],
    record: unpackRecord(row.record),
  }))
}

/** Marks open deletions that a person must confirm. */
export async function holdDeletions(db: Db, id: string, ids: readonly string[]): Promise<void> {
  await sql`update migration_deletion set is_held = true
    where migration_id = ${id} and id = any(${ids}::bigint[]) and outcome is null`.execute(db)
}

/**
 * Confirms the deletions of a migration that were held back. @returns how many
 */
export async function releaseDeletions(db: Db, id: string): Promise<number> {
  const { numAffectedRows } = await sql`update migration_deletion set is_held = false
    where migration_id = ${id} and is_held and outcome is null`.execute(db)
  return Number(numAffectedRows ?? 0n)
}

/** Records what became of deletions. */
export async function closeDeletions(
  db: Db,
  id: string,
  ids: readonly string[],
  outcome: DeletionOutcome,
): Promise<void> {
  await sql`update migration_deletion set outcome = ${outcome}, closed_at = now()
    where migration_id = ${id} and id = any(${ids}::bigint[]) and outcome is null`.execute(db)
}
