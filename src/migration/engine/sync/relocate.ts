import type { Metadata } from '../../../net/imap/fetch/fetch-metadata.ts'
import {
  describeRefusal,
  ImapRefused,
  isThrottling,
} from '../../../net/imap/connection/refusals.ts'
import { encodeMailbox } from '../../../net/imap/folders/mailbox-name.ts'
import {
  canMoveMessages,
  expungeMessages,
  moveMessages,
} from '../../../net/imap/folders/move-messages.ts'
import type { MigrationContext } from '../context.ts'
import type { ConnectionPair } from '../connections/connection-pair.ts'
import type { OpenFolder } from '../folder/open-folder.ts'
import type { Relocation } from './pass.ts'

/** Messages of one command. */
const MESSAGES_PER_COMMAND = 500

/**
 * Takes over the copies of messages that are new in this folder of the source and were copied from
 * where they were before: they are moved at the destination, or already in the right folder. A
 * message whose copy is not there any more is left to copy.
 * @throws ImapRefused, ImapLost
 */
export async function relocate(
  pair: ConnectionPair,
  at: OpenFolder,
  relocations: ReadonlyMap<number, Relocation>,
  migration: MigrationContext,
): Promise<void> {
  const { path, opened } = at.destinationFolder
  const groups = Map.groupBy(relocations.values(), ({ deletion }) =>
    JSON.stringify([deletion.destination, deletion.destinationUidValidity]),
  )
  for (const group of groups.values()) {
    const { destination, destinationUidValidity } = (group[0] as Relocation).deletion
    const isHere = destination === path && destinationUidValidity === opened.uidValidity
    for (let from = 0; from < group.length; from += MESSAGES_PER_COMMAND) {
      const some = group.slice(from, from + MESSAGES_PER_COMMAND)
      if (isHere) await takeOver(at, some, migration)
      else if (destination !== path)
        await unlessRejected(moveHere(pair, at, some, migration), path, migration)
    }
  }
}

/**
 * Messages whose copies the destination does not let us move are copied, once it is known which
 * of them were moved nevertheless.
 */
async function unlessRejected(
  moving: Promise<void>,
  path: string,
  { note }: MigrationContext,
): Promise<void> {
  try {
    await moving
  } catch (error) {
    if (!(error instanceof ImapRefused) || isThrottling(error.refusal)) throw error
    const message = `Copies could not be moved to “${path}”: ${describeRefusal(error.refusal)} Missing ones were copied again.`
    note({ folder: path, message })
  }
}

/** The copies are in this folder already. */
async function takeOver(
  at: OpenFolder,
  relocations: readonly Relocation[],
  { journal }: MigrationContext,
): Promise<void> {
  for (const { row, deletion } of relocations) assign(at, row, deletion.record.to, deletion)
  await at.folderState.save()
  await journal.closeDeletions(idsOf(relocations), 'moved')
}

async function moveHere(
  pair: ConnectionPair,
  at: OpenFolder,
  relocations: readonly Relocation[],
  migration: MigrationContext,
): Promise<void> {
  const { destination, destinationUidValidity } = (relocations[0] as Relocation).deletion
  const { listed } = migration.destination
  // A folder that was deleted at the destination has no copies to move.
  if (!listed.has(destination) && destination !== 'INBOX') return
  const view = await pair.destinationFolder(listed.get(destination) ?? encodeMailbox(destination))
  const { uidValidity, isReadOnly } = await view.opened()
  if (uidValidity !== destinationUidValidity || isReadOnly || !canMoveMessages(view)) return
  const { folderState } = at
  const left = relocations.filter(({ row }) => !folderState.isDone(row.uid))
  const moved = left.length > 0 ? await moveLeft(at, left, view, migration) : new Set<Relocation>()
  // Without MOVE, copies remain; and where this was interrupted after the message had arrived.
  const arrived = relocations.filter((each) => moved.has(each) || !left.includes(each))
  if (arrived.length > 0 && !(view.capabilities.has('MOVE') && arrived.length === moved.size))
    await expungeMessages(view, uidsOf(arrived))
  await migration.journal.closeDeletions(idsOf(arrived), 'moved')
  const absent = left.filter((each) => !moved.has(each))
  if (absent.length > 0) await migration.journal.closeDeletions(idsOf(absent), 'absent')
  if (migration.sync) migration.sync.changes.moved += moved.size
}

/**
 * Moves copies of messages that are not in the folder yet. The intent is that of messages that are
 * sent: an interrupted move is found by what has arrived.
 */
async function moveLeft(
  at: OpenFolder,
  left: readonly Relocation[],
  view: Awaited<ReturnType<ConnectionPair['destinationFolder']>>,
  { changed, journal }: MigrationContext,
): Promise<Set<Relocation>> {
  const intent = await at.folderState.recordIntent(left.map(({ row }) => row.uid))
  const uids = await moveMessages(view, uidsOf(left), at.destinationFolder.name)
  const moved = left.filter(({ deletion }) => uids.has(deletion.record.to))
  // Before the messages count as copied: an interrupted pass finds those that have arrived. Without
  // MOVE, the copies at the former place are still to be deleted.
  if (view.capabilities.has('MOVE')) await journal.closeDeletions(idsOf(moved), 'moved')
  for (const { row, deletion } of moved)
    assign(at, row, uids.get(deletion.record.to) as number, deletion)
  intent.conclude([])
  await at.folderState.save()
  changed()
  return new Set(moved)
}

/** Records that a copy is the copy of this message now. Its flags are still those of before. */
function assign(
  { folderState }: OpenFolder,
  { uid }: Metadata,
  to: number,
  { record }: Relocation['deletion'],
): void {
  if (folderState.isDone(uid)) return
  folderState.copied([{ uid, to, size: record.size }])
  folderState.record({ ...record, uid, to })
}

function idsOf(relocations: readonly Relocation[]): string[] {
  return relocations.map(({ deletion }) => deletion.id)
}

function uidsOf(relocations: readonly Relocation[]): number[] {
  return relocations.map(({ deletion }) => deletion.record.to).toSorted((a, b) => a - b)
}
