import { fetchMetadata, type Metadata } from '../../../net/imap/fetch/fetch-metadata.ts'
import { ImapRefused, isThrottling } from '../../../net/imap/connection/refusals.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import type { Folder } from '../../../net/imap/folders/list-folders.ts'
import type { MailboxView } from '../../../net/imap/folders/mailbox-view.ts'
import {
  fetchUids,
  readStatus,
  searchUids,
  type OpenedMailbox,
} from '../../../net/imap/folders/mailbox.ts'
import { decodeMailbox } from '../../../net/imap/folders/mailbox-name.ts'
import { ENGINE_LIMITS } from '../../limits.ts'
import { settledAll } from '../settled-all.ts'
import { FolderStop } from '../stop.ts'

/** The messages of the source, as far as their listing is known. */
export type SourceListing = {
  /** Ascending. */
  uids: number[]
  /** Their metadata by UID, where it was listed with them. */
  rows: ReadonlyMap<number, Metadata> | null
  /** The listing has as many messages as the source claims to have in each other way. */
  isCounted: boolean
}

export const NOTHING_LISTED: SourceListing = { uids: [], rows: null, isCounted: true }

/**
 * Lists the messages of a run. A healthy source needs one command: its listing has as many messages
 * as its EXISTS and STATUS. One that did not answer STATUS is listed in every way.
 * @param rows of a small folder that is listed already
 * @param before the first UID that does not belong to this run
 * @throws ImapRefused, ImapLost
 */
export async function listSource(
  source: MailboxView,
  { messages }: Pick<Folder, 'messages'>,
  { exists, uidNext }: OpenedMailbox,
  { rows, before }: { rows: readonly Metadata[] | null; before: number },
): Promise<SourceListing> {
  const claimed = Math.max(exists, messages ?? 0)
  const here = rows?.filter(({ uid }) => uid < before)
  if (here && here.length === exists && here.length >= claimed)
    return {
      uids: here.map(({ uid }) => uid),
      rows: new Map(here.map((row) => [row.uid, row])),
      isCounted: true,
    }
  const first = await uidsBelow(source, before)
  // Messages that arrived since an earlier run belong to EXISTS, but not to this listing.
  const isWhole = before === uidNext
  if (!isWhole || (messages !== null && first.length >= claimed))
    return { uids: first, rows: null, isCounted: isWhole }
  const { uids, claimed: now } = await recount(source, {
    counted: messages,
    // Where it ended the connection at STATUS, it would do so again.
    asksStatus: messages !== null,
  })
  return { uids, rows: null, isCounted: uids.length >= now }
}

/**
 * Lists all messages of a folder in every way, until they agree. They were expunged meanwhile, or
 * the server omits some: SEARCH of several servers returns up to 100 or 1,000 messages only, and
 * FETCH of others leaves out what it cannot read.
 * @param counted by an earlier STATUS, where the server rejects it now or is not asked again
 * @returns what it has, and the largest number that it claims to have
 * @throws ImapRefused, ImapLost
 */
export async function recount(
  view: MailboxView,
  { counted = null, asksStatus = true }: { counted?: number | null; asksStatus?: boolean } = {},
): Promise<{ uids: number[]; claimed: number }> {
  for (let tries = 1; ; tries++) {
    const { exists, uidNext } = await view.reopen()
    const [found, fetched, status] = await settledAll([
      uidsBelow(view, 2 ** 32),
      fetchUids(view),
      asksStatus ? unlessRefused(readStatus(view, view.name)) : null,
    ])
    const claimed = Math.max(exists, status?.messages ?? counted ?? 0)
    // SEARCH of some servers lists what is not there.
    const end = Math.max(uidNext ?? Infinity, status?.uidNext ?? 0)
    const uids = [...new Set([...found.filter((uid) => uid < end), ...(fetched ?? [])])]
    uids.sort((a, b) => a - b)
    if (uids.length >= claimed || tries === ENGINE_LIMITS.maxListings) return { uids, claimed }
  }
}

/**
 * Lists all messages of a folder of the destination.
 * @throws FolderStop when it lists fewer than it claims to have: which of the copies are there cannot
 *   be decided; ImapRefused, ImapLost
 */
export async function listWhole(destination: MailboxView): Promise<number[]> {
  const { uids, claimed } = await recount(destination)
  if (uids.length >= claimed) return uids
  const count = claimed - uids.length
  throw new FolderStop(
    'not_listed',
    `The destination claims to have ${count} more messages in “${decodeMailbox(destination.name)}” than it lists.`,
  )
}

/** Which messages the destination has cannot be decided: none is sent until it returns them. */
export function undecidable(count: number, path: string): FolderStop {
  return new FolderStop(
    'not_listed',
    `The destination does not return ${count} messages of “${path}”: which ones it has cannot be decided.`,
  )
}

/**
 * Requires that the source returns messages that were sent, so that their copies can be found. One
 * that it does not have any more is not sent again in any case.
 * @param unreturned those that it did not return
 * @returns all messages that it has, as far as it lists them
 * @throws FolderStop, ImapRefused, ImapLost
 */
export async function requireReturned(
  source: MailboxView,
  unreturned: readonly number[],
): Promise<{ uids: number[]; has: (uid: number) => boolean }> {
  const { uids, claimed } = await recount(source)
  const listed = new Set(uids)
  const has = (uid: number) => uids.length < claimed || listed.has(uid)
  const count = unreturned.filter(has).length
  if (count === 0) return { uids, has }
  throw new FolderStop(
    'not_listed',
    `The source does not return ${count} messages of “${decodeMailbox(source.name)}” that were sent: whether the destination has them cannot be decided.`,
  )
}

/**
 * The result of a command that the server may reject: null then, because there are other ways to
 * find out.
 * @throws ImapRefused when the server asks for fewer requests, ImapLost
 */
export async function unlessRefused<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (!(error instanceof ImapRefused) || isThrottling(error.refusal)) throw error
    return null
  }
}

/**
 * Lists the UIDs of the open source, ascending, also where the server rejects SEARCH.
 * @throws ImapRefused, ImapLost
 */
export async function uidsBelow(source: Wire, uidNext: number): Promise<number[]> {
  if (uidNext <= 1) return []
  const found = await unlessRefused(searchUids(source, `UID 1:${uidNext - 1}`))
  if (found) return found.filter((uid) => uid < uidNext)
  const rows = await Array.fromAsync(fetchMetadata(source, 1, uidNext - 1), ({ uid }) => uid)
  return rows.toSorted((a, b) => a - b)
}
