import type { Transaction } from 'kysely'
import { Fault } from '../../errors.ts'
import type { DB } from '../../store/tables.ts'
import type { SyncRequest } from '../sync/shapes.ts'
import { deleteBatchSyncs, listStarted, saveSyncs } from '../sync/syncs.sql.ts'
import { changeBatch, type BatchDeps, type BatchName } from './batch-actions.ts'
import { NO_SYNC, syncColumns } from './sync-columns.ts'
import { updateBatch } from './batches.sql.ts'

/**
 * Synchronizes the mailboxes of a batch again and again, or changes how. The next pass of mailboxes
 * that were started is due at once; the others follow when they are started.
 */
export async function setBatchSync(
  deps: BatchDeps,
  name: BatchName,
  request: SyncRequest,
): Promise<void> {
  await changeBatch(deps, name, async (trx) => setSyncOf(trx, name, request, deps))
}

/** Synchronizes the mailboxes of a batch within a transaction that has locked it. */
export async function setSyncOf(
  trx: Transaction<DB>,
  { workspaceId, id }: BatchName,
  request: SyncRequest,
  { queue, syncJob }: Pick<BatchDeps, 'queue' | 'syncJob'>,
): Promise<void> {
  await updateBatch(trx, id, syncColumns(request))
  const { everyMinutes, deletions = 'record' } = request
  const settings = { workspaceId, everyMinutes, deletions }
  await saveSyncs(trx, await listStarted(trx, id), { ...settings, nextAt: new Date() })
  await queue.enqueue(trx, syncJob, {})
}

/** Ends the synchronization of a batch. Its passwords stay until the batch is finished. */
export async function endBatchSync(deps: BatchDeps, name: BatchName): Promise<void> {
  await changeBatch(deps, name, async (trx, { syncMinutes }) => {
    if (syncMinutes === null) throw new Fault('conflict', 'The batch is not synchronized.')
    await updateBatch(trx, name.id, NO_SYNC)
    await deleteBatchSyncs(trx, name.id)
  })
}
