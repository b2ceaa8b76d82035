import { setTimeout as sleep } from 'node:timers/promises'
import { examine, readStatus } from '../../../net/imap/folders/mailbox.ts'
import type { ByteString } from '../../../net/imap/folders/mailbox-name.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import { identify } from '../identify/identify.ts'
import type { FolderState } from '../journal/folder-state.ts'

/**
 * Finds out what became of batches that were sent and never answered, before anything is sent
 * again: whatever of them is at the destination is copied, the rest is left to do.
 * @param source with the folder open
 * @param settle milliseconds in which nothing more may have arrived
 */
export async function reconcile(
  folderState: FolderState,
  source: () => Promise<Wire>,
  destination: Wire,
  name: ByteString,
  { settle, signal }: { settle: number; signal: AbortSignal },
): Promise<void> {
  const open = folderState.unresolvedBatches()
  if (!open) return folderState.clearIntents()
  const uidNext = await settledUidNext(destination, name, settle, signal)
  if (uidNext === null || uidNext > open.uidNext)
    await match(folderState, open, await source(), destination, name)
  await folderState.clearIntents()
}

/**
 * A server that has read a message whole stores it, though the connection it came over is gone: a
 * busy one may still be at it while we look. Only when nothing more arrives is there nothing to
 * wait for.
 */
async function settledUidNext(
  destination: Wire,
  name: ByteString,
  settle: number,
  signal: AbortSignal,
): Promise<number | null> {
  for (let { uidNext } = await readStatus(destination, name); ;) {
    await sleep(settle, undefined, { signal })
    const now = await readStatus(destination, name)
    if (now.uidNext === uidNext) return uidNext
    uidNext = now.uidNext
  }
}

async function match(
  folderState: FolderState,
  { uids, uidNext }: { uids: number[]; uidNext: number },
  source: Wire,
  destination: Wire,
  name: ByteString,
): Promise<void> {
  const arrived = await arrivals(folderState, destination, name, uidNext)
  const unknown = new Set(uids)
  const tellsUids = destination.capabilities.has('UIDPLUS')
  // A server that never told us our copies' UIDs: those we know of must answer for theirs first.
  const isConcerned = tellsUids ? (uid: number) => unknown.has(uid) : () => true
  const [from, to] = tellsUids
    ? [uids[0] ?? 1, uids.at(-1) ?? 1]
    : [1, folderState.saved.sourceUidNext - 1]
  const mine = await Array.fromAsync(identify(source, from, to, isConcerned))
  const inOrder = mine.toSorted(
    (a, b) => Number(unknown.has(a.uid)) - Number(unknown.has(b.uid)) || a.uid - b.uid,
  )
  for (const { uid, key, size } of inOrder) {
    const copy = arrived.get(key)?.shift()
    if (copy !== undefined && unknown.has(uid))
      folderState.copied([{ uid, to: tellsUids ? copy : null, size }])
  }
}

/** What came since, by what it is recognised by; UIDs ascending, as appended. */
async function arrivals(
  folderState: FolderState,
  destination: Wire,
  name: ByteString,
  from: number,
): Promise<Map<string, number[]>> {
  const { exists, uidNext } = await examine(destination, name)
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
