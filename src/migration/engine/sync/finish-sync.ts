import type { ConnectionPair } from '../connections/connection-pair.ts'
import { withRetries } from '../connections/with-retries.ts'
import type { FolderCopy, MigrationContext } from '../context.ts'
import type { MigrateOptions } from '../options.ts'
import { applyDeletions, isApplicable } from './apply-deletions.ts'
import { digestOfStatuses } from './folder-status.ts'
import type { SyncOutcome, SyncPlan } from './pass.ts'

/** Ends a pass: applies deletions where that is wanted, and says what has changed. */
export async function finishSync(
  pair: ConnectionPair,
  plan: SyncPlan,
  copies: readonly FolderCopy[],
  migration: MigrationContext,
  { sync }: MigrateOptions,
): Promise<SyncOutcome> {
  const { journal } = migration
  const { changes } = plan
  const known = new Set(plan.before.map(({ id }) => id))
  const applicable = async () => (await journal.deletions()).filter(isApplicable)
  const open = await applicable()
  changes.deleted = open.filter(({ id }) => !known.has(id)).length
  const isComplete = copies.every(({ state }) => state === 'done')
  const isSeen = copies.every(({ folderState }) => folderState?.saved.seen)
  const certain = plan.isSettled ? open : open.filter(({ id }) => known.has(id))
  // A message that was moved into a folder that failed is not there yet.
  if (sync?.deletions === 'apply' && isComplete && certain.length > 0)
    changes.applied = await withRetries(migration, () => applyDeletions(pair, certain, migration))
  const isLeft = sync?.deletions === 'apply' && (await applicable()).length > 0
  const seen = isComplete && isSeen && !isLeft ? digestOfStatuses(plan.statuses) : null
  return { changes, seen }
}
