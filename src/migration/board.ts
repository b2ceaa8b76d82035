import type { FolderCopy, Note } from './folder.ts'
import { LIMITS } from './limits.ts'
import { createRate, progressOf, type Progress } from './progress.ts'
import type { Warning } from './warnings.ts'

/** Shows progress now and then, however often it changes. */
export type Board = {
  show(copies: readonly FolderCopy[], warnings: Warning[]): void
  changed(): void
  /**
   * The last word.
   * @param stopped failures of the whole migration
   */
  finish(stopped: number): Progress
}

type BoardDeps = {
  /** How many were asked for, for as long as nobody has looked which of them there are. */
  foldersAsked: number
  onProgress: (progress: Progress) => void
  /** Milliseconds since 1970 until which a server asked us to wait. */
  closedUntil: () => number | null
  /** Grows. */
  notes: readonly Note[]
}

export function createBoard({ foldersAsked, onProgress, closedUntil, notes }: BoardDeps): Board {
  const rate = createRate()
  let shown: readonly FolderCopy[] | null = null
  let warned: Warning[] = []
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
    show(copies, warnings) {
      shown = copies
      warned = warnings
      tell()
    },
    changed: () => (timer ??= setTimeout(tell, LIMITS.progress)),
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
