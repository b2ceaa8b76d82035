import type { MigrationContext, MigrationNote } from '../context.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import type { MailboxView } from '../../../net/imap/folders/mailbox-view.ts'
import { readStatusWithSize } from '../../../net/imap/folders/mailbox.ts'
import { bytesBesideLineEnds, compareStoredCopies, type Deviations } from './stored-copies.ts'
import type { FolderCopier } from './folder-copier.ts'
import type { ConnectionPair } from '../connections/connection-pair.ts'
import {
  fetchMetadata,
  undescribed,
  type Metadata,
} from '../../../net/imap/fetch/fetch-metadata.ts'
import { readContents } from '../identify/content.ts'
import { listExisting, requireDecided, type OwnCopyTest } from '../identify/existing-messages.ts'
import {
  readRecords,
  recordOf,
  type CopyRecord,
  type CopyRecords,
} from '../journal/copy-records.ts'
import type { FolderState } from '../journal/folder-state.ts'
import type { OpenFolder } from './open-folder.ts'
import { FolderStop, Reopen } from '../stop.ts'
import { listWhole, requireReturned, undecidable, unlessRefused } from './list-messages.ts'

type Noting = (note: MigrationNote) => void

/**
 * Whether the counts of a folder that had only our copies prove that every message was stored in
 * full: as many messages as were copied, with the sum of their sizes (RFC 8438). A server that
 * rejects the request has proven nothing: `verifyCopies` decides.
 * @throws ImapRefused when the server asks for fewer requests, ImapLost
 */
export async function areCopiesStored(wire: Wire, at: OpenFolder): Promise<boolean> {
  const { destinationFolder, folderState, arrivals } = at
  const { copied, bytes } = folderState.saved
  const wasOurs = destinationFolder.opened.exists === copied - arrivals.count
  if (!wasOurs || arrivals.hasOddDates || !wire.capabilities.has('STATUS=SIZE')) return false
  const stored = await unlessRefused(readStatusWithSize(wire, destinationFolder.name))
  return (
    stored !== null &&
    stored.messages === copied &&
    stored.size === bytes &&
    stored.uidValidity === destinationFolder.opened.uidValidity
  )
}

/**
 * Verifies the copies by what the destination returns of them. A copy that it does not have counts as
 * there where the copy of an equal message is, because some servers keep equal messages once;
 * otherwise its message fails.
 * @throws FolderStop when the destination has fewer messages than were copied; Reopen, ImapRefused,
 *   ImapLost
 */
export async function verifyCopies(
  pair: ConnectionPair,
  at: OpenFolder,
  copier: FolderCopier,
  migration: MigrationContext,
): Promise<void> {
  const { destinationFolder, folderState } = at
  await folderState.save()
  const destination = await pair.destinationFolder(destinationFolder.name)
  const source = await copier.reading(pair, at)
  const { exists, uidValidity, uidNext } = await destination.reopen()
  if (uidValidity !== destinationFolder.opened.uidValidity)
    throw new Reopen('The destination assigned new UIDs to its messages.')
  const deviations = await compareStoredCopies(at.arrivals, source, destination)
  at.doubtful.push(
    ...deviations.missing.map(({ uid, to, bytes }) => ({ uid, to, size: bytes, isMerged: false })),
  )
  if (at.isResumed || (!at.wasDone && exists < folderState.saved.copied))
    await addLost(at, copier, destination, migration)
  await settleDoubtful(at, copier, { source, destination }, migration)
  if (
    at.hasLostUids ||
    isShort(exists, at) ||
    !(await haveArrived(at, copier, { destination, uidNext }, migration))
  )
    await failUnstored(at, copier, { source, destination }, migration)
  requireCount(exists, at)
  reportDeviations(deviations, at, copier, migration.note)
}

/** Finds copies of earlier runs that the destination does not have. */
async function addLost(
  at: OpenFolder,
  { folder }: FolderCopier,
  destination: MailboxView,
  { journal }: MigrationContext,
): Promise<void> {
  const { folderState, doubtful } = at
  const here = new Set(await listWhole(destination))
  const known = new Set(doubtful.map(({ uid }) => uid))
  for (const { uid, to, size } of readRecords(await journal.copies(folder.path, folderState.saved)))
    if (to > 0 && !here.has(to) && !known.has(uid) && folderState.isOwnCopy(to))
      doubtful.push({ uid, to, size, isMerged: false })
}

