import { Fault } from '../../errors.ts'
import type { Db } from '../../store/database.ts'
import { listHeldHosts } from './hosts/store.ts'
import { findBatch, listProblems, readTotals, totalsOf, type BatchRow } from './store.ts'
import { readBatchSync } from '../sync/store.ts'
import { presentFullBatch } from './view.ts'

type BatchName = { workspaceId: string; id: string }

/** @throws Fault `not_found` */
export async function requireBatch(db: Db, { workspaceId, id }: BatchName): Promise<BatchRow> {
  const row = await findBatch(db, workspaceId, id)
  if (!row) throw new Fault('not_found', 'The batch was not found.')
  return row
}

/** Finds a batch with its sums, problems and held hosts. @throws Fault `not_found` */
export async function findFullBatch(db: Db, name: BatchName) {
  const row = await requireBatch(db, name)
  const totals = totalsOf(await readTotals(db, [row.id]), row.id)
  const problems = await listProblems(db, row.id)
  const sync = await readBatchSync(db, row.id)
  return presentFullBatch({ ...row, ...totals }, problems, await listHeldHosts(db, row.id), sync)
}
