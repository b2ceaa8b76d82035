import { DAY_MS } from '../../time.ts'
import { SYNC_LIMITS } from '../sync/limits.ts'
import type { SyncRequest } from '../sync/shapes.ts'

/** The columns of the standing synchronization of a batch. */
export function syncColumns({ everyMinutes, deletions = 'record' }: SyncRequest) {
  const syncUntil = new Date(Date.now() + SYNC_LIMITS.days * DAY_MS)
  return { syncMinutes: everyMinutes, syncDeletions: deletions, syncUntil }
}
