import type { Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import type { Db } from '../../store/database.ts'
import { readSnapshot } from '../../store/snapshot.ts'
import type { DB } from '../../store/tables.ts'
import { listHeldHosts } from './batch-hosts.sql.ts'
import { findBatch, listProblems, readTotals, totalsOf, type BatchRow } from './batches.sql.ts'
import { readBatchSync } from '../sync/syncs.sql.ts'
import { listChanged } from './mailboxes/batch-mailboxes.sql.ts'
import { presentFullBatch, presentMailbox } from './batch-view.ts'

type BatchName = { workspaceId: string; id: string }

/** @throws Fault `not_found` */
export async function requireBatch(db: Db, { workspaceId, id }: BatchName): Promise<BatchRow> {
  const row = await findBatch(db, workspaceId, id)
  if (!row) throw new Fault('not_found', 'The batch was not found.')
  return row
}

/** Finds a batch with its sums, problems and held hosts, as of one time. @throws Fault `not_found` */
export async function findFullBatch(db: Kysely<DB>, name: BatchName) {
  return readSnapshot(db, (trx) => readFullBatch(trx, name))
}

/** Finds a batch and the mailboxes that changed after a time, as of one time. */
export async function findBatchChanges(
  db: Kysely<DB>,
  name: BatchName,
  { since, limit }: { since: Date; limit: number },
) {
  return readSnapshot(db, async (trx) => ({
    batch: await readFullBatch(trx, name),
    mailboxes: (await listChanged(trx, name.id, since, limit)).map(presentMailbox),
  }))
}

async function readFullBatch(db: Db, name: BatchName) {
  const row = await requireBatch(db, name)
  const totals = totalsOf(await readTotals(db, [row.id]), row.id)
  const problems = await listProblems(db, row.id)
  const sync = await readBatchSync(db, row.id)
  return presentFullBatch({ ...row, ...totals }, problems, await listHeldHosts(db, row.id), sync)
}
