import { DAY_MS } from '../../time.ts'
import { SYNC_LIMITS } from '../sync/limits.ts'
import type { SyncRequest } from '../sync/shapes.ts'
import type { BatchRow } from './batches.sql.ts'

/** The columns of the standing synchronization of a batch. */
export function syncColumns({ everyMinutes, deletions = 'record' }: SyncRequest) {
  const syncUntil = new Date(Date.now() + SYNC_LIMITS.days * DAY_MS)
  return { syncMinutes: everyMinutes, syncDeletions: deletions, syncUntil }
}

/** The columns of a batch that is not synchronized. */
export const NO_SYNC: Pick<BatchRow, 'syncMinutes' | 'syncDeletions' | 'syncUntil'> = {
  syncMinutes: null,
  syncDeletions: null,
  syncUntil: null,
}