/**
 * Decides about copies that the destination has as other messages. Those that it does not have under
 * the UID that it reported are left to `failUnstored`: they can have another UID.
 */
async function settleDoubtful(
  at: OpenFolder,
  { folder }: FolderCopier,
  { source, destination }: Record<'source' | 'destination', MailboxView>,
  { journal, note }: MigrationContext,
): Promise<void> {
  const { doubtful, folderState } = at
  if (doubtful.length === 0) return
  const here = new Set(await listWhole(destination))
  const records = readRecords(await journal.copies(folder.path, folderState.saved))
  for (let one = doubtful[0]; one; one = doubtful[0]) {
    const { uid, to, size, isMerged } = one
    const record = records.get(uid)
    if (isMerged && (await isStoredAs(one, records, here, { source, destination }))) {
      folderState.uncopied({ to: null, size })
      folderState.skipped(uid, size)
      note({ folder: folder.path, uid, message: MERGED })
    } else if (isMerged || !here.has(to)) {
      folderState.lostUid(isMerged ? null : (record ?? null), to)
      at.hasLostUids = true
    }
    doubtful.shift()
  }
  await folderState.save()
}

/** Whether the destination has the content of a message as an equal one of the folder. */
async function isStoredAs(
  { uid, to, size }: OpenFolder['doubtful'][number],
  records: CopyRecords,
  here: ReadonlySet<number>,
  { source, destination }: Record<'source' | 'destination', MailboxView>,
): Promise<boolean> {
  const record = records.get(uid)
  const others = [...records].filter(
    (other) => other.size === size && record?.messageId.equals(other.messageId) === true,
  )
  const twins = new Set([to, ...others.map((other) => other.to)])
  const wanted = [...twins].filter((each) => here.has(each)).toSorted((a, b) => a - b)
  const original = (await readContents(source, [{ uid, size }])).get(uid)
  const stored = await readContents(
    destination,
    wanted.map((each) => ({ uid: each, size })),
  )
  return stored.values().some(({ loose }) => original?.loose.equals(loose) === true)
}

const MERGED =
  'The destination keeps equal messages once. It has this message as the copy of another.'

/**
 * Whether each copy without a known UID has a counterpart among what arrived at the destination: with
 * the same Message-ID, or without one of the same size.
 */
async function haveArrived(
  { folderState }: OpenFolder,
  { folder }: FolderCopier,
  { destination, uidNext }: { destination: Wire; uidNext: number | null },
  { journal }: MigrationContext,
): Promise<boolean> {
  const { saved, withoutUid } = folderState
  if (withoutUid === 0) return true
  const keyOf = ({ messageId, size }: CopyRecord) => messageId.toString('hex') || String(size)
  const last = (uidNext ?? 2 ** 32) - 1
  const arrived = new Map<string, number>()
  for await (const row of fetchMetadata(destination, saved.destinationUidNext, last)) {
    if (folderState.isOwnCopy(row.uid)) continue
    const key = keyOf(recordOf(row, { to: null, size: row.size ?? 0, digest: null }, []))
    arrived.set(key, (arrived.get(key) ?? 0) + 1)
  }
  for (const record of readRecords(await journal.copies(folder.path, saved))) {
    if (record.to > 0 || folderState.hasNoCopy(record.uid)) continue
    const count = arrived.get(keyOf(record)) ?? 0
    if (count === 0) return false
    arrived.set(keyOf(record), count - 1)
  }
  return true
}

/**
 * Decides about copies without a known UID where the destination has fewer messages than it should:
 * those that it does not have fail.
 */
