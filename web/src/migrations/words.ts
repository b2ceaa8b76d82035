import type { Tone } from '../ui/feedback/status.tsx'
import { counted, durationText, numberText } from '../ui/text/format.ts'
import type { Listed, Migration } from './api.ts'

/** How it stands, in a word and how grave that is. */
export function standing({ status, dryRun, errorCount }: Listed): { tone: Tone; word: string } {
  if (status === 'pending') return { tone: 'info', word: 'Waiting' }
  if (status === 'running') return { tone: 'info', word: dryRun ? 'Looking' : 'Copying' }
  if (status === 'completed') return { tone: 'good', word: dryRun ? 'Looked through' : 'Done' }
  return { tone: 'bad', word: errorCount > 1 ? `Failed: ${counted(errorCount, 'error')}` : 'Failed' }
}

/** The verdict first, in a sentence. */
export function sentenceOf(migration: Migration): string {
  const { status, dryRun, queue, progress, totalMessages, errorCount } = migration
  const { messagesDone, skippedByDedup } = progress
  if (status === 'pending') {
    return queue && queue.position > 1
      ? `It waits: ${queue.position - 1} of ${queue.totalInQueue} in the queue are before it.`
      : 'It waits for a free place, and begins by itself.'
  }
  if (status === 'running') {
    return dryRun || totalMessages === 0 ? 'Both accounts are being looked through.' : runningSentence(migration)
  }
  if (isCancelled(migration)) return `It was stopped after ${counted(messagesDone, 'message')}. What is copied stays.`
  if (status === 'failed' && totalMessages === 0) return 'Nothing could be copied. What stood in the way is below.'
  if (status === 'failed' && dryRun)
    return 'Nothing was copied. Not everything could be read: what stood in the way is below.'
  if (status === 'failed') {
    return `${counted(errorCount, 'thing')} could not be copied; everything else was. What failed can be tried again.`
  }
  if (dryRun) return `Nothing was copied. There are ${counted(totalMessages, 'message')} to copy.`
  const skipped = skippedByDedup > 0 ? ` ${numberText(skippedByDedup)} were there already.` : ''
  return `Every one of the ${counted(totalMessages, 'message')} is accounted for.${skipped}`
}

function runningSentence({ progress: { messagesDone, messagesTotal, etaSeconds, throttledUntil } }: Migration): string {
  const done = `${numberText(messagesDone)} of ${counted(messagesTotal, 'message')}`
  if (throttledUntil !== null) return `${done}. A server asked us to wait a moment.`
  return etaSeconds !== null && etaSeconds > 0 ? `${done}, about ${durationText(etaSeconds)} left.` : `${done}.`
}

export function isCancelled({ progress }: Migration): boolean {
  return progress.errors.some(({ code }) => code === 'cancelled')
}

const USES: Record<string, string> = {
  '\\inbox': 'Inbox',
  '\\sent': 'Sent',
  '\\drafts': 'Drafts',
  '\\trash': 'Trash',
  '\\junk': 'Junk',
  '\\archive': 'Archive',
  '\\all': 'All mail',
  '\\flagged': 'Flagged',
}

/** What a folder is for, where its server says so. */
export function useOf(specialUse: string | null): string | null {
  return specialUse === null ? null : (USES[specialUse.toLowerCase()] ?? null)
}
