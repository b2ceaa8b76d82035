import type { MigrationContext } from '../context.ts'
import { formatUidSet } from '../../../net/imap/connection/command-encoding.ts'
import { subscribe } from '../../../net/imap/folders/create-folder.ts'
import { fetchUids } from '../../../net/imap/folders/mailbox.ts'
import type { MailboxView } from '../../../net/imap/folders/mailbox-view.ts'
import type { FolderCopier } from './folder-copier.ts'
import type { ConnectionPair } from '../connections/connection-pair.ts'
import { ENGINE_LIMITS } from '../../limits.ts'
import { settledAll } from '../settled-all.ts'
import type { OpenFolder } from './open-folder.ts'
import { FolderStop } from '../stop.ts'
import { recount } from './list-messages.ts'
import { addOmitted, areCopiesStored, verifyCopies } from './verify-copies.ts'

/**
 * Verifies that all messages are accounted for: true when they are, false when messages are left to
 * copy. Counts are read again only where the responses so far do not prove them.
 * @param failures attempts that failed: the server may have ended the connection at STATUS or at
 *   SUBSCRIBE, which no message needs
 * @throws FolderStop when the destination does not have what was copied, or the source claims to
 *   have more messages than it lists; Reopen, ImapRefused, ImapLost
 */
export async function verify(
  pair: ConnectionPair,
  at: OpenFolder,
  copier: FolderCopier,
  migration: MigrationContext,
  failures: number,
): Promise<boolean> {
  const unlisted = await countUnlisted(pair, at, copier)
  const { folderState } = at
  const isAllDone = () => at.uids.every((uid) => folderState.isDone(uid))
  if (!isAllDone()) return false
  const { wire } = await pair.destination()
  const { subscribe: subscriptions } = migration
  const isWanted = subscriptions === 'all' || (subscriptions !== 'none' && copier.folder.subscribed)
  const subscribing =
    isWanted && failures < ENGINE_LIMITS.maxBreaks.alone
      ? subscribe(wire, at.destinationFolder.name)
      : null
  const [isStored] = await settledAll([failures === 0 && areCopiesStored(wire, at), subscribing])
  if (!isStored) await verifyCopies(pair, at, copier, migration)
  if (!isAllDone()) return false
  if (unlisted > 0)
    throw new FolderStop(
      'not_listed',
      `The source claims to have ${unlisted} more messages in “${copier.folder.path}” than it lists.`,
    )
  folderState.settle(at.uids)
  at.isVerified = true
  return true
}

/**
 * Counts messages that the source claims to have and does not list. A complete listing, of which the
 * source returned every message, has none. Otherwise it is listed again: messages that the first
 * listing omitted are added, and those that it lists but does not return fail.
 */
async function countUnlisted(
  pair: ConnectionPair,
  at: OpenFolder,
  copier: FolderCopier,
): Promise<number> {
  if (at.isCounted && copier.evidence.missing.size === 0) return 0
  at.isCounted = false
  const source = await copier.reading(pair, at)
  const { uids, claimed } = await recount(source, { counted: copier.folder.messages })
  const now = uids.filter((uid) => uid < at.folderState.sourceUidNext)
  addOmitted(at, uids)
  failMissing(at, copier, now)
  const arrived = uids.slice(now.length)
  return claimed - now.length - (await countReturned(source, arrived))
}

/** Of messages that arrived since, and are not fetched: SEARCH of some servers lists what is not there. */
async function countReturned(source: MailboxView, uids: readonly number[]): Promise<number> {
  if (uids.length === 0) return 0
  const listed = new Set(uids)
  const returned = await fetchUids(source, formatUidSet(uids))
  return returned ? new Set(returned.filter((uid) => listed.has(uid))).size : uids.length
}

/** Fails messages that the source still lists but does not return. */
function failMissing(
  { folderState }: OpenFolder,
  { folder, evidence }: FolderCopier,
  uids: number[],
): void {
  const message = 'The source lists this message but does not return it.'
  for (const uid of uids.filter((one) => evidence.missing.has(one))) {
    evidence.missing.delete(uid)
    const unknown = { messageId: null, size: null }
    folderState.failed({
      folder: folder.path,
      uid,
      ...unknown,
      code: 'unfetchable',
      message,
      attempts: 2,
    })
  }
}

/** Fails messages at which connections broke, or servers were busy, too often. */
export function failUnreadableMessages(
  { folderState }: OpenFolder,
  { folder, evidence }: FolderCopier,
): void {
  const { maxBreaks, maxBusy } = ENGINE_LIMITS
  for (const [uid, attempts] of folderState.saved.suspicions) {
    const {
      messageId = null,
      size = null,
      isBusy = false,
      code = 'connection_lost',
      text = '',
    } = evidence.descriptions.get(uid) ?? {}
    if (attempts < (isBusy ? maxBusy : maxBreaks.most) || folderState.isDone(uid)) continue
    const message = isBusy
      ? text
      : `The connection broke each time this message was copied. ${text}`.trim()
    folderState.failed({
      folder: folder.path,
      uid,
      messageId,
      size,
      code,
      message,
      attempts,
    })
  }
}
