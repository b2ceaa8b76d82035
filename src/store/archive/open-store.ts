import type { BackupArchive } from '../../config.ts'
import { openFolderStore } from './folder-store.ts'
import type { ObjectStore } from './object-store.ts'

/** Opens the configured archive. Nothing is read or written yet. */
export function openObjectStore({ path }: BackupArchive): ObjectStore {
  return openFolderStore(path)
}
