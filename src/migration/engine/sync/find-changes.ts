import { fetchFlags, type FlagChanges } from '../../../net/imap/fetch/fetch-flags.ts'
import type { Folder } from '../../../net/imap/folders/list-folders.ts'
import type { ConnectionPair } from '../connections/connection-pair.ts'
import type { MailboxView } from '../../../net/imap/folders/mailbox-view.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import { recount, uidsBelow, unlessRefused } from '../folder/list-messages.ts'
import {
  flagBits,
  readRecords,
  type CopyRecord,
  type CopyRecords,
} from '../journal/copy-records.ts'
import type { NewDeletion } from '../journal/deletions.ts'
import { blankFolder, type Journal, type SavedFolder } from '../journal/journal.ts'
import { createUidSet, parseUidSet, type UidSet } from '../journal/uid-set.ts'
import type { FolderStatus } from './folder-status.ts'
import type { FolderChanges } from './pass.ts'

/**
 * Finds changed flags and vanished messages of a folder that was copied before, and records the
 * vanished ones as deletions. Where the source has given the folder new UIDs, all its copies are
 * recorded: those whose messages are found again are taken over.
 * @throws ImapRefused, ImapLost
 */
export async function findFolderChanges(
  pair: ConnectionPair,
  folder: Folder,
  saved: SavedFolder,
  status: FolderStatus,
  journal: Journal,
): Promise<FolderChanges | 'renumbered'> {
  const records = readRecords(await journal.copies(folder.path, saved))
  if (saved.sourceUidValidity !== status.uidValidity) {
    if (isWhole(saved, records))
      await recordRenumbered(folder.path, saved, status, records, journal)
    return 'renumbered'
  }
  const connection = (await pair.source()).wire
  const source = await pair.sourceFolder(folder.pathAsListed)
  const last = saved.sourceUidNext - 1
  const { flags, vanished } = await fetchChangedFlags(
    source,
    last,
    sinceOf(saved, status),
    connection,
  )
  const gone = vanished
    ? copiesIn(records, vanished)
    : copiesWithout(records, await uidsBelow(source, saved.sourceUidNext))
  // With QRESYNC, what came back shows in no answer.
  if (gone.length > 0 || saved.gone)
    await recordChecked(source, folder, saved, { records, gone }, journal)
  return { records, flags: flagsThatDiffer(flags, records, saved) }
}

/** A restored source counts from a smaller number on: what changed is not known then. */
function sinceOf({ sourceModseq }: SavedFolder, { modseq }: FolderStatus): string | undefined {
  if (sourceModseq === null || modseq === null) return undefined
  return BigInt(modseq) < BigInt(sourceModseq) ? undefined : sourceModseq
}

/** All flags, where the source rejects the request for those that changed. */
async function fetchChangedFlags(
  source: Wire,
  last: number,
  since: string | undefined,
  connection: Wire,
): Promise<FlagChanges> {
  const changed =
    since === undefined
      ? null
      : await unlessRefused(fetchFlags(source, last, { since, connection }))
  return changed ?? fetchFlags(source, last)
}

/**
 * Records copies that the source does not have any more, once a listing that is complete by each way
 * of counting confirms it. Messages that were recorded before and are listed again are no longer
 * deleted; those whose copies were deleted are copied again.
 */
async function recordChecked(
  source: MailboxView,
  { path }: Folder,
  saved: SavedFolder,
  { records, gone }: { records: CopyRecords; gone: readonly CopyRecord[] },
  journal: Journal,
): Promise<void> {
  const { uids, claimed } = await recount(source)
  const here = createUidSet(uids)
  const state = await recordReturned(path, saved, { records, here }, journal)
  if (uids.length < claimed) return
  const confirmed = gone.filter(({ uid }) => !here.has(uid))
  await recordGone(path, state, confirmed, 'expunged', journal)
}

