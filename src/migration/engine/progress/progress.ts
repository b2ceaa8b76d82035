import type { FolderCopy, MigrationNote } from '../context.ts'
import { ENGINE_LIMITS } from '../../limits.ts'
import type { MigrationWarning } from '../plan/warnings.ts'

/** The progress of a migration. Paths are those of the source. */
export type MigrationProgress = {
  /** "" between folders. */
  currentFolder: string
  foldersDone: number
  foldersTotal: number
  /** Messages that were copied, already there, or failed. */
  messagesDone: number
  messagesTotal: number
  skippedByDedup: number
  folderProgress: Record<string, FolderProgress>
  errorCount: number
  /** Bytes of the messages done. */
  bytesDone: number
  /** Bytes of the selected folders; null where the source reports only the size of each message. */
  bytesTotal: number | null
  messagesPerSecond: number
  bytesPerSecond: number
  /** Estimated seconds left; null while unknown. */
  etaSeconds: number | null
  /** Until when a server has asked us to wait, ISO 8601; null otherwise. */
  throttledUntil: string | null
  warnings: MigrationWarning[]
  /** The first notes about messages that were not copied exactly. */
  notes: MigrationNote[]
}

type FolderProgress = {
  lastUid: number
  doneCount: number
  total: number
  bytes: number
  bytesTotal: number | null
  destination: string
}

type Sample = { messages: number; bytes: number }

/** Measures the rate of the last seconds. */
export type RateMeter = {
  record(sample: Sample): void
  perSecond(): Sample & { isSteady: boolean }
}

const WINDOW_MS = 10_000

/** Seconds of samples below which no estimate is made. */
const MIN_RATE_SECONDS = 2

export function createRate(): RateMeter {
  const samples: (Sample & { at: number })[] = []
  return {
    record(sample) {
      samples.push({ ...sample, at: performance.now() })
      while (samples.length > 2 && performance.now() - (samples[1]?.at ?? 0) > WINDOW_MS)
        samples.shift()
    },
    perSecond() {
      const [first, last] = [samples[0], samples.at(-1)]
      if (!first || !last || last.at === first.at) return { messages: 0, bytes: 0, isSteady: false }
      const seconds = (last.at - first.at) / 1000
      const [messages, bytes] = [last.messages - first.messages, last.bytes - first.bytes]
      return {
        messages: messages / seconds,
        bytes: bytes / seconds,
        isSteady: seconds >= MIN_RATE_SECONDS,
      }
    },
  }
}

type Around = {
  foldersTotal: number
  rate: RateMeter
  stopped: number
  throttledUntil: number | null
  warnings: MigrationWarning[]
  notes: readonly MigrationNote[]
}

/**
 * Computes the progress of all folders.
 * @param around `stopped`: failures of the whole migration; `throttledUntil`: milliseconds since
 *   1970
 */
export function progressOf(copies: readonly FolderCopy[], around: Around): MigrationProgress {
  const { foldersTotal, rate, stopped, throttledUntil, warnings, notes } = around
  const folderProgress = Object.fromEntries(
    copies.map((copy) => [copy.folder.path, progressOfFolder(copy)]),
  )
  const folders = Object.values(folderProgress)
  const sum = (of: (folder: FolderProgress) => number) =>
    folders.reduce((total, folder) => total + of(folder), 0)
  const [messagesDone, messagesTotal] = [
    sum(({ doneCount }) => doneCount),
    sum(({ total }) => total),
  ]
  const bytesDone = sum(({ bytes }) => bytes)
  const isMeasured = folders.every((folder) => folder.bytesTotal !== null || folder.total === 0)
  const bytesTotal = isMeasured ? sum((folder) => folder.bytesTotal ?? 0) : null
  rate.record({ messages: messagesDone, bytes: bytesDone })
  const perSecond = rate.perSecond()
  return {
    currentFolder: copies.find(({ state }) => state === 'running')?.folder.path ?? '',
    foldersDone: copies.filter(({ state }) => state === 'done' || state === 'failed').length,
    foldersTotal,
    messagesDone,
    messagesTotal,
    skippedByDedup: copies.reduce(
      (total, { folderState }) => total + (folderState?.skippedCount ?? 0),
      0,
    ),
    folderProgress,
    errorCount: stopped + copies.reduce((total, copy) => total + errorsOf(copy), 0),
    bytesDone,
    bytesTotal,
    messagesPerSecond: Math.round(perSecond.messages * 10) / 10,
    bytesPerSecond: Math.round(perSecond.bytes),
    etaSeconds: secondsLeft(
      { messages: messagesTotal - messagesDone, bytes: bytesTotal === null ? 0 : sum(bytesLeft) },
      perSecond,
    ),
    throttledUntil: throttledUntil === null ? null : new Date(throttledUntil).toISOString(),
    warnings,
    notes: notes.slice(0, ENGINE_LIMITS.maxNotesShown),
  }
}

function progressOfFolder({
  folder,
  folderState,
  destination,
  bytes: bytesTotal,
}: FolderCopy): FolderProgress {
  if (!folderState)
    return {
      lastUid: 0,
      doneCount: 0,
      total: folder.messages ?? 0,
      bytes: 0,
      bytesTotal,
      destination,
    }
  const { lastUid, processedCount, left, bytes } = folderState
  return {
    lastUid,
    doneCount: processedCount,
    total: processedCount + left,
    bytes,
    bytesTotal,
    destination,
  }
}

/** Sizes that servers report can be estimates: a folder without messages left has no bytes left. */
function bytesLeft({ doneCount, total, bytes, bytesTotal }: FolderProgress): number {
  return doneCount >= total ? 0 : Math.max(0, (bytesTotal ?? 0) - bytes)
}

/**
 * Estimates the time left by bytes where they are known, because large messages take longer;
 * otherwise by messages.
 */
function secondsLeft(left: Sample, perSecond: Sample & { isSteady: boolean }): number | null {
  if (left.messages === 0) return 0
  if (!perSecond.isSteady) return null
  if (left.bytes > 0 && perSecond.bytes > 0) return Math.ceil(left.bytes / perSecond.bytes)
  return perSecond.messages > 0 ? Math.ceil(left.messages / perSecond.messages) : null
}

function errorsOf({ folderState, failedBefore, state }: FolderCopy): number {
  return (folderState?.failedCount ?? 0) + failedBefore + Number(state === 'failed')
}
