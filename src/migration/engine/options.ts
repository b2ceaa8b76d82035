import type { Logger } from '../../log.ts'
import type { WaitTimes } from '../limits.ts'
import type { MigrationAccount } from './connections/connection-pair.ts'
import type { MigrationNote } from './context.ts'
import type { Journal } from './journal/journal.ts'
import type { MigrationProgress } from './progress/progress.ts'

export type MigrateOptions = {
  /** Under which everything goes; levels with slashes. Default "": beside what is there. */
  prefix?: string
  /** Source path to destination path. */
  folderMap?: Readonly<Record<string, string>>
  /** Leave out what is at the destination already, by Message-ID or content. */
  deduplicate?: boolean
  /** Of a folder that shows all mail, copy only what no other of the folders has. */
  allMailOnce?: boolean
  /**
   * Folders for sent, drafts, trash … go to the destination's of the same use, whatever their
   * names.
   */
  specialUse?: boolean
  /** Map and count, copy nothing. */
  dryRun?: boolean
  /** In a folder of an earlier run: take what came since, too. */
  withNewMail?: boolean
  /** Pairs of connections, at most. */
  connections?: number
}

export type MigrateDeps = {
  source: MigrationAccount
  destination: MigrationAccount
  /** Paths as listed, or all that hold messages. */
  folders: readonly string[] | 'all'
  options?: MigrateOptions
  /** Bytes by path, where somebody has asked the source before. */
  sizes?: ReadonlyMap<string, number>
  journal: Journal
  /** Of an earlier run of the same migration. */
  notes?: readonly MigrationNote[]
  signal: AbortSignal
  log: Logger
  /** Called at most every `LIMITS.progress` milliseconds, and at the end. */
  onProgress?: (progress: MigrationProgress) => void
  waitTimes?: WaitTimes
}