async function recordReturned(
  folder: string,
  saved: SavedFolder,
  { records, here }: { records: CopyRecords; here: UidSet },
  journal: Journal,
): Promise<SavedFolder> {
  const gone = parseUidSet(saved.gone ?? '')
  const returned = [...records].filter(({ uid }) => gone.has(uid) && here.has(uid))
  if (returned.length === 0) return saved
  const again = parseUidSet(saved.again)
  const open = new Map(
    (await journal.deletions())
      .filter((deletion) => deletion.folder === folder)
      .map(({ id, record }) => [record.uid, id]),
  )
  const kept = returned.filter(({ uid }) => open.has(uid))
  for (const { uid } of returned) {
    gone.delete(uid)
    if (!open.has(uid)) again.add(uid)
  }
  const state = {
    ...saved,
    gone: gone.toString(),
    again: again.toString(),
    copied: saved.copied + kept.length,
    bytes: saved.bytes + kept.reduce((sum, { size }) => sum + size, 0),
    seen: null,
    isDone: false,
  }
  await journal.saveDeletions(folder, state, [])
  await journal.closeDeletions(
    kept.map(({ uid }) => open.get(uid) as string),
    'returned',
  )
  return state
}

/** Of a source that does not count its changes, all flags were fetched. */
function flagsThatDiffer(
  flags: ReadonlyMap<number, string[]>,
  records: CopyRecords,
  { keywords = [] }: SavedFolder,
): Map<number, string[]> {
  const known = [...keywords]
  const differs = ([uid, now]: [number, string[]]) =>
    records.get(uid)?.flags !== flagBits(now, known)
  return new Map([...flags].filter(differs))
}

/** Records all copies of a folder that the source does not have any more. */
export async function recordMissingFolder(
  path: string,
  saved: SavedFolder,
  journal: Journal,
): Promise<number> {
  const records = readRecords(await journal.copies(path, saved))
  return recordGone(path, saved, [...records], 'folder_gone', journal)
}

/** Whether each copy has a record with its UID, so that none would be copied again. */
function isWhole(saved: SavedFolder, records: CopyRecords): boolean {
  const gone = parseUidSet(saved.gone ?? '')
  let known = 0
  for (const { uid, to } of records) if (to > 0 && !gone.has(uid)) known += 1
  return known >= saved.copied && saved.intents.length === 0
}

function copiesIn(records: CopyRecords, sets: readonly string[]): CopyRecord[] {
  const vanished = parseUidSet(sets.join(','))
  return [...records].filter(({ uid }) => vanished.has(uid))
}

function copiesWithout(records: CopyRecords, uids: number[]): CopyRecord[] {
  const here = createUidSet(uids)
  return [...records].filter(({ uid }) => !here.has(uid))
}

/** Records the copies that were not recorded before. @returns how many */
async function recordGone(
  folder: string,
  saved: SavedFolder,
  records: readonly CopyRecord[],
  reason: NewDeletion['reason'],
  journal: Journal,
): Promise<number> {
  const gone = parseUidSet(saved.gone ?? '')
  const news = records.filter(({ uid, to }) => to > 0 && !gone.has(uid))
  if (news.length === 0) return 0
  for (const { uid } of news) gone.add(uid)
  const state = {
    ...saved,
    gone: gone.toString(),
    copied: saved.copied - news.length,
    bytes: saved.bytes - news.reduce((sum, { size }) => sum + size, 0),
    seen: null,
  }
  await journal.saveDeletions(folder, state, deletionsOf(folder, saved, news, reason))
  return news.length
}

async function recordRenumbered(
  folder: string,
  saved: SavedFolder,
  { uidValidity }: FolderStatus,
  records: CopyRecords,
  journal: Journal,
): Promise<void> {
  const gone = parseUidSet(saved.gone ?? '')
  const lost = [...records].filter(({ uid, to }) => to > 0 && !gone.has(uid))
  const { destination, destinationUidValidity, destinationUidNext, copiedTo, keywords } = saved
  const state = {
    ...blankFolder({
      destination,
      sourceUidValidity: uidValidity,
      destinationUidValidity,
      sourceModseq: null,
      sourceUidNext: 1,
      destinationUidNext,
    }),
    copiedTo,
    keywords,
  }
  await journal.saveDeletions(folder, state, deletionsOf(folder, saved, lost, 'renumbered'))
}

function deletionsOf(
  folder: string,
  { destination, destinationUidValidity }: SavedFolder,
  records: readonly CopyRecord[],
  reason: NewDeletion['reason'],
): NewDeletion[] {
  return records.map((record) => ({
    folder,
    reason,
    destination,
    destinationUidValidity,
    record,
  }))
}
