import type { SyncChanges } from '../engine/sync/pass.ts'
import type { PassRow } from './syncs.sql.ts'
import type { SyncRow } from './sync-row.ts'

/** Presents the synchronization of a migration. */
export function presentSync(row: SyncRow) {
  const { everyMinutes, deletions, nextAt, until, passes } = row
  const { lastStartedAt, lastEndedAt, lastChanges, lastError, heldDeletions } = row
  const lastPass =
    lastStartedAt && lastEndedAt
      ? { startedAt: lastStartedAt, endedAt: lastEndedAt, changes: lastChanges, error: lastError }
      : null
  const shown = { everyMinutes, deletions, heldDeletions, passes, lastPass }
  return { ...shown, nextPassAt: nextAt, endsAt: until }
}

export function presentPass({ changes, ...pass }: PassRow) {
  return { ...pass, changes: isWhole(changes) ? changes : null }
}

/** A pass that could not begin has no changes. */
function isWhole(changes: Partial<SyncChanges>): changes is SyncChanges {
  return changes.copied !== undefined
}
