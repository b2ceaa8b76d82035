import type { FolderCopy, MigrationNote } from '../context.ts'
import { ENGINE_LIMITS } from '../../limits.ts'
import { createRate, progressOf, type MigrationProgress } from './progress.ts'
import type { MigrationWarning } from '../plan/warnings.ts'

/** Reports progress at intervals, however often it changes. */
export type ProgressReporter = {
  setFolders(copies: readonly FolderCopy[], warnings: MigrationWarning[]): void
  scheduleReport(): void
  /**
   * Reports the final progress.
   * @param stopped failures of the whole migration
   */
  finish(stopped: number): MigrationProgress
  /** Reports nothing more. */
  end(): void
}

type ReporterDeps = {
  /** Number of requested folders, until they are listed. */
  foldersAsked: number
  onProgress: (progress: MigrationProgress) => void
  /** Until when a server has asked us to wait, in milliseconds since 1970. */
  closedUntil: () => number | null
  /** Grows during the migration. */
  notes: readonly MigrationNote[]
}

export function createProgressReporter({
  foldersAsked,
  onProgress,
  closedUntil,
  notes,
}: ReporterDeps): ProgressReporter {
  const rate = createRate()
  let shown: readonly FolderCopy[] | null = null
  let warned: MigrationWarning[] = []
  let timer: NodeJS.Timeout | undefined
  let hasEnded = false

  const read = (stopped: number) =>
    progressOf(shown ?? [], {
      foldersTotal: shown?.length ?? foldersAsked,
      rate,
      stopped,
      throttledUntil: closedUntil(),
      warnings: warned,
      notes,
    })
  function tell(): void {
    timer = undefined
    onProgress(read(0))
  }

  function end(): void {
    clearTimeout(timer)
    hasEnded = true
  }

  return {
    setFolders(copies, warnings) {
      shown = copies
      warned = warnings
      tell()
    },
    scheduleReport() {
      if (!hasEnded) timer ??= setTimeout(tell, ENGINE_LIMITS.progressIntervalMs)
    },
    finish(stopped) {
      end()
      const progress = read(stopped)
      onProgress(progress)
      return progress
    },
    end,
  }
}
