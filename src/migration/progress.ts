import type { FolderCopy } from './folder.ts'

/** How far a migration is. Paths are the source's. */
export type Progress = {
  /** "" between folders. */
  currentFolder: string
  foldersDone: number
  foldersTotal: number
  /** Copied, already there, or failed. */
  messagesDone: number
  messagesTotal: number
  skippedByDedup: number
  folderProgress: Record<string, FolderProgress>
  errorCount: number
  bytesDone: number
  messagesPerSecond: number
  /** Seconds; null while nothing can be said. */
  etaSeconds: number | null
  /** ISO 8601, while a server has asked us to wait. */
  throttledUntil: string | null
}

export type FolderProgress = { lastUid: number; doneCount: number; total: number; bytes: number; destination: string }

/** What was dealt with, and a rate over the last seconds. */
export type Rate = { record(messages: number): void; perSecond(): number }

const WINDOW_MS = 10_000

export function createRate(now: () => number = () => performance.now()): Rate {
  const samples: [at: number, messages: number][] = []
  return {
    record(messages) {
      samples.push([now(), messages])
      while (samples.length > 2 && now() - (samples[1]?.[0] ?? 0) > WINDOW_MS) samples.shift()
    },
    perSecond() {
      const [first, last] = [samples[0], samples.at(-1)]
      if (!first || !last || last[0] === first[0]) return 0
      return ((last[1] - first[1]) * 1000) / (last[0] - first[0])
    },
  }
}

/**
 * @param stopped failures of the whole migration
 * @param throttledUntil milliseconds since 1970
 */
export function progressOf(
  copies: readonly FolderCopy[],
  { rate, stopped, throttledUntil }: { rate: Rate; stopped: number; throttledUntil: number | null },
): Progress {
  const folderProgress = Object.fromEntries(copies.map((copy) => [copy.folder.path, progressOfFolder(copy)]))
  const folders = Object.values(folderProgress)
  const sum = (of: (folder: FolderProgress) => number) => folders.reduce((total, folder) => total + of(folder), 0)
  const [messagesDone, messagesTotal] = [sum(({ doneCount }) => doneCount), sum(({ total }) => total)]
  rate.record(messagesDone)
  const perSecond = rate.perSecond()
  const left = messagesTotal - messagesDone
  return {
    currentFolder: copies.find(({ state }) => state === 'running')?.folder.path ?? '',
    foldersDone: copies.filter(({ state }) => state === 'done' || state === 'failed').length,
    foldersTotal: copies.length,
    messagesDone,
    messagesTotal,
    skippedByDedup: copies.reduce((total, { ledger }) => total + (ledger?.skippedCount ?? 0), 0),
    folderProgress,
    errorCount: stopped + copies.reduce((total, copy) => total + errorsOf(copy), 0),
    bytesDone: sum(({ bytes }) => bytes),
    messagesPerSecond: Math.round(perSecond * 10) / 10,
    etaSeconds: left === 0 ? 0 : perSecond > 0 ? Math.ceil(left / perSecond) : null,
    throttledUntil: throttledUntil === null ? null : new Date(throttledUntil).toISOString(),
  }
}

function progressOfFolder({ folder, ledger, destination }: FolderCopy): FolderProgress {
  if (!ledger) return { lastUid: 0, doneCount: 0, total: folder.messages ?? 0, bytes: 0, destination }
  const { lastUid, dealtWith, left, bytes } = ledger
  return { lastUid, doneCount: dealtWith, total: dealtWith + left, bytes, destination }
}

function errorsOf({ ledger, state }: FolderCopy): number {
  return (ledger?.failedCount ?? 0) + Number(state === 'failed')
}
