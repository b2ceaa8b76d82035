import type { FolderCopy } from '../context.ts'
import type { LiteralKnowledge } from '../../../net/imap/append/append-header.ts'
import {
  fetchMetadata,
  fetchSmallMailbox,
  type Metadata,
} from '../../../net/imap/fetch/fetch-metadata.ts'
import type { Folder } from '../../../net/imap/folders/list-folders.ts'
import type { ByteString } from '../../../net/imap/folders/mailbox-name.ts'
import {
  highestModseq,
  noop,
  searchUids,
  readStatus,
  type OpenedMailbox,
} from '../../../net/imap/folders/mailbox.ts'
import { ImapRefused, isTemporary } from '../../../net/imap/connection/refusals.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import { createStoredCopies, type StoredCopies } from './stored-copies.ts'
import { listCopiedElsewhere } from './all-mail.ts'
import type { FingerprintCounts } from '../identify/fingerprint.ts'
import { blankFolder, type Journal, type SavedFolder } from '../journal/journal.ts'
import { identify, countMessages } from '../identify/identify.ts'
import type { ConnectionPair } from '../connections/connection-pair.ts'
import { FolderState } from '../journal/folder-state.ts'
import { settledAll } from '../settled-all.ts'
import { ENGINE_LIMITS } from '../../limits.ts'
import {
  openDestinationFolder,
  type DestinationFolders,
  type DestinationFolder,
} from './destination-folder.ts'

/** A folder that is open at the source and at the destination. */
export type OpenFolder = {
  destinationFolder: DestinationFolder
  folderState: FolderState
  sourceUidValidity: number | null
  /** Modification sequence of the source at the start of this run (RFC 7162). */
  sourceModseq: string | null
  /** Source messages below this UID may belong to an earlier run. */
  knownBelow: number
  /** Copies since the folder was opened, for verification. */
  arrivals: StoredCopies
  /** UIDs of all source messages of this run, ascending. */
  uids: number[]
  /** Their metadata by UID, where it was listed with them. */
  rows: ReadonlyMap<number, Metadata> | null
  /** The source has as many messages as it listed, so that the listing is complete. */
  isCounted: boolean
  /** Messages of the destination that account for source messages; null without deduplication. */
  tally: FingerprintCounts | null
  /** Whether an earlier pass of a synchronization has copied the folder. */
  isLaterPass: boolean
  /** Whether `tally` counts our own copies of an earlier run whose UIDs are unknown. */
  isRematch: boolean
}

type OpenDeps = {
  journal: Journal
  destination: DestinationFolders
  literals: LiteralKnowledge
  deduplicate: boolean
  /** Whether a small folder is listed while it is opened; a message could end the connection then. */
  listsAtOnce: boolean
  /** Also copy messages that arrived since the last run. */
  withNewMail: boolean
  /** A pass of a synchronization has its own modification sequences. */
  sync: object | null
  /** Folders copied before this one. Their messages need no second copy. */
  before: readonly FolderCopy[]
}

/**
 * Opens a folder on both sides and updates the state of an earlier run to the present mailboxes.
 * @param wanted the destination path
 * @throws FolderStop, ImapRefused, ImapLost
 */
export async function openFolder(
  pair: ConnectionPair,
  folder: Folder,
  wanted: string,
  deps: OpenDeps,
): Promise<OpenFolder> {
  const saved = await deps.journal.load(folder.path)
  const source = await pair.sourceFolder(folder.pathAsListed)
  const opening = source.opened()
  const [opened, rows, destinationFolder] = await settledAll([
    opening,
    deps.listsAtOnce && saved === null && isSmall(folder) ? fetchSmallMailbox(source) : null,
    openDestinationFolder(pair, saved?.destination ?? wanted, { ...deps, sourceOpened: opening }),
  ])
  const destination = await pair.destinationFolder(destinationFolder.name)
  const sourceModseq =
    deps.withNewMail && !deps.sync ? await highestModseq(source, folder.pathAsListed) : null
  const blank = {
    ...(await blankFor(folder, opened, source, destinationFolder, destination)),
    sourceModseq,
  }
  const isSame = saved !== null && isSameMailbox(saved, blank)
  const isRematch = saved !== null && !isSame && (saved.copied > 0 || saved.intents.length > 0)
  const initial = isSame
    ? { ...saved, ...(deps.withNewMail && { sourceUidNext: blank.sourceUidNext }) }
    : blank
  const hasNews = !initial.isDone || initial.sourceUidNext > (saved?.sourceUidNext ?? 0)
  initial.isDone = false
  const folderState = new FolderState(deps.journal, folder.path, initial)
  countUnansweredAsFailures(folderState)
  const listed = hasNews ? await list(source, opened, rows, initial.sourceUidNext) : NOTHING_LISTED
  const { uids } = listed
  const isAsked = folderState.start(uids).length > 0 && (isRematch || deps.deduplicate)
  const before = isRematch ? blank.destinationUidNext : initial.destinationUidNext
  const tally = isAsked ? await countMessages(destination, before) : null
  if (tally && folderState.skippedCount > 0)
    await takeExisting(tally, folderState, source, initial.sourceUidNext)
  const elsewhere =
    uids.length > 0
      ? await listCopiedElsewhere(pair, folder, initial.sourceUidNext, deps.before)
      : []
  for (const { uid, size } of elsewhere)
    if (!folderState.isDone(uid)) folderState.skipped(uid, size)
  const knownBelow = isSame ? saved.sourceUidNext : 0
  const { uidValidity: sourceUidValidity } = opened
  const arrivals = createStoredCopies()
  return {
    destinationFolder,
    folderState,
    sourceUidValidity,
    sourceModseq,
    knownBelow,
    arrivals,
    ...listed,
    tally,
    isLaterPass: isSame && deps.sync !== null,
    isRematch,
  }
}

