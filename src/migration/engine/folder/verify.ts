import type { MigrationNote } from '../context.ts'
import { examine, noop } from '../../../net/imap/folders/mailbox.ts'
import { bytesBesideLineEnds, compareStoredCopies, type Deviations } from './stored-copies.ts'
import type { FolderCopier } from './folder-copier.ts'
import type { ConnectionPair } from '../connections/connection-pair.ts'
import { ENGINE_LIMITS } from '../../limits.ts'
import { uidsBelow, type OpenFolder } from './open-folder.ts'
import { FolderStop, Reopen } from '../stop.ts'

type Noting = (note: MigrationNote) => void

/**
 * Counts both folders again and compares sizes and dates of the copies with what was sent: true
 * when everything is accounted for, false when messages are left to copy.
 * @throws FolderStop when the destination has fewer messages than were copied; Reopen, ImapRefused,
 *   ImapLost
 */
export async function verify(
  pair: ConnectionPair,
  at: OpenFolder,
  copier: FolderCopier,
  note: Noting,
): Promise<boolean> {
  const { folderState, destinationFolder } = at
  const source = await copier.reading(pair, at)
  if (at.uids.length > 0) {
    // A server may list expunged messages until it has sent the EXPUNGE responses (RFC 3501,
    // 7.4.1).
    await noop(source)
    const now = await uidsBelow(source, folderState.saved.sourceUidNext)
    failMissing(at, copier, now)
    if (now.some((uid) => !folderState.isDone(uid))) return false
  }
  const { wire } = await pair.destination()
  const { exists, uidValidity } = await examine(wire, destinationFolder.name)
  if (uidValidity !== destinationFolder.opened.uidValidity)
    throw new Reopen('The destination assigned new UIDs to its messages.')
  const { copied } = folderState.saved
  if (exists < copied) {
    throw new FolderStop(
      'verification',
      `“${destinationFolder.path}” has ${exists} messages, but ${copied} were copied there.`,
    )
  }
  reportDeviations(await compareStoredCopies(at.arrivals, source, wire), at, copier, note)
  return true
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

/** Fails messages at which connections broke too often. */
export function failUnreadableMessages(
  { folderState }: OpenFolder,
  { folder, evidence }: FolderCopier,
): void {
  const suspects = folderState.saved.suspicions.filter(
    ([uid, times]) => times >= ENGINE_LIMITS.maxBreaks.most && !folderState.isDone(uid),
  )
  for (const [uid, attempts] of suspects) {
    const { messageId = null, size = null, text = '' } = evidence.descriptions.get(uid) ?? {}
    const message = `The connection broke each time this message was copied. ${text}`.trim()
    folderState.failed({
      folder: folder.path,
      uid,
      messageId,
      size,
      code: 'connection_lost',
      message,
      attempts,
    })
  }
}
