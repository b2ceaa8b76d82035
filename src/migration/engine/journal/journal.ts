/** What must outlive a crash about one folder, as JSON. Sets of UIDs are texts such as `1:3,7`. */
export type SavedFolder = {
  /** Where it goes, as the destination writes it. */
  destination: string
  sourceUidValidity: number | null
  destinationUidValidity: number | null
  /**
   * The source's last change of which flags were read or brought over; null where nobody counts.
   */
  sourceModseq: string | null
  /** Source messages from this UID on came after the beginning: another run's. */
  sourceUidNext: number
  /** Destination messages from this UID on were not there before us. */
  destinationUidNext: number
  /** Every source message up to here is dealt with, but for those in `again`. */
  lastUid: number
  /** Dealt with, above `lastUid`. */
  beyond: string
  /** Failed once, to be tried once more, at or below `lastUid`. */
  again: string
  /** Source messages that were at the destination before us. */
  there: string
  /** Our copies' UIDs, as far as the destination told them. */
  copiedTo: string
  copied: number
  /** Not copied, with a failure for each. */
  failed: string
  bytes: number
  /** Bytes of messages that are dealt with and were not copied. */
  aside: number
  /** How often the destination's connection broke while it worked on these. */
  suspicions: [uid: number, times: number][]
  /**
   * Batches that were, or may have been, sent and are not answered; written before they are sent.
   */
  intents: Intent[]
  /** Verified after the last message: nothing is left to do. */
  isDone: boolean
}

/** @property uidNext no message of the batch can have a smaller UID at the destination */
export type Intent = { uids: string; uidNext: number }

/**
 * A message that was not copied (`uid`), a folder that could not be, or, with `folder` "", the
 * whole migration.
 */
export type Failure = {
  folder: string
  uid: number | null
  messageId: string | null
  size: number | null
  /** A stable word for programs. */
  code: string
  /** A sentence with the server's own words. */
  message: string
  attempts: number
}

/** Where the state of one migration is kept. */
export type Journal = {
  load(folder: string): Promise<SavedFolder | null>
  /** Replaces a folder's state and adds failures, both or neither. Durable when it resolves. */
  save(folder: string, state: SavedFolder, failures: readonly Failure[]): Promise<void>
  /** Adds a failure that is not of one message. */
  report(failure: Failure): Promise<void>
}

/** The books of a folder of which nothing is known yet. */
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

/** What failed is left to do again. */
export function retryFailed(state: SavedFolder): SavedFolder {
  if (state.failed === '') return state
  const again = [state.again, state.failed].filter((uids) => uids !== '').join(',')
  return { ...state, again, failed: '', suspicions: [], isDone: false }
}

/** A journal that forgets: for tries, and for migrations that nobody will resume. */
export function createMemoryJournal(): Journal & { failures: Failure[] } {
  const folders = new Map<string, string>()
  const failures: Failure[] = []
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
