import type { FolderCopy } from '../context.ts'
import type { LiteralKnowledge } from '../../../net/imap/append/append-header.ts'
import { fetchMetadata, fetchSmallMailbox } from '../../../net/imap/fetch/fetch-metadata.ts'
import type { Folder } from '../../../net/imap/folders/list-folders.ts'
import type { ByteString } from '../../../net/imap/folders/mailbox-name.ts'
import {
  highestModseq,
  searchUids,
  readStatus,
  type OpenedMailbox,
} from '../../../net/imap/folders/mailbox.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import { createStoredCopies, type StoredCopies } from './stored-copies.ts'
import { listCopiedElsewhere } from './all-mail.ts'
import { listExisting, type ExistingMessages } from '../identify/existing-messages.ts'
import { readRecords } from '../journal/copy-records.ts'
import { blankFolder, type Journal, type SavedFolder } from '../journal/journal.ts'
import type { ConnectionPair } from '../connections/connection-pair.ts'
import { FolderState } from '../journal/folder-state.ts'
import { settledAll } from '../settled-all.ts'
import { ENGINE_LIMITS, type WaitTimes } from '../../limits.ts'
import { settledUidNext } from './reconcile.ts'
import {
  listSource,
  NOTHING_LISTED,
  undecidable,
  uidsBelow,
  unlessRefused,
  type SourceListing,
} from './list-messages.ts'
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
  /** Copies that the destination does not return, or says to have as other copies (`isMerged`). */
  doubtful: { uid: number; to: number; size: number; isMerged: boolean }[]
  /** Whether the destination does not have some copies under the UIDs that it reported. */
  hasLostUids: boolean
  /** Messages of the destination that may be messages of the source; null where none count. */
  existing: ExistingMessages | null
  /** Whether it was opened again, because the UIDs of the destination seemed to be new. */
  isReopened: boolean
  /** Whether an earlier run has copied messages that it has not verified. */
  isResumed: boolean
  /** Whether an earlier run has verified the folder. Copies may have been deleted since. */
  wasDone: boolean
  /** Whether `existing` has our own copies of an earlier run whose UIDs are unknown. */
  isRematch: boolean
  /** SHA-256 of messages that the earlier run copied, in hexadecimal. */
  copiedDigests: ReadonlySet<string>
  /** Whether `verify` has found every message at the destination. */
  isVerified: boolean
} & SourceListing

