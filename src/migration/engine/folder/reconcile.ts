import { setTimeout as sleep } from 'node:timers/promises'
import { readStatus } from '../../../net/imap/folders/mailbox.ts'
import type { MailboxView } from '../../../net/imap/folders/mailbox-view.ts'
import type { ByteString } from '../../../net/imap/folders/mailbox-name.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import { ImapRefused, isThrottling } from '../../../net/imap/connection/refusals.ts'
import { identify } from '../identify/identify.ts'
import type { FolderState } from '../journal/folder-state.ts'

/**
 * Finds the outcome of batches that were sent without a response, before anything is sent again.
 * Messages found at the destination count as copied, the others are left to copy.
 * @param source with the folder open
 * @param settle milliseconds without a new message after which no more are expected
 */
export async function reconcile(
  folderState: FolderState,
  source: () => Promise<Wire>,
  destination: MailboxView,
  name: ByteString,
  { settle, signal }: { settle: number; signal: AbortSignal },
): Promise<void> {
  const open = folderState.unresolvedBatches()
  if (!open) return folderState.clearIntents()
  const uidNext = await settledUidNext(destination, name, settle, signal)
  if (uidNext === null || uidNext > open.uidNext)
    await match(folderState, open, await source(), destination)
  await folderState.clearIntents()
}

/**
 * A server stores a message that it has received completely, even if the connection is gone, and a
 * busy one may take a while. Waits until no more messages arrive.
 */
async function settledUidNext(
  destination: MailboxView,
  name: ByteString,
  settle: number,
  signal: AbortSignal,
): Promise<number | null> {
  for (let uidNext = await readUidNext(destination, name); ;) {
    await sleep(settle, undefined, { signal })
    const now = await readUidNext(destination, name)
    if (now === uidNext) return uidNext
    uidNext = now
  }
}

/** A server that rejects STATUS may still open the folder. */
async function readUidNext(destination: MailboxView, name: ByteString): Promise<number | null> {
  try {
    return (await readStatus(destination, name)).uidNext
  } catch (error) {
    if (!(error instanceof ImapRefused) || isThrottling(error.refusal)) throw error
    return (await destination.reopen()).uidNext
  }
}

async function match(
  folderState: FolderState,
  { uids, uidNext }: { uids: number[]; uidNext: number },
  source: Wire,
  destination: MailboxView,
): Promise<void> {
  const arrived = await arrivals(folderState, destination, uidNext)
  const unknown = new Set(uids)
  const tellsUids = destination.capabilities.has('UIDPLUS')
  // Without UIDs of our copies, the known copies must account for their own messages first.
  const isConcerned = tellsUids ? (uid: number) => unknown.has(uid) : () => true
  const [from, to] = tellsUids
    ? [uids[0] ?? 1, uids.at(-1) ?? 1]
    : [1, folderState.saved.sourceUidNext - 1]
  const mine = await Array.fromAsync(identify(source, from, to, isConcerned))
  const inOrder = mine.toSorted(
    (a, b) => Number(unknown.has(a.uid)) - Number(unknown.has(b.uid)) || a.uid - b.uid,
  )
  for (const { uid, key, size, row } of inOrder) {
    const copy = arrived.get(key)?.shift()
    if (copy !== undefined && unknown.has(uid))
      folderState.copied([{ uid, to: tellsUids ? copy : null, size, row }])
  }
}

/**
 * Lists new messages of the destination by key, with ascending UIDs, in the order of the APPENDs.
 */
async function arrivals(
  folderState: FolderState,
  destination: MailboxView,
  from: number,
): Promise<Map<string, number[]>> {
  const { exists, uidNext } = await destination.reopen()
  const arrived = new Map<string, number[]>()
  if (exists === 0) return arrived
  const last = uidNext === null ? 2 ** 32 - 1 : uidNext - 1
  for await (const { uid, key } of identify(
    destination,
    from,
    last,
    (one) => !folderState.isOwnCopy(one),
  )) {
    arrived.set(key, [...(arrived.get(key) ?? []), uid])
  }
  for (const uids of arrived.values()) uids.sort((a, b) => a - b)
  return arrived
}
