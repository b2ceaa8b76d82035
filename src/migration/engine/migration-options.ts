import type { Logger } from '../../log.ts'
import type { WaitTimes } from '../limits.ts'
import type { RateLimit } from './connections/pacer.ts'
import type { MigrationAccount } from './connections/fresh-sign-in.ts'
import type { Arriving, MessageCopy, MigrationNote } from './context.ts'
import type { MessageFilter } from './filter.ts'
import type { Journal } from './journal/journal.ts'
import type { MigrationOutcome } from './outcome.ts'
import type { MigrationProgress } from './progress/progress.ts'
import type { SyncOptions } from './sync/pass.ts'

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
  /** Also follow flags, moves and deletions of messages that an earlier run copied. */
  sync?: SyncOptions | undefined
  /** Maximum number of connection pairs. */
  connections?: number
  /** Copy only messages of this size and age. */
  filter?: MessageFilter
  /** Changes the destination path of a folder that no other option maps. */
  renameFolder?: (path: string) => string
  /** The folders to subscribe to: those that are subscribed at the source (default), or all. */
  subscribe?: 'subscribed' | 'all' | 'none'
  /** Limits the average rate. */
  rate?: RateLimit
}

export type MigrateDeps = {
  source: MigrationAccount
  destination: MigrationAccount
  /** Paths as listed, or all folders that hold messages. */
  folders: readonly string[] | 'all'
  options?: MigrateOptions
  /** Bytes by path, where the source was asked before. */
  sizes?: ReadonlyMap<string, number>
  arriving?: Arriving
  journal: Journal
  /** Notes of an earlier run of the same migration. */
  notes?: readonly MigrationNote[]
  signal: AbortSignal
  log: Logger
  /** Called at most every `LIMITS.progressIntervalMs`, and at the end. */
  onProgress?: (progress: MigrationProgress) => void
  /** Called for each message that was copied in this run. */
  onCopied?: (copy: MessageCopy) => void
  /** Stores the outcome, while the connections sign out. Its error is thrown. */
  onOutcome?: (outcome: MigrationOutcome) => Promise<void>
  /** Called when a connection that was signed in has to be replaced. */
  onConnectionLost?: () => void
  waitTimes?: WaitTimes
  /**
   * Whether the journal records the SHA-256 of each message (default): synchronizations and proofs
   * need it.
   */
  recordsDigests?: boolean
}
