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
  /** Every source message up to this UID is processed, except those in `again`. */
  lastUid: number
  /** Processed messages above `lastUid`. */
  beyond: string
  /** Failed messages to retry, at or below `lastUid`. */
  again: string
  /** Source messages that the destination already had. */
  there: string
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
}

/**
 * A batch that may have been sent.
 * @property uidNext the smallest UID that its messages can have at the destination
 */
export type Intent = { uids: string; uidNext: number }

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
  /** Replaces a folder’s state and adds failures, atomically. Durable when it resolves. */
  save(folder: string, state: SavedFolder, failures: readonly CopyFailure[]): Promise<void>
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

/** A journal in memory, for tests and for migrations that are not resumed. */
export function createMemoryJournal(): Journal & { failures: CopyFailure[] } {
  const folders = new Map<string, string>()
  const failures: CopyFailure[] = []
  return {
    failures,
    load: async (folder) => JSON.parse(folders.get(folder) ?? 'null') as SavedFolder | null,
    async save(folder, state, added) {
      folders.set(folder, JSON.stringify(state))
      failures.push(...added)
    },
    report: async (failure) => void failures.push(failure),
  }
}
