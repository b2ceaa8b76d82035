import { setTimeout as sleep } from 'node:timers/promises'
import { readStatus } from '../../../net/imap/folders/mailbox.ts'
import type { MailboxView } from '../../../net/imap/folders/mailbox-view.ts'
import { decodeMailbox } from '../../../net/imap/folders/mailbox-name.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import { ImapRefused, isThrottling } from '../../../net/imap/connection/refusals.ts'
import {
  fetchMetadata,
  undescribed,
  type Metadata,
} from '../../../net/imap/fetch/fetch-metadata.ts'
import type { WaitTimes } from '../../limits.ts'
import { listExisting, requireDecided, type OwnCopyTest } from '../identify/existing-messages.ts'
import { messageIdOf } from '../identify/message-fingerprint.ts'
import { requireReturned, undecidable } from './list-messages.ts'
import type { FolderState } from '../journal/folder-state.ts'

type SettleDeps = { waitTimes: Pick<WaitTimes, 'quietMs'>; signal: AbortSignal }

/**
 * Finds the outcome of batches that were sent without a response, before anything is sent again.
 * Messages found at the destination count as copied, the others are left to copy.
 * @param source with the folder open
 */
export async function reconcile(
  folderState: FolderState,
  source: () => Promise<MailboxView>,
  destination: MailboxView,
  deps: SettleDeps,
): Promise<void> {
  const open = folderState.unresolvedBatches()
  if (!open) return folderState.clearIntents()
  await settledUidNext(destination, deps)
  // Whatever UIDNEXT it reports: only a listing shows what arrived.
  await matchArrived(folderState, open, await source(), destination)
  await folderState.clearIntents()
}

/**
 * A server stores a message that it has received completely, even if the connection is gone, and a
 * busy one may take a while. Waits until no more messages arrive.
 */
export async function settledUidNext(
  destination: MailboxView,
  { waitTimes, signal }: SettleDeps,
): Promise<number | null> {
  for (let uidNext = await readUidNext(destination); ;) {
    await sleep(waitTimes.quietMs, undefined, { signal })
    const now = await readUidNext(destination)
    if (now === uidNext) return uidNext
    uidNext = now
  }
}

/** A server that rejects STATUS may still open the folder. */
async function readUidNext(destination: MailboxView): Promise<number | null> {
  try {
    return (await readStatus(destination, destination.name)).uidNext
  } catch (error) {
    if (!(error instanceof ImapRefused) || isThrottling(error.refusal)) throw error
    return (await destination.reopen()).uidNext
  }
}

/** Whether the UIDs of all copies so far are known. */
export function tellsAllUids(
  { capabilities }: Pick<Wire, 'capabilities'>,
  { withoutUid }: Pick<FolderState, 'withoutUid'>,
): boolean {
  return capabilities.has('UIDPLUS') && withoutUid === 0
}

async function matchArrived(
  folderState: FolderState,
  { uids, uidNext }: { uids: number[]; uidNext: number },
  source: MailboxView,
  destination: MailboxView,
): Promise<void> {
  const tellsUids = tellsAllUids(destination, folderState)
  const isNew = (uid: number) => !folderState.isOwnCopy(uid)
  // After a renumbering, what was there before it may be our copies.
  const from = !tellsUids && folderState.saved.hasEarlierCopies === true ? 1 : uidNext
  const arrived = await listExisting(destination, { from }, isNew)
  if (arrived.unreadable > 0) throw undecidable(arrived.unreadable, decodeMailbox(destination.name))
  if (arrived.count === 0) return
  const unknown = new Set(uids)
  const rows: Metadata[] = []
  // Without UIDs of our copies, the known copies must account for their own messages first.
  const [first, last] = tellsUids ? [uids[0], uids.at(-1)] : [1, folderState.sourceUidNext - 1]
  for await (const row of fetchMetadata(source, first ?? 1, last ?? 1))
    if (unknown.has(row.uid)) rows.push(row)
    else if (!tellsUids && folderState.isDone(row.uid) && !folderState.hasNoCopy(row.uid))
      arrived.addAccounted(row)
  const described = new Set(rows.map(({ uid }) => uid))
  rows.push(...uids.filter((uid) => !described.has(uid)).map(undescribed))
  rows.sort((a, b) => a.uid - b.uid)
  const isDescribed = rows.every(({ isUnknown }) => !isUnknown)
  const ids = Map.groupBy(rows, ({ messageIds }) => messageIdOf(messageIds))
  // A server may store other bytes than it received: then the only message with this Message-ID that
  // arrived meanwhile is the copy of the only one that was sent.
  const isOwnCopy: OwnCopyTest = (row, { isReturned, isAlike, isOnly }) =>
    !isReturned ||
    isAlike ||
    (isOnly && isDescribed && ids.get(messageIdOf(row.messageIds))?.length === 1)
  const matches = await arrived.match(rows, source, destination, { isOwnCopy, sentFrom: uidNext })
  requireDecided(matches, decodeMailbox(destination.name))
  const unread = uids.filter((uid) => matches.get(uid)?.is === 'unidentified')
  if (unread.length > 0 && arrived.hasFree) await requireReturned(source, unread)
  for (const row of rows) {
    const match = matches.get(row.uid)
    const copy = { uid: row.uid, size: row.size ?? 0, row }
    if (match?.is !== 'same') continue
    folderState.copied([{ ...copy, to: tellsUids ? match.to : null }])
    if (!tellsUids) folderState.withoutUid += 1
  }
}
