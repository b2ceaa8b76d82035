import { createSessions } from '../net/imap/connection/sessions.ts'
import { listReadableFolders, type Folder } from '../net/imap/folders/list-folders.ts'
import { signInFresh, type MigrationAccount } from './engine/connections/fresh-sign-in.ts'
import { sizesOf } from './engine/plan/sizes.ts'

export type SizedFolder = Pick<Folder, 'path' | 'specialUse'> & { messages: number; bytes: number }

/**
 * Lists the folders of an account that can hold messages, with their sizes in bytes (0 where the
 * server does not report them).
 * @throws Fault, ImapRefused, ImapLost
 */
export async function listFolderSizes(
  account: MigrationAccount,
  signal: AbortSignal,
): Promise<SizedFolder[]> {
  const sessions = createSessions(() => signInFresh(account, signal))
  try {
    const listing = await listReadableFolders(sessions.open, { withSize: true })
    const folders = listing.folders.filter(({ isSelectable }) => isSelectable)
    const sizes = await sizesOf(sessions.open, folders)
    return folders.map(({ path, specialUse, messages }) => {
      return { path, specialUse, messages: messages ?? 0, bytes: sizes.get(path) ?? 0 }
    })
  } finally {
    await sessions.close()
  }
}