type OpenDeps = {
  journal: Journal
  destination: DestinationFolders
  literals: LiteralKnowledge
  deduplicate: boolean
  /** Whether a small folder is listed while it is opened; a message could end the connection then. */
  listsAtOnce: boolean
  waitTimes: WaitTimes
  signal: AbortSignal
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
 * @param isAgain whether it was open in this run: what was described then has changed since
 * @throws FolderStop, ImapRefused, ImapLost
 */
export async function openFolder(
  pair: ConnectionPair,
  folder: Folder,
  { wanted, isAgain }: { wanted: string; isAgain: boolean },
  deps: OpenDeps,
): Promise<OpenFolder> {
  const saved = await deps.journal.load(folder.path)
  const source = await pair.sourceFolder(folder.pathAsListed)
  const opening = isAgain ? source.reopen() : source.opened()
  const [opened, rows, destinationFolder] = await settledAll([
    opening,
    deps.listsAtOnce && saved === null && isSmall(folder) ? fetchSmallMailbox(source) : null,
    openDestinationFolder(pair, saved?.destination ?? wanted, {
      ...deps,
      sourceOpened: opening,
      isAgain,
    }),
  ])
  const destination = await pair.destinationFolder(destinationFolder.name)
  const sourceModseq =
    deps.withNewMail && !deps.sync ? await highestModseq(source, folder.pathAsListed) : null
  const blank = {
    ...(await blankFor(folder, opened, source, destinationFolder, destination)),
    destinationMessages: destinationFolder.opened.exists,
    sourceModseq,
  }
  const isSame = saved !== null && isSameMailbox(saved, blank)
  const isRenumbered = saved !== null && !isSame && mayHaveCopies(saved)
  const isRematch = isRenumbered || saved?.hasEarlierCopies === true
  const initial = isSame
    ? { ...saved, ...(deps.withNewMail && { sourceUidNext: blank.sourceUidNext }) }
    : blank
  const isChanged = !initial.isDone || initial.sourceUidNext > (saved?.sourceUidNext ?? 0)
  initial.isDone = false
  initial.hasEarlierCopies = isRematch
  const folderState = new FolderState(deps.journal, folder.path, initial)
  countUnansweredAsFailures(folderState)
  // A folder without new UIDs has no more messages than before.
  const hasNews = isChanged || opened.exists > folderState.processedCount
  const listed = hasNews
    ? await listSource(source, folder, opened, { rows, before: initial.sourceUidNext })
    : NOTHING_LISTED
  const { uids, isCounted } = listed
  folderState.extendTo((uids.at(-1) ?? 0) + 1)
  if (isSame) await addUnprocessed(uids, folderState, folder.path, deps.journal)
  const isAsked = folderState.start(uids, isCounted).length > 0 && (isRematch || deps.deduplicate)
  if (isAsked && isRenumbered && saved.intents.length > 0) await settledUidNext(destination, deps)
  const existing = isAsked
    ? await listExisting(destination, isRematch ? {} : { before: initial.destinationUidNext })
    : null
  const unreadable = isRematch ? existing?.unreadable : existing?.undescribed
  if (unreadable) throw undecidable(unreadable, destinationFolder.path)
  if (existing && folderState.processedCount > 0)
    await takeExisting(existing, { folderState, isRematch }, source, deps.journal, folder.path)
  const copiedDigests = new Set<string>()
  if (existing && isRenumbered)
    for (const { digest } of readRecords(await deps.journal.copies(folder.path, saved)))
      if (digest.length > 0) copiedDigests.add(digest.toString('hex'))
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
    doubtful: [],
    hasLostUids: false,
    ...listed,
    existing,
    isReopened: isAgain,
    isResumed: isSame && !saved.isDone && saved.copied > 0,
    wasDone: isSame && saved.isDone,
    isRematch,
    copiedDigests,
    isVerified: false,
  }
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

/** Whether the destination may have messages of an earlier run. */
function mayHaveCopies({ copied, intents, there, differing }: SavedFolder): boolean {
  return copied > 0 || intents.length > 0 || there !== '' || (differing ?? '') !== ''
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
  const uidNext = opened.uidNext ?? (await unlessRefused(readStatus(wire, name)))?.uidNext
  return uidNext ?? ((await uidsBelow(wire, 2 ** 32)).at(-1) ?? 0) + 1
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

/**
 * Adds messages that the source did not list to earlier runs, below the last one that they copied.
 * They are more than were processed; which of them are new, the records of the copies tell.
 */
async function addUnprocessed(
  uids: readonly number[],
  folderState: FolderState,
  path: string,
  journal: Journal,
): Promise<void> {
  const { lastUid, saved } = folderState
  const known = uids.filter((uid) => uid <= lastUid && folderState.isDone(uid))
  if (known.length <= folderState.processedCount) return
  const records = readRecords(await journal.copies(path, saved))
  // Copies of earlier versions have no records.
  if (records.size < saved.copied) return
  folderState.addUnprocessed(
    known.filter((uid) => records.get(uid) === null && !folderState.hasNoCopy(uid)),
  )
}

/** Destination messages that accounted for messages of an earlier run do not account for others. */
async function takeExisting(
  existing: ExistingMessages,
  { folderState, isRematch }: Pick<OpenFolder, 'folderState' | 'isRematch'>,
  source: Wire,
  journal: Journal,
  path: string,
): Promise<void> {
  const records = readRecords(await journal.copies(path, folderState.saved))
  // A copy without UID may be one of before a renumbering.
  const hasCopy = (uid: number) =>
    folderState.isDone(uid) &&
    !folderState.hasNoCopy(uid) &&
    (isRematch || records.get(uid)?.to === 0)
  for await (const row of fetchMetadata(source, 1, folderState.sourceUidNext - 1)) {
    const { uid } = row
    const isThere = folderState.isExisting(uid) && !folderState.isDiffering(uid)
    if (isThere || hasCopy(uid)) existing.addAccounted(row)
  }
}
