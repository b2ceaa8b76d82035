import { Fault } from '../../errors.ts'
import type { SyncRequest } from '../sync/shapes.ts'
import { deleteBatchSyncs, listStarted, saveSyncs } from '../sync/store.ts'
import { changeBatch, type BatchDeps, type BatchName } from './actions.ts'
import { syncColumns } from './sync-columns.ts'
import { updateBatch, type BatchRow } from './store.ts'

/**
 * Synchronizes the mailboxes of a batch again and again, or changes how. The next pass of mailboxes
 * that were started is due at once; the others follow when they are started.
 */
export async function setBatchSync(
  deps: BatchDeps,
  name: BatchName,
  request: SyncRequest,
): Promise<void> {
  await changeBatch(deps, name, async (trx) => {
    await updateBatch(trx, name.id, syncColumns(request))
    const { everyMinutes, deletions = 'record' } = request
    const settings = { workspaceId: name.workspaceId, everyMinutes, deletions }
    await saveSyncs(trx, await listStarted(trx, name.id), { ...settings, nextAt: new Date() })
    await deps.queue.enqueue(trx, deps.syncJob, {})
  })
}

const NO_SYNC: Pick<BatchRow, 'syncMinutes' | 'syncDeletions' | 'syncUntil'> = {
  syncMinutes: null,
  syncDeletions: null,
  syncUntil: null,
}

/** Ends the synchronization of a batch. Its passwords stay until the batch is finished. */
export async function endBatchSync(deps: BatchDeps, name: BatchName): Promise<void> {
  await changeBatch(deps, name, async (trx, { syncMinutes }) => {
    if (syncMinutes === null) throw new Fault('conflict', 'The batch is not synchronized.')
    await updateBatch(trx, name.id, NO_SYNC)
    await deleteBatchSyncs(trx, name.id)
  })
}
