import type { BackupArchive } from '../../setting-values.ts'
import { openFolderStore } from './folder-store.ts'
import type { ObjectStore } from './object-store.ts'

/** Opens the configured archive. Nothing is read or written yet. */
export async function openObjectStore(archive: BackupArchive): Promise<ObjectStore> {
  if (archive.kind === 'folder') return openFolderStore(archive.path)
  const { openS3Store } = await import('./s3-store.ts')
  return openS3Store(archive)
}
