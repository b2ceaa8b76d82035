import type { Deletion, DeletionOutcome, NewDeletion } from './deletions.ts'
import type { FolderStatus } from '../sync/folder-status.ts'

/** The durable state of one folder, as JSON. Sets of UIDs are texts such as `1:3,7`. */
export type SavedFolder = {
  /** The destination path, with the destination’s delimiter. */
  destination: string
  sourceUidValidity: number | null
  destinationUidValidity: number | null
  /**
   * Modification sequence of the source (RFC 7162) up to which flags were copied; null where the
   * source has none.
   */
  sourceModseq: string | null
  /** Source messages from this UID on arrived after the start and belong to another run. */
  sourceUidNext: number
  /** Destination messages below this UID were there before the migration. */
  destinationUidNext: number
  /**
   * Messages that the destination had then, and copies since whose UIDs it did not report: it must
   * have both.
   */
  destinationMessages?: number
  withoutUid?: number
  /** The destination has copies of before one side assigned new UIDs. */
  hasEarlierCopies?: boolean
  /** Every source message up to this UID is processed, except those in `again`. */
  lastUid: number
  /** Processed messages above `lastUid`. */
  beyond: string
  /** Failed messages to retry. */
  again: string
  /** Source messages that the destination already had. */
  there: string
  /** Of them, those of which it had one with the same Message-ID and other content. */
  differing?: string
  /** UIDs of the copies, as far as the destination reported them. */
  copiedTo: string
  copied: number
  /** Messages that were not copied. Each has a failure. */
  failed: string
  bytes: number
  /** Bytes of processed messages that were not copied. */
  aside: number
  /** How often the destination’s connection broke during these messages. */
  suspicions: [uid: number, times: number][]
  /** Batches that may have been sent and have no response yet. Recorded before they are sent. */
  intents: Intent[]
  /** The folder is complete and verified. */
  isDone: boolean
  /** The source’s status before the last complete pass of a synchronization. */
  seen?: FolderStatus | null
  /** The keywords of the copy records, in the order of their bits. */
  keywords?: string[]
  /** Copied messages that are no longer at the source. */
  gone?: string
}

/**
 * A batch that may have been sent.
 * @property uidNext the smallest UID that its messages can have at the destination
 */
type Intent = { uids: string; uidNext: number }

/**
 * A message that was not copied (`uid`), a folder that was not (`folder`), or an error of the whole
 * migration (`folder` is "").
 */
export type CopyFailure = {
  folder: string
  uid: number | null
  messageId: string | null
  size: number | null
  /** A stable code for programs. */
  code: string
  /** A sentence with the server’s response. */
  message: string
  attempts: number
}

/** Stores the state of one migration. */
export type Journal = {
  load(folder: string): Promise<SavedFolder | null>
  /** The states of all folders, by path. */
  loadAll(): Promise<Map<string, SavedFolder>>
  /**
   * Replaces a folder’s state and adds failures and copy records, atomically. Durable when it
   * resolves.
   * @param copies packed records
   */
  save(
    folder: string,
    state: SavedFolder,
    failures: readonly CopyFailure[],
    copies?: Buffer,
  ): Promise<void>
  /** The packed copy records of a folder, of the UIDs that the state is about. */
  copies(folder: string, state: SavedFolder): Promise<Buffer>
  /** Adds deletions and replaces the state of their folder, atomically. */
  saveDeletions(
    folder: string,
    state: SavedFolder,
    deletions: readonly NewDeletion[],
  ): Promise<void>
  /** The open deletions. */
  deletions(): Promise<Deletion[]>
  /** Marks open deletions that a person must confirm. */
  holdDeletions(ids: readonly string[]): Promise<void>
  closeDeletions(ids: readonly string[], outcome: DeletionOutcome): Promise<void>
  /** Adds a failure of a folder or of the whole migration. */
  report(failure: CopyFailure): Promise<void>
}

/** The state of a folder before its first run. */
export function blankFolder(
  at: Pick<
    SavedFolder,
    | 'destination'
    | 'sourceUidValidity'
    | 'destinationUidValidity'
    | 'sourceModseq'
    | 'sourceUidNext'
    | 'destinationUidNext'
  >,
): SavedFolder {
  const sets = { beyond: '', again: '', there: '', failed: '', copiedTo: '' }
  return {
    ...at,
    ...sets,
    lastUid: 0,
    copied: 0,
    bytes: 0,
    aside: 0,
    suspicions: [],
    intents: [],
    isDone: false,
  }
}

/** Marks failed messages for retry. */
export function retryFailed(state: SavedFolder): SavedFolder {
  if (state.failed === '') return state
  const again = [state.again, state.failed].filter((uids) => uids !== '').join(',')
  return { ...state, again, failed: '', suspicions: [], isDone: false }
}

/**
 * The UIDs that copy records are about. After a server has given out new UIDs, records of the old
 * ones are not read any more.
 */
export function epochOf({
  sourceUidValidity,
  destinationUidValidity,
}: Pick<SavedFolder, 'sourceUidValidity' | 'destinationUidValidity'>): string {
  return `${sourceUidValidity ?? ''}/${destinationUidValidity ?? ''}`
}
