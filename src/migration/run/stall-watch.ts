import type { MigrationProgress } from '../engine/progress/progress.ts'

/** Watches that something of a migration is completed now and then. */
export type StallWatch = {
  /** Aborts when nothing was completed for too long. */
  signal: AbortSignal
  /** @returns whether something was completed since the last time */
  report(progress: MigrationProgress): boolean
  end(): void
}

/** The reason of its signal. */
export class Stalled extends Error {}

/**
 * What counts are messages and folders that are done: lines that say that a server is still there,
 * and bytes that trickle, cost it nothing and would hold the slot for ever.
 */
export function watchForStall(milliseconds: number): StallWatch {
  const still = new AbortController()
  const end = () => clearTimeout(timer)
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
      end()
      timer = start()
      // The first says how far earlier runs came: no more than that the servers have told what
      // there is.
      return !isFirst
    },
    end,
  }
}