/** Messages of the source, as far as their listing is known. */
type Listing = Pick<OpenFolder, 'uids' | 'rows' | 'isCounted'>

const NOTHING_LISTED: Listing = { uids: [], rows: null, isCounted: true }

/**
 * Lists the messages of this run.
 * @param rows of a small folder that is listed already
 */
async function list(
  source: Wire,
  { exists, uidNext }: OpenedMailbox,
  rows: readonly Metadata[] | null,
  before: number,
): Promise<Listing> {
  const here = rows?.filter(({ uid }) => uid < before)
  if (here && here.length === exists)
    return {
      uids: here.map(({ uid }) => uid),
      rows: new Map(here.map((row) => [row.uid, row])),
      isCounted: true,
    }
  const first = await uidsBelow(source, before)
  const isWhole = before === uidNext
  const uids = isWhole && first.length < exists ? await listAgain(source, before, first) : first
  return { uids, rows: null, isCounted: isWhole && uids.length === exists }
}

/**
 * Lists a folder that has more messages than it listed: they were expunged meanwhile, or the server
 * omitted them. Once a later message is copied, an omitted one would count as processed.
 */
async function listAgain(
  source: Wire,
  before: number,
  first: readonly number[],
): Promise<number[]> {
  await noop(source)
  const again = await uidsBelow(source, before)
  return [...new Set([...first, ...again])].toSorted((a, b) => a - b)
}

function isSmall({ messages }: Folder): boolean {
  return messages !== null && messages > 0 && messages <= ENGINE_LIMITS.segmentMessages
}

async function blankFor(
  folder: Folder,
  opened: OpenedMailbox,
  source: Wire,
  destinationFolder: DestinationFolder,
  destination: Wire,
): Promise<SavedFolder> {
  return blankFolder({
    destination: destinationFolder.path,
    sourceUidValidity: opened.uidValidity,
    destinationUidValidity: destinationFolder.opened.uidValidity,
    sourceModseq: null,
    sourceUidNext: await nextUid(source, folder.pathAsListed, opened),
    destinationUidNext: await nextUid(
      destination,
      destinationFolder.name,
      destinationFolder.opened,
    ),
  })
}

/** UIDs stay valid only while UIDVALIDITY is reported and unchanged (RFC 3501, 2.3.1.1). */
function isSameMailbox(saved: SavedFolder, now: SavedFolder): boolean {
  if (saved.sourceUidValidity === null || saved.destinationUidValidity === null) return false
  return (
    saved.sourceUidValidity === now.sourceUidValidity &&
    saved.destinationUidValidity === now.destinationUidValidity
  )
}

/** Courier reports UIDNEXT only in STATUS, and other servers not at all. */
async function nextUid(wire: Wire, name: ByteString, opened: OpenedMailbox): Promise<number> {
  const uidNext = opened.uidNext ?? (await readStatus(wire, name)).uidNext
  if (uidNext !== null) return uidNext
  return opened.exists === 0 ? 1 : ((await searchUids(wire, 'ALL')).at(-1) ?? 0) + 1
}

/**
 * Lists the UIDs of the open source, ascending, also where the server rejects SEARCH.
 * @throws ImapRefused, ImapLost
 */
export async function uidsBelow(source: Wire, uidNext: number): Promise<number[]> {
  if (uidNext <= 1) return []
  try {
    return (await searchUids(source, `UID 1:${uidNext - 1}`)).filter((uid) => uid < uidNext)
  } catch (error) {
    if (!(error instanceof ImapRefused) || isTemporary(error.refusal)) throw error
    const rows = await Array.fromAsync(fetchMetadata(source, 1, uidNext - 1), ({ uid }) => uid)
    return rows.toSorted((a, b) => a - b)
  }
}

/**
 * Lists what arrived at the source since its messages were listed, and adds it to this run.
 * @throws ImapRefused, ImapLost
 */
export async function listArrived(source: Wire, at: OpenFolder): Promise<readonly number[]> {
  const { sourceUidNext } = at.folderState
  // The set has the last message even where its UID is smaller (RFC 3501, 6.4.8).
  const found = await searchUids(source, `UID ${sourceUidNext}:*`)
  const uids = found.filter((uid) => uid >= sourceUidNext)
  at.folderState.extend(uids)
  for (const uid of uids) at.uids.push(uid)
  at.isCounted = false
  return uids
}

/**
 * Counts a failure for the messages of open batches, because one of them may have ended this
 * process. Not beyond `maxBreaks.alone`: our own end alone must not fail a message.
 */
function countUnansweredAsFailures(folderState: FolderState): void {
  const uids = folderState.unresolvedBatches()?.uids ?? []
  folderState.countFailures(
    uids.filter((uid) => folderState.failureCountOf(uid) < ENGINE_LIMITS.maxBreaks.alone),
  )
}

/** Destination messages that accounted for messages of an earlier run do not account for others. */
async function takeExisting(
  tally: FingerprintCounts,
  folderState: FolderState,
  source: Wire,
  uidNext: number,
): Promise<void> {
  for await (const { key } of identify(source, 1, uidNext - 1, (uid) =>
    folderState.isExisting(uid),
  ))
    tally.take(key)
}
