import { Fault } from '../errors.ts'
import type { Session } from '../net/imap/connection/imap-session.ts'
import { createSessions } from '../net/imap/connection/sessions.ts'
import {
  listReadableFolders,
  type Folder,
  type FolderListing,
} from '../net/imap/folders/list-folders.ts'
import { ImapLost, ImapRefused, isTemporary } from '../net/imap/connection/refusals.ts'
import type { Connection } from './shapes.ts'
import { openAccount, splitConnection, type AccountDeps } from './mailbox-accounts.ts'
import { signInFresh, type MigrationAccount } from './engine/connections/fresh-sign-in.ts'
import { MINUTE_MS } from '../time.ts'

/** Milliseconds for listing an account. Servers without LIST-STATUS need a command per folder. */
const ACCOUNT_DEADLINE_MS = MINUTE_MS

/** The workspace that asks; `gone` aborts when it no longer waits. */
type Asked = { workspaceId: string; gone: AbortSignal }

/**
 * Signs in to an account and counts its folders, for `test-connection`.
 * @throws Fault `invalid_request`, `target_not_allowed`, `upstream_*`
 */
export async function testAccount(connection: Connection, deps: AccountDeps, asked: Asked) {
  const { reached, listing } = await signInAndList(connection, deps, asked)
  const { host, port, secure } = reached
  const { listFailed, statusOnly } = listing
  const folderCount = foldersOf(listing).length
  const how = listFailed ? ' The server refused to list them; they were found one by one.' : ''
  const message = `Signed in to ${host} as ${reached.user}: ${folderCount} ${folderCount === 1 ? 'folder' : 'folders'}.${how}`
  const server = { host, port, secure }
  return {
    success: true as const,
    connected: true as const,
    folderCount,
    listFailed,
    statusOnly,
    server,
    message,
  }
}

/**
 * Lists the folders of an account with their message counts, for `list-folders`.
 * @throws Fault as `testAccount`, and `upstream_rejected` when there are none
 */
export async function listAccount(connection: Connection, deps: AccountDeps, asked: Asked) {
  const { reached, listing } = await signInAndList(connection, deps, asked)
  const { usedFallback, statusOnly } = listing
  const folders = foldersOf(listing).map((folder) => ({
    ...folder,
    messages: folder.messages ?? 0,
    unseen: folder.unseen ?? 0,
    delimiter: folder.delimiter ?? '',
  }))
  if (folders.length === 0) {
    const words = listing.refusal ? ` ${listing.refusal.message}` : ''
    throw new Fault(
      'upstream_rejected',
      `No folders found in the account on ${reached.host}.${words}`,
    )
  }
  const totalMessages = folders.reduce((sum, { messages }) => sum + messages, 0)
  const server = { host: reached.host, user: reached.user }
  return { folders, totalFolders: folders.length, totalMessages, server, usedFallback, statusOnly }
}

/** Folders that can hold messages. Others (`\Noselect`) only contain folders. */
function foldersOf({ folders }: FolderListing): Folder[] {
  return folders.filter(({ isSelectable }) => isSelectable)
}

async function signInAndList(
  connection: Connection,
  deps: AccountDeps,
  { workspaceId, gone }: Asked,
) {
  const deadline = AbortSignal.timeout(ACCOUNT_DEADLINE_MS)
  const signal = AbortSignal.any([deadline, gone])
  const { reached, secret } = splitConnection(connection)
  const account = await openAccount({ ...reached, ...secret }, deps, { workspaceId, signal })
  const sessions = createSessions(() => signInWithin(account, signal))
  // Errors of signing in are for the user as they are.
  await sessions.open()
  try {
    return { reached, listing: await listReadableFolders(sessions.open) }
  } catch (error) {
    throw faultOf(error, reached.host, deadline.aborted)
  } finally {
    await sessions.close()
  }
}

/** Signs in. The session is lost when the signal aborts. */
async function signInWithin(account: MigrationAccount, signal: AbortSignal): Promise<Session> {
  const session = await signInFresh(account, signal)
  const tooLate = () => session.wire.destroy(new ImapLost('timeout', 'It did not answer in time.'))
  signal.addEventListener('abort', tooLate)
  void session.wire.gone.then(() => signal.removeEventListener('abort', tooLate))
  return session
}

function faultOf(error: unknown, host: string, isLate: boolean): unknown {
  if (isLate)
    return new Fault('upstream_timeout', `${host} did not list its folders in time.`, {
      cause: error,
    })
  if (error instanceof ImapRefused) {
    const later = isTemporary(error.refusal) ? ' Try again later.' : ''
    return new Fault('upstream_rejected', `${host}: ${error.message}${later}`, { cause: error })
  }
  return error instanceof ImapLost
    ? new Fault('upstream_unreachable', `${host}: ${error.message}`, { cause: error })
    : error
}
