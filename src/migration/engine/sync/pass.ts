import type { Metadata } from '../../../net/imap/fetch/fetch-metadata.ts'
import type { CopyRecords } from '../journal/copy-records.ts'
import type { Deletion } from '../journal/deletions.ts'
import type { SavedFolder } from '../journal/journal.ts'
import type { FolderStatus } from './folder-status.ts'

/** What changed in a folder of the source since the last pass, besides new messages. */
export type FolderChanges = {
  records: CopyRecords
  /** The present flags of messages whose flags are not those of their copies, by UID. */
  flags: Map<number, string[]>
}

/** A new message of the source, and the copy of the same message from where it was before. */
export type Relocation = { row: Metadata; deletion: Deletion }

/** How a migration is synchronized again. */
export type SyncOptions = {
  /** What happens at the destination when a copied message is deleted at the source. */
  deletions: 'record' | 'apply'
  /**
   * Whether deletions are applied without a confirmation where a folder lost more than half of its
   * messages in one pass.
   */
  isLargeConfirmed?: boolean
}

/** A folder whose deletions wait for a confirmation, and how many they are. */
export type HeldFolder = { folder: string; messages: number }

/** What a pass changed: messages copied, with changed flags, moved, deleted at either side. */
export type SyncChanges = {
  copied: number
  flags: number
  moved: number
  /** Deleted at the source. */
  deleted: number
  /** Of them and earlier ones: deleted at the destination. */
  applied: number
}

/** What a pass does in one folder. */
export type SyncedFolder = {
  status: FolderStatus
  /** Null for a folder that was not copied before, or has new UIDs. */
  changes: FolderChanges | null
  /** What changed could not be found out: the next pass has to find it. */
  isUnknown: boolean
  relocations: ReadonlyMap<number, Relocation> | null
}

/** A pass of a synchronization. */
export type SyncPlan = {
  changes: SyncChanges
  /** The state of a folder in which nothing has changed. */
  unchanged: ReadonlyMap<string, SavedFolder>
  statuses: ReadonlyMap<string, FolderStatus>
  folder(path: string): SyncedFolder | null
  /** Deletions that were open before this pass. */
  before: readonly Deletion[]
  /** Copies of each folder before this pass. */
  copiedBefore: ReadonlyMap<string, number>
}

/**
 * What a pass changed, and a digest of the source’s status before it: as long as the source has the
 * same, another pass would find nothing. Null where another pass is needed anyway.
 */
export type SyncOutcome = {
  changes: SyncChanges
  seen: string | null
  /** Deletions that wait for a confirmation. */
  held: HeldFolder[]
  /** Whether some of them were found in this pass. */
  isNewlyHeld: boolean
}
