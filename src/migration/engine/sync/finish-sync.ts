import type { ConnectionPair } from '../connections/connection-pair.ts'
import { withRetries } from '../connections/with-retries.ts'
import type { FolderCopy, MigrationContext } from '../context.ts'
import type { MigrateOptions } from '../migration-options.ts'
import { applyDeletions, isApplicable } from './apply-deletions.ts'
import { digestOfStatuses } from './folder-status.ts'
import type { Deletion } from '../journal/deletions.ts'
import type { HeldFolder, SyncOutcome, SyncPlan } from './pass.ts'

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
  const found = (await applicable()).filter(({ id }) => !known.has(id))
  changes.deleted = found.length
  const isApplied = sync?.deletions === 'apply'
  const large = isApplied && sync.isLargeConfirmed !== true ? largeLosses(found, plan) : []
  if (large.length > 0) await journal.holdDeletions(large.map(({ id }) => id))
  const open = await applicable()
  const confirmed = open.filter(({ isHeld }) => !isHeld || sync?.isLargeConfirmed === true)
  // Two passes must have seen that a message is gone: a source may hide messages for a moment.
  const certain = confirmed.filter(({ id }) => known.has(id))
  const isComplete = copies.every(({ state }) => state === 'done')
  const isSeen = copies.every(({ folderState }) => folderState?.saved.seen)
  // A message that was moved into a folder that failed is not there yet.
  if (isApplied && isComplete && certain.length > 0)
    changes.applied = await withRetries(migration, () => applyDeletions(pair, certain, migration))
  const isLeft = isApplied && confirmed.length > changes.applied
  const seen = isComplete && isSeen && !isLeft ? digestOfStatuses(plan.statuses) : null
  const held = isApplied && !sync.isLargeConfirmed ? countHeld(await applicable()) : []
  return { changes, seen, held, isNewlyHeld: large.length > 0 }
}

/** Deletions of folders that lost more than half of their messages in this pass. */
function largeLosses(found: readonly Deletion[], { copiedBefore }: SyncPlan): Deletion[] {
  const lost = Map.groupBy(found, ({ folder }) => folder)
  return [...lost].flatMap(([folder, deletions]) =>
    deletions.length > 1 && deletions.length > (copiedBefore.get(folder) ?? 0) / 2 ? deletions : [],
  )
}

function countHeld(open: readonly Deletion[]): HeldFolder[] {
  const held = Map.groupBy(
    open.filter(({ isHeld }) => isHeld),
    ({ folder }) => folder,
  )
  return [...held].map(([folder, { length }]) => ({ folder, messages: length }))
}