async function failUnstored(
  at: OpenFolder,
  { folder }: FolderCopier,
  { source, destination }: Record<'source' | 'destination', MailboxView>,
  { journal, note }: MigrationContext,
): Promise<void> {
  const { folderState, destinationFolder } = at
  const { saved } = folderState
  const existing = await listExisting(destination, {})
  if (existing.unreadable > 0) throw undecidable(existing.unreadable, destinationFolder.path)
  const sizes = new Map<number, number>()
  for (const { uid, to, size } of readRecords(await journal.copies(folder.path, saved)))
    if (to === 0 && !folderState.hasNoCopy(uid)) sizes.set(uid, size)
  const described = new Map<number, Metadata>()
  for await (const row of fetchMetadata(source, 1, folderState.sourceUidNext - 1))
    described.set(row.uid, row)
  const rows = [...sizes.keys()]
    .toSorted((a, b) => a - b)
    .map((uid) => described.get(uid) ?? undescribed(uid))
  const isOwnCopy: OwnCopyTest = (_, { isReturned, isAlike }) => !isReturned || isAlike
  existing.takeUids((uid) => folderState.isOwnCopy(uid))
  const matches = await existing.match(rows, source, destination, {
    isOwnCopy,
    sentFrom: saved.destinationUidNext,
  })
  requireDecided(matches, destinationFolder.path)
  // Failed, they would be sent again by a retry, although the destination may have them.
  const unread = rows.filter(({ uid }) => matches.get(uid)?.is === 'unidentified')
  const here = await requireReturned(
    source,
    unread.map(({ uid }) => uid),
  )
  addOmitted(at, here.uids)
  for (const { uid } of rows) {
    const match = matches.get(uid)
    if (match?.is === 'same' && match.to >= saved.destinationUidNext) continue
    const size = sizes.get(uid) ?? 0
    if (!described.has(uid) && !here.has(uid)) {
      forget(folderState, uid, { to: null, size })
      continue
    }
    folderState.uncopied({ to: null, size })
    if (match?.is === 'same' || match?.is === 'repeated') {
      folderState.skipped(uid, size)
      note({ folder: folder.path, uid, message: MERGED })
    } else folderState.failed(notStored(folder.path, { uid, size }, destinationFolder.path))
  }
  folderState.withoutUid = 0
  at.hasLostUids = false
}

/** Adds messages of this run that its first listing of the source omitted. */
export function addOmitted(at: OpenFolder, uids: readonly number[]): void {
  const now = uids.filter((uid) => uid < at.folderState.sourceUidNext)
  const listed = new Set(at.uids)
  const omitted = now.filter((uid) => !listed.has(uid))
  if (omitted.length === 0) return
  at.folderState.addOmitted(omitted)
  at.uids = now
  at.rows = null
}

/** A copy that is not there of a message that the source does not have either, any more. */
function forget(
  folderState: FolderState,
  uid: number,
  copy: { to: number | null; size: number },
): void {
  folderState.uncopied(copy)
  folderState.gone(uid, copy.size)
}

function notStored(folder: string, { uid, size }: { uid: number; size: number }, path: string) {
  const message = `“${path}” does not have this message, although the destination accepted it.`
  return { folder, uid, messageId: null, size, code: 'verification', message, attempts: 1 }
}

function isShort(exists: number, { folderState, wasDone }: OpenFolder): boolean {
  const { copied, destinationMessages = 0, withoutUid = 0 } = folderState.saved
  return (
    (withoutUid > 0 && exists < destinationMessages + withoutUid) || (!wasDone && exists < copied)
  )
}

function requireCount(exists: number, at: OpenFolder): void {
  if (!isShort(exists, at)) return
  const { copied, destinationMessages = 0, withoutUid = 0 } = at.folderState.saved
  const counts =
    withoutUid > 0
      ? `${destinationMessages} messages were there and ${withoutUid} were copied there`
      : `${copied} were copied there`
  throw new FolderStop(
    'verification',
    `“${at.destinationFolder.path}” has ${exists} messages, but ${counts}.`,
  )
}

/**
 * Reports differences.
 * @throws FolderStop where the destination stored less of a message than was sent
 */
function reportDeviations(
  { sizes, dates }: Deviations,
  { destinationFolder }: OpenFolder,
  copier: FolderCopier,
  note: Noting,
): void {
  const { path: folder } = copier.folder
  if (dates) {
    const [sent, kept] = [dates.sent, dates.kept].map((moment) => new Date(moment).toISOString())
    const message = `The destination changed the dates of ${dates.count} messages, for example to ${kept} instead of ${sent}.`
    note({ folder, uid: dates.uid, message })
  }
  for (const { uid, sent, kept } of sizes) {
    const lost = bytesBesideLineEnds(sent) - bytesBesideLineEnds(kept)
    const counts = `${kept.bytes} bytes of ${sent.bytes} sent`
    if (lost > 0) {
      throw new FolderStop(
        'verification',
        `“${destinationFolder.path}” stores only a part of source message ${uid}: ${counts}.`,
      )
    }
    const what = lost === 0 ? 'with other line ends' : 'with additions of its own'
    note({ folder, uid, message: `The destination stores this message ${what}: ${counts}.` })
  }
}
