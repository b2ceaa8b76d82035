import type { Logger } from '../../log.ts'
import type { AppendWindow } from '../../net/imap/append/append-window.ts'
import type { Folder } from '../../net/imap/folders/list-folders.ts'
import type { WaitTimes } from '../limits.ts'
import type { ConnectionPair } from './connections/connection-pair.ts'
import type { RateLimitGate } from './connections/rate-limit-gate.ts'
import type { DestinationFolders } from './folder/destination-folder.ts'
import type { FolderState } from './journal/folder-state.ts'
import type { Journal } from './journal/journal.ts'

/** What all folders of a migration share. */
export type MigrationContext = {
  journal: Journal
  gate: RateLimitGate
  /** Keywords that the destination has taken. */
  shapes: Set<string>
  /** Bodies in memory, over all migrations of this process. */
  bodies: AppendWindow
  waitTimes: WaitTimes
  signal: AbortSignal
  log: Logger
  destination: DestinationFolders
  deduplicate: boolean
  withNewMail: boolean
  /** Something of the progress is different. */
  changed: () => void
  note: (note: MigrationNote) => void
  /** Folders that are over before this one begins, and whose messages it need not copy again. */
  before: readonly FolderCopy[]
}

/** What was not kept exactly as it was. */
export type MigrationNote = { folder: string; uid?: number; message: string }

/** One folder on its way. */
export type FolderCopy = {
  readonly folder: Folder
  readonly destination: string
  /** Null where nobody knows. */
  readonly bytes: number | null
  /** `stopped`: by something that concerns the whole migration. */
  readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'stopped'
  /** Null until it is open. */
  readonly folderState: FolderState | null
  /** Messages that nobody has in hand yet; another pair may help with them. */
  readonly waiting: number
  /** Resolves when it is known how much there is to do. */
  readonly opened: Promise<void>
  /**
   * Copies all of it. Failures of this folder alone are in the journal; throws what concerns the
   * whole migration.
   */
  run(pair: ConnectionPair): Promise<void>
  /**
   * Counts its messages, as far as a dry run goes; what stands in the way of that would stand in
   * the way of copying.
   */
  count(pair: ConnectionPair): Promise<void>
  /** Copies batches of it beside the pair that runs it, as long as there are any. */
  help(pair: ConnectionPair): Promise<void>
}
