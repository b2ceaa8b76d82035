import { fetchMetadata, type Metadata } from '../../../net/imap/fetch/fetch-metadata.ts'
import { ImapLost } from '../../../net/imap/connection/refusals.ts'
import type { MailboxView } from '../../../net/imap/folders/mailbox-view.ts'
import { ENGINE_LIMITS } from '../../limits.ts'
import type { FailureEvidence } from './record-outcomes.ts'

/**
 * Reads the metadata of messages, by UID. A message at which the connection breaks, also when it is
 * requested alone, has none: it must cost no other message. (Dovecot ends the connection at a file
 * that it cannot open.)
 * @param reading returns a connection with the folder open
 * @param segment ascending
 * @param evidence `unreadable`: how often connections broke at single messages; those are not
 *   requested again
 * @param afterLoss called after a connection broke
 * @throws ImapRefused; ImapLost where the connection was lost at something else
 */
export async function readSegment(
  reading: () => Promise<MailboxView>,
  segment: readonly number[],
  evidence: Pick<FailureEvidence, 'unreadable' | 'losses'>,
  afterLoss: () => Promise<void>,
): Promise<Map<number, Metadata>> {
  const found = new Map<number, Metadata>()
  const { unreadable } = evidence
  const isLeft = (uid: number) =>
    !found.has(uid) && (unreadable.get(uid) ?? 0) < ENGINE_LIMITS.maxBreaks.alone
  const parts = splitAt(segment, isLeft)
  for (let part = parts.pop(); part; part = parts.pop()) {
    const left = part.filter(isLeft)
    const [first, last] = [left[0], left.at(-1)]
    if (first === undefined || last === undefined) continue
    const known = found.size
    const view = await reading()
    try {
      for await (const row of fetchMetadata(view, first, last)) found.set(row.uid, row)
    } catch (error) {
      if (!(error instanceof ImapLost) || !view.isSuspect()) throw error
      evidence.losses = found.size > known ? 1 : evidence.losses + 1
      if (evidence.losses >= ENGINE_LIMITS.maxLosses) throw error
      if (left.length === 1) {
        unreadable.set(first, (unreadable.get(first) ?? 0) + 1)
        parts.push(left)
      } else parts.push(...suspectsOf(left.filter(isLeft), found.size > known).toReversed())
      await afterLoss()
    }
  }
  return found
}

/** Runs of messages without those that are left out. */
function splitAt(uids: readonly number[], isLeft: (uid: number) => boolean): number[][] {
  const runs: number[][] = [[]]
  for (const uid of uids) {
    if (isLeft(uid)) runs.at(-1)?.push(uid)
    else runs.push([])
  }
  return runs.toReversed()
}

/**
 * Parts of a range at which the connection broke. A server sends rows in order: after some of them,
 * the first missing message is the likely reason.
 */
function suspectsOf(left: number[], hasRows: boolean): number[][] {
  const first = hasRows ? 1 : Math.ceil(left.length / 2)
  return [left.slice(0, first), left.slice(first)]
}
