import { onAbort } from '../../../net/abort.ts'
import { createSessions } from '../../../net/imap/connection/sessions.ts'
import { listReadableFolders } from '../../../net/imap/folders/list-folders.ts'
import { createMailboxView } from '../../../net/imap/folders/mailbox-view.ts'
import { ImapLost } from '../../../net/imap/connection/refusals.ts'
import { signInFresh, type MigrationAccount } from '../../engine/connections/fresh-sign-in.ts'
import { chooseFolders } from '../../engine/plan/plan.ts'
import { digestOfStatuses } from '../../engine/sync/folder-status.ts'
import { readStatuses } from '../../engine/sync/sync-plan.ts'

/**
 * Reads a digest of the state of all folders of a source, as a pass stores it: one sign-in and one
 * listing. No folder is opened where the server counts its changes (RFC 7162).
 * @param folders paths; empty for all
 * @returns null where the server reports too little
 * @throws Fault when the sign-in fails, ConsentNeeded, ImapRefused, ImapLost
 */
export async function readSourceDigest(
  source: MigrationAccount,
  folders: readonly string[],
  signal: AbortSignal,
): Promise<string | null> {
  const sessions = createSessions(async () => {
    const session = await signInFresh(source, signal)
    const leave = onAbort([signal], () =>
      session.wire.destroy(new ImapLost('timeout', 'It did not answer in time.')),
    )
    void session.wire.gone.then(leave)
    return session
  })
  try {
    const listing = await listReadableFolders(sessions.open, { withModseq: true })
    const chosen = chooseFolders(listing, folders.length === 0 ? 'all' : folders)
    const changed = () => new ImapLost('protocol', 'The source assigned new UIDs to its messages.')
    const statuses = await readStatuses(chosen, async (name) =>
      createMailboxView((await sessions.open()).wire, { verb: 'EXAMINE', name, changed }),
    )
    return digestOfStatuses(statuses)
  } finally {
    await sessions.close()
  }
}
