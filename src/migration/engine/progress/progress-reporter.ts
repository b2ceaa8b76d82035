import type { FolderCopy, MigrationNote } from '../context.ts'
import { LIMITS } from '../../limits.ts'
import { createRate, progressOf, type MigrationProgress } from './progress.ts'
import type { MigrationWarning } from '../plan/warnings.ts'

/** Shows progress now and then, however often it changes. */
export type ProgressReporter = {
  setFolders(copies: readonly FolderCopy[], warnings: MigrationWarning[]): void
  scheduleReport(): void
  /**
   * The last word.
   * @param stopped failures of the whole migration
   */
  finish(stopped: number): MigrationProgress
}

type ReporterDeps = {
  /** How many were asked for, for as long as nobody has looked which of them there are. */
  foldersAsked: number
  onProgress: (progress: MigrationProgress) => void
  /** Milliseconds since 1970 until which a server asked us to wait. */
  closedUntil: () => number | null
  /** Grows. */
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

  return {
    setFolders(copies, warnings) {
      shown = copies
      warned = warnings
      tell()
    },
    scheduleReport: () => (timer ??= setTimeout(tell, LIMITS.progressIntervalMs)),
    finish(stopped) {
      clearTimeout(timer)
      // Nothing may be told after the end.
      timer = setTimeout(() => undefined, 0)
      const progress = read(stopped)
      onProgress(progress)
      return progress
    },
  }
}
