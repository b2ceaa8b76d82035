import type { MigrationContext, MigrationNote } from '../context.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import { subscribe } from '../../../net/imap/folders/create-folder.ts'
import { noop, readStatusWithSize } from '../../../net/imap/folders/mailbox.ts'
import type { MailboxView } from '../../../net/imap/folders/mailbox-view.ts'
import { bytesBesideLineEnds, compareStoredCopies, type Deviations } from './stored-copies.ts'
import type { FolderCopier } from './folder-copier.ts'
import type { ConnectionPair } from '../connections/connection-pair.ts'
import { ENGINE_LIMITS } from '../../limits.ts'
import { settledAll } from '../settled-all.ts'
import { uidsBelow, type OpenFolder } from './open-folder.ts'
import { FolderStop, Reopen } from '../stop.ts'

type Noting = (note: MigrationNote) => void

/**
 * Verifies that all messages are accounted for: true when they are, false when messages are left to
 * copy. Counts are read again only where the responses so far do not prove them.
 * @throws FolderStop when the destination has fewer messages than were copied; Reopen, ImapRefused,
 *   ImapLost
 */
export async function verify(
  pair: ConnectionPair,
  at: OpenFolder,
  copier: FolderCopier,
  { note, subscribe: subscriptions }: MigrationContext,
): Promise<boolean> {
  if (!(await isSourceDone(pair, at, copier))) return false
  const { wire } = await pair.destination()
  const isSubscribed = subscriptions === 'all' || copier.folder.subscribed
  const subscribing =
    isSubscribed && subscriptions !== 'none' ? subscribe(wire, at.destinationFolder.name) : null
  const [isStored] = await settledAll([areCopiesStored(wire, at), subscribing])
  if (isStored) return true
  await at.folderState.save()
  const destination = await pair.destinationFolder(at.destinationFolder.name)
  const source = await copier.reading(pair, at)
  const [, deviations] = await settledAll([
    requireCount(destination, at),
    compareStoredCopies(at.arrivals, source, destination),
  ])
  reportDeviations(deviations, at, copier, note)
  return true
}

/**
 * Whether every message of the source is processed. A complete listing, of which the source
 * returned every message, proves that.
 */
async function isSourceDone(
  pair: ConnectionPair,
  at: OpenFolder,
  copier: FolderCopier,
): Promise<boolean> {
  const { folderState } = at
  if (at.uids.length === 0 || (at.isCounted && copier.evidence.missing.size === 0)) return true
  at.isCounted = false
  const source = await copier.reading(pair, at)
  // A server may list expunged messages until it has sent the EXPUNGE responses (RFC 3501, 7.4.1).
  await noop(source)
  const now = await uidsBelow(source, folderState.saved.sourceUidNext)
  addOmitted(at, now)
  failMissing(at, copier, now)
  return now.every((uid) => folderState.isDone(uid))
}

/** Adds messages that the first listing omitted: some servers list less than they have. */
function addOmitted(at: OpenFolder, now: number[]): void {
  const listed = new Set(at.uids)
  const omitted = now.filter((uid) => !listed.has(uid))
  if (omitted.length === 0) return
  at.folderState.addOmitted(omitted)
  at.uids = now
  at.rows = null
}

/**
 * Whether the counts of a folder that had only our copies prove that every message was stored in
 * full: as many messages as were copied, with the sum of their sizes (RFC 8438).
 * @throws ImapLost, and ImapRefused for a temporary rejection
 */
async function areCopiesStored(wire: Wire, at: OpenFolder): Promise<boolean> {
  const { destinationFolder, folderState, arrivals } = at
  const { copied, bytes } = folderState.saved
  const wasOurs = destinationFolder.opened.exists === copied - arrivals.count
  if (!wasOurs || arrivals.hasOddDates || !wire.capabilities.has('STATUS=SIZE')) return false
  const stored = await readStatusWithSize(wire, destinationFolder.name)
  return (
    stored.messages === copied &&
    stored.size === bytes &&
    stored.uidValidity === destinationFolder.opened.uidValidity
  )
}

async function requireCount(
  destination: MailboxView,
  { destinationFolder, folderState, arrivals, isLaterPass }: OpenFolder,
): Promise<void> {
  const { exists, uidValidity } = await destination.reopen()
  if (uidValidity !== destinationFolder.opened.uidValidity)
    throw new Reopen('The destination assigned new UIDs to its messages.')
  // Copies of earlier passes may have been deleted at the destination since.
  const copied = isLaterPass ? arrivals.count : folderState.saved.copied
  if (exists < copied) {
    throw new FolderStop(
      'verification',
      `“${destinationFolder.path}” has ${exists} messages, but ${copied} were copied there.`,
    )
  }
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
