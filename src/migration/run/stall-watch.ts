import type { MigrationProgress } from '../engine/progress/progress.ts'

/** Detects a migration that makes no progress. */
export type StallWatch = {
  /** Aborts with `Stalled` after a time without progress. */
  signal: AbortSignal
  /** @returns whether something was completed since the last report */
  report(progress: MigrationProgress): boolean
  end(): void
}

/** The abort reason of a `StallWatch`. */
export class Stalled extends Error {}

/**
 * Creates a `StallWatch`. Only completed messages, folders and bytes count as progress: untagged
 * responses and trickling bytes cost a server nothing and could hold a slot forever.
 */
export function watchForStall(milliseconds: number): StallWatch {
  const still = new AbortController()
  let hasEnded = false
  const stopTimer = () => clearTimeout(timer)
  const start = () => setTimeout(() => still.abort(new Stalled()), milliseconds)
  let timer = start()
  let done = -1

  return {
    signal: still.signal,
    report({ messagesDone, foldersDone, bytesDone }) {
      const now = messagesDone + foldersDone + bytesDone
      if (now <= done) return false
      const isFirst = done === -1
      done = now
      stopTimer()
      // A timer that starts after the end would keep a stopped service alive.
      if (!hasEnded) timer = start()
      // The first report contains the progress of earlier runs, so it proves no progress of this
      // one.
      return !isFirst
    },
    end() {
      hasEnded = true
      stopTimer()
    },
  }
}
