import type { Tone } from '../ui/feedback/status.tsx'
import { needsConsent, waitsForOwner, type Listed, type Migration } from './api.ts'
import { folderUses, statuses, verdicts } from './messages.ts'

/** The status of a migration as a word and a tone. */
export function describeStatus(migration: Listed): { tone: Tone; word: string } {
  const { status, dryRun, errorCount } = migration
  if (status === 'pending') return { tone: 'info', word: statuses.pending }
  if (waitsForOwner(migration)) return { tone: 'info', word: statuses.waitsForOwner }
  if (needsConsent(migration)) return { tone: 'warn', word: statuses.needsConsent }
  if (status === 'paused') return { tone: 'warn', word: statuses.paused }
  if (status === 'running')
    return { tone: 'info', word: dryRun ? statuses.dryRunning : statuses.copying }
  if (isEmpty(migration)) return { tone: 'warn', word: statuses.empty }
  if (status === 'completed')
    return { tone: 'good', word: dryRun ? statuses.dryRunDone : statuses.completed }
  return { tone: 'bad', word: statuses.failed(errorCount) }
}

/** Whether a migration ended without anything to copy: a wrong account looks like this. */
function isEmpty({ status, progress }: Pick<Listed, 'status' | 'progress'>): boolean {
  return status === 'completed' && progress.messagesTotal === 0
}

/** The verdict on a migration, in one sentence. */
export function verdictOf(migration: Migration): string {
  const { status, dryRun, queue, progress, totalMessages, errorCount } = migration
  const { skippedByDedup } = progress
  if (status === 'pending') {
    return queue && queue.position > 1
      ? verdicts.queued(queue.position - 1, queue.totalInQueue)
      : verdicts.next
  }
  if (waitsForOwner(migration)) return verdicts.waitsForOwner
  if (needsConsent(migration))
    return progress.errors.at(-1)?.code === 'client_rejected'
      ? verdicts.clientRejected
      : verdicts.needsConsent
  if (status === 'paused') return verdicts.paused
  if (status === 'running')
    return dryRun || totalMessages === 0 ? verdicts.scanning : runningText(migration)
  if (isCancelled(migration)) return verdicts.cancelled(countMessages(migration).copied)
  if (status === 'failed' && totalMessages === 0) return verdicts.nothingCopied
  if (status === 'failed') return dryRun ? verdicts.dryRunFailed : verdicts.failed(errorCount)
  if (isEmpty(migration)) return verdicts.empty
  if (dryRun) return verdicts.dryRunDone(totalMessages)
  return skippedByDedup > 0
    ? verdicts.completedWithSkipped(totalMessages, countMessages(migration).copied, skippedByDedup)
    : verdicts.completed(totalMessages)
}

/**
 * The processed messages by what became of them. `messagesDone` counts all of them, those that
 * failed too.
 */
export function countMessages({
  progress: { messagesDone, skippedByDedup, errors },
  errorCount,
}: Pick<Migration, 'errorCount'> & {
  progress: Pick<Migration['progress'], 'messagesDone' | 'skippedByDedup'> & {
    errors: Pick<Migration['progress']['errors'][number], 'uid'>[]
  }
}): { copied: number; alreadyThere: number; failed: number } {
  // Errors without a UID are about a folder or the whole migration. Only the first 1,000 are listed.
  const listed = errors.filter(({ uid }) => uid !== undefined).length
  const failed = Math.min(messagesDone, listed + Math.max(0, errorCount - errors.length))
  const alreadyThere = Math.min(skippedByDedup, messagesDone - failed)
  return { copied: messagesDone - alreadyThere - failed, alreadyThere, failed }
}

function runningText({
  progress: { messagesDone, messagesTotal, etaSeconds, throttledUntil },
}: Migration): string {
  const done = verdicts.running(messagesDone, messagesTotal)
  if (throttledUntil !== null) return `${done}. ${verdicts.throttled}`
  return etaSeconds !== null && etaSeconds > 0
    ? `${done}, ${verdicts.remaining(etaSeconds)}.`
    : `${done}.`
}

export function isCancelled({ progress }: Migration): boolean {
  return progress.errors.some(({ code }) => code === 'cancelled')
}

/** The special use of a folder (RFC 6154), by name, if its server reports one. */
export function folderUse(specialUse: string | null): string | null {
  return specialUse === null ? null : (folderUses[specialUse.toLowerCase()] ?? null)
}

/** Whether a folder is a view of all mail, whose messages are in other folders too. */
export function isAllMail(specialUse: string | null): boolean {
  return specialUse?.toLowerCase() === '\\all'
}
