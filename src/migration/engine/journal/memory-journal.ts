import type { CopyFailure, Journal, SavedFolder } from './journal.ts'
import { folderEntry, JournalContents, type JournalEntry } from './journal-contents.ts'

export type ContentsJournal = Journal & {
  /** Failures of this run and earlier ones. */
  readonly failures: CopyFailure[]
}

/**
 * Creates a journal that has its contents in memory.
 * @param append makes an entry durable
 */
export function createContentsJournal(
  contents: JournalContents,
  append: (entry: JournalEntry) => Promise<void>,
): ContentsJournal {
  async function add(entry: JournalEntry): Promise<void> {
    contents.apply(entry)
    await append(entry)
  }
  const copyOf = (state: SavedFolder | undefined) => structuredClone(state ?? null)
  return {
    get failures() {
      return contents.failures
    },
    load: async (folder) => copyOf(contents.folders.get(folder)),
    loadAll: async () => structuredClone(contents.folders),
    save: (folder, state, failures, copies) => add(folderEntry(folder, state, failures, copies)),
    copies: async (folder, state) => contents.copies(folder, state),
    saveDeletions: (folder, state, deletions) =>
      add(contents.entryOfDeletions(folder, state, deletions)),
    deletions: async () => contents.deletions(),
    holdDeletions: (ids) => add({ held: ids }),
    closeDeletions: (ids, outcome) => add({ closed: ids, outcome }),
    report: (failure) => add({ failure }),
  }
}

/** Creates a journal in memory, for tests and for migrations that are not resumed. */
export function createMemoryJournal(): ContentsJournal {
  return createContentsJournal(new JournalContents(), async () => undefined)
}
