import type { Logger } from '../../log.ts'
import type { WaitTimes } from '../limits.ts'
import type { MigrationAccount } from './connections/fresh-sign-in.ts'
import type { MigrationNote } from './context.ts'
import type { Journal } from './journal/journal.ts'
import type { MigrationProgress } from './progress/progress.ts'

export type MigrateOptions = {
  /** Parent of all copied folders; levels with slashes. Default "". */
  prefix?: string
  /** Destination paths by source path. */
  folderMap?: Readonly<Record<string, string>>
  /** Skip messages that the destination already has, by Message-ID or content. */
  deduplicate?: boolean
  /** From a folder with all mail (`\All`), copy only messages of no other folder. */
  allMailOnce?: boolean
  /**
   * Copy special-use folders (RFC 6154) to the destination’s folder of the same use, whatever its
   * name.
   */
  specialUse?: boolean
  /** Map and count folders without copying. */
  dryRun?: boolean
  /** Also copy messages that arrived since an earlier run. */
  withNewMail?: boolean
  /** Maximum number of connection pairs. */
  connections?: number
}

export type MigrateDeps = {
  source: MigrationAccount
  destination: MigrationAccount
  /** Paths as listed, or all folders that hold messages. */
  folders: readonly string[] | 'all'
  options?: MigrateOptions
  /** Bytes by path, where the source was asked before. */
  sizes?: ReadonlyMap<string, number>
  journal: Journal
  /** Notes of an earlier run of the same migration. */
  notes?: readonly MigrationNote[]
  signal: AbortSignal
  log: Logger
  /** Called at most every `LIMITS.progressIntervalMs`, and at the end. */
  onProgress?: (progress: MigrationProgress) => void
  /** Called when a connection that was signed in has to be replaced. */
  onConnectionLost?: () => void
  waitTimes?: WaitTimes
}
