import type { FolderCopy } from '../context.ts'
import { FolderState } from '../journal/folder-state.ts'
import type { Journal, SavedFolder } from '../journal/journal.ts'
import type { FolderRoute } from '../plan/mapping.ts'

/** A folder in which nothing has changed since the last pass: it is not opened. */
export function createUnchangedFolder(
  journal: Journal,
  { folder, bytes }: FolderRoute,
  saved: SavedFolder,
): FolderCopy {
  const nothing = async () => undefined
  return {
    folder,
    destination: saved.destination,
    bytes,
    state: 'done',
    folderState: new FolderState(journal, folder.path, saved),
    failedBefore: 0,
    isAccounted: saved.isDone,
    waiting: 0,
    begun: Promise.resolve(),
    run: nothing,
    count: nothing,
    help: nothing,
  }
}
