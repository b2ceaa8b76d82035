import type { Logger } from '../../log.ts'
import type { LiteralKnowledge } from '../../net/imap/append/append-header.ts'
import type { AppendWindow } from '../../net/imap/append/append-window.ts'
import type { Folder } from '../../net/imap/folders/list-folders.ts'
import type { WaitTimes } from '../limits.ts'
import type { Pacer } from './connections/pacer.ts'
import type { ConnectionPair } from './connections/connection-pair.ts'
import type { RateLimitGate } from './connections/rate-limit-gate.ts'
import type { DestinationFolders } from './folder/destination-folder.ts'
import type { MessageFilter } from './filter.ts'
import type { FolderState } from './journal/folder-state.ts'
import type { Journal } from './journal/journal.ts'
import type { SyncPlan } from './sync/pass.ts'

/** Everything that the folders of a migration share. */
export type MigrationContext = {
  journal: Journal
  gate: RateLimitGate
  literals: LiteralKnowledge
  /** Memory for message bodies, shared by all migrations of this process. */
  bodies: AppendWindow
  waitTimes: WaitTimes
  signal: AbortSignal
  log: Logger
  destination: DestinationFolders
  deduplicate: boolean
  withNewMail: boolean
  recordsDigests: boolean
  filter: MessageFilter
  subscribe: 'subscribed' | 'all' | 'none'
  pacer: Pacer
  onCopied: (copy: MessageCopy) => void
  /** The pass of a synchronization; null for a migration that is not synchronized. */
  sync: SyncPlan | null
  arriving?: Arriving
  /** Called when the progress has changed. */
  changed: () => void
  /** Called when the source has more messages than when it was listed. */
  grown: () => void
  note: (note: MigrationNote) => void
  /** Folders copied before this one. Their messages are not copied again. */
  before: readonly FolderCopy[]
}

/**
 * For a source that still grows. Waits until a folder has more messages, which belong to this run,
 * and returns its bytes with them; null when none will follow. Every open session of the source
 * must have them by then.
 */
export type Arriving = (folder: string) => Promise<number | null>

/** A message that was copied: its folders and UIDs at both sides (null where unknown). */
export type MessageCopy = {
  folder: string
  uid: number
  destination: string
  to: number | null
  size: number
}

/** A note about something that was not copied exactly. */
export type MigrationNote = { folder: string; uid?: number; message: string }

/** The copy of one folder. */
export type FolderCopy = {
  readonly folder: Folder
  readonly destination: string
  /** Null where the source does not report it. */
  readonly bytes: number | null
  /** `stopped`: by an error of the whole migration. */
  readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'stopped'
  /** Null until the folder is open. */
  readonly folderState: FolderState | null
  /** Failures of this run before a server assigned new UIDs: the report has them. */
  readonly failedBefore: number
  /** Whether every message that the source claims to have is accounted for. */
  readonly isAccounted: boolean
  /** Messages that no batch has yet. Other connection pairs can help with them. */
  readonly waiting: number
  /** Resolves when batches are copied, so that other pairs can help, or when the folder has ended. */
  readonly begun: Promise<void>
  /**
   * Copies the whole folder. Errors of this folder alone go to the journal; errors of the whole
   * migration are thrown.
   */
  run(pair: ConnectionPair): Promise<void>
  /** Counts the messages for a dry run. Reports the errors that would prevent copying. */
  count(pair: ConnectionPair): Promise<void>
  /** Copies batches with a second connection pair until none are left. */
  help(pair: ConnectionPair): Promise<void>
}
