import { packRecords, unpackRecord } from './copy-records.ts'
import type { Deletion, DeletionOutcome, NewDeletion } from './deletions.ts'
import { epochOf, type CopyFailure, type SavedFolder } from './journal.ts'

/** A deletion as JSON, with its record in base64. */
type StoredDeletion = Omit<Deletion, 'record' | 'isHeld'> & { record: string; isHeld?: boolean }

/** A change of a journal, as JSON. The last state of a folder counts. */
export type JournalEntry =
  | {
      folder: string
      state: SavedFolder
      failures?: readonly CopyFailure[]
      /** Packed records in base64. */
      copies?: string
      deletions?: StoredDeletion[]
    }
  | { closed: readonly string[]; outcome: DeletionOutcome }
  | { held: readonly string[] }
  | { failure: CopyFailure }

/** What a journal contains, in memory: the sum of its entries. */
export class JournalContents {
  readonly folders = new Map<string, SavedFolder>()
  failures: CopyFailure[] = []
  readonly #copies = new Map<string, Buffer[]>()
  readonly #deletions = new Map<string, Deletion>()
  #lastId = 0

  apply(entry: JournalEntry): void {
    if ('closed' in entry) for (const id of entry.closed) this.#deletions.delete(id)
    else if ('held' in entry) this.#hold(entry.held)
    else if ('failure' in entry) this.failures.push(entry.failure)
    else {
      const { folder, state, failures = [], copies, deletions = [] } = entry
      this.folders.set(folder, structuredClone(state))
      this.failures.push(...failures)
      if (copies !== undefined) this.#copiesOf(folder, state).push(Buffer.from(copies, 'base64'))
      for (const { record, ...deletion } of deletions) {
        this.#lastId = Math.max(this.#lastId, Number(deletion.id))
        const unpacked = unpackRecord(Buffer.from(record, 'base64'))
        this.#deletions.set(deletion.id, { isHeld: false, ...deletion, record: unpacked })
      }
    }
  }

  #hold(ids: readonly string[]): void {
    for (const id of ids) {
      const deletion = this.#deletions.get(id)
      if (deletion) this.#deletions.set(id, { ...deletion, isHeld: true })
    }
  }

  copies(folder: string, state: SavedFolder): Buffer {
    return Buffer.concat(this.#copiesOf(folder, state))
  }

  deletions(): Deletion[] {
    return [...this.#deletions.values()]
  }

  /** The entry for new deletions, with their ids. */
  entryOfDeletions(
    folder: string,
    state: SavedFolder,
    deletions: readonly NewDeletion[],
  ): JournalEntry {
    const stored = deletions.map((deletion, index) =>
      storedDeletion({ ...deletion, id: String(this.#lastId + index + 1), isHeld: false }),
    )
    return { folder, state, deletions: stored }
  }

  /** The fewest entries with the same contents. */
  *entries(): Generator<JournalEntry> {
    const deletions = Map.groupBy(this.deletions(), ({ folder }) => folder)
    for (const [folder, state] of this.folders) {
      const copies = this.copies(folder, state)
      const own = (deletions.get(folder) ?? []).map(storedDeletion)
      yield {
        folder,
        state,
        ...(copies.length > 0 && { copies: copies.toString('base64') }),
        ...(own.length > 0 && { deletions: own }),
      }
    }
    for (const failure of this.failures) yield { failure }
  }

  #copiesOf(folder: string, state: SavedFolder): Buffer[] {
    const key = `${epochOf(state)} ${folder}`
    const known = this.#copies.get(key) ?? []
    this.#copies.set(key, known)
    return known
  }
}

function storedDeletion({ record, ...deletion }: Deletion): StoredDeletion {
  return { ...deletion, record: packRecords([record]).toString('base64') }
}

/** The entry of a saved folder. */
export function folderEntry(
  folder: string,
  state: SavedFolder,
  failures: readonly CopyFailure[],
  copies: Buffer | undefined,
): JournalEntry {
  return {
    folder,
    state,
    ...(failures.length > 0 && { failures }),
    ...(copies && { copies: copies.toString('base64') }),
  }
}
