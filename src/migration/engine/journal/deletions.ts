import type { CopyRecord } from './copy-records.ts'

/**
 * Why a copy has no message at the source any more: `expunged` from its folder, its folder is gone
 * (`folder_gone`), or the source gave the folder new UIDs (`renumbered`), among which it was not
 * found. The last is no proof that a message was deleted.
 */
type DeletionReason = 'expunged' | 'folder_gone' | 'renumbered'

/** A copied message that is no longer where it was at the source. */
export type NewDeletion = {
  /** The folder at the source. */
  folder: string
  reason: DeletionReason
  /** The path and UIDVALIDITY of the folder with the copy. */
  destination: string
  destinationUidValidity: number | null
  record: CopyRecord
}

/**
 * A recorded deletion that is still open. `isHeld`: its folder lost more than half of its messages in
 * one pass, so a person must confirm it.
 */
export type Deletion = NewDeletion & { id: string; isHeld: boolean }

/**
 * What became of a deletion: the message is elsewhere at the source (`moved`) or in its place again
 * (`returned`), its copy was deleted (`applied`), or there was no copy any more (`absent`).
 */
export type DeletionOutcome = 'moved' | 'returned' | 'applied' | 'absent'
