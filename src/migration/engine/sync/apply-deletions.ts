import { describeRefusal, ImapRefused, isTemporary } from '../../../net/imap/connection/refusals.ts'
import { encodeMailbox } from '../../../net/imap/folders/mailbox-name.ts'
import { canMoveMessages, expungeMessages } from '../../../net/imap/folders/move-messages.ts'
import type { ConnectionPair } from '../connections/connection-pair.ts'
import type { MigrationContext } from '../context.ts'
import { readRecords } from '../journal/copy-records.ts'
import type { Deletion } from '../journal/deletions.ts'
import { createUidSet, parseUidSet, type UidSet } from '../journal/uid-set.ts'

/** Messages of one command. */
const MESSAGES_PER_COMMAND = 500

/** Whether a deletion at the source may be applied at the destination. */
export function isApplicable({ reason }: Deletion): boolean {
  return reason !== 'renumbered'
}

/**
 * Deletes the copies of messages that were deleted at the source: by UID, only those that the
 * journal has as ours, and none that is the copy of another message of the source by now.
 * @returns how many were deleted
 * @throws ImapRefused for a temporary rejection, ImapLost
 */
export async function applyDeletions(
  pair: ConnectionPair,
  deletions: readonly Deletion[],
  migration: MigrationContext,
): Promise<number> {
  let applied = 0
  const groups = Map.groupBy(deletions, ({ destination }) => destination)
  for (const [path, group] of groups) {
    try {
      applied += await applyIn(pair, path, group, migration)
    } catch (error) {
      if (!(error instanceof ImapRefused) || isTemporary(error.refusal)) throw error
      const message = `Messages that were deleted at the source could not be deleted in “${path}”: ${describeRefusal(error.refusal)}`
      migration.note({ folder: group[0]?.folder ?? '', message })
    }
  }
  return applied
}

async function applyIn(
  pair: ConnectionPair,
  path: string,
  deletions: readonly Deletion[],
  { journal, destination: { listed }, note }: MigrationContext,
): Promise<number> {
  const view = await pair.destinationFolder(listed.get(path) ?? encodeMailbox(path))
  if (!canMoveMessages(view)) {
    const message = `Messages that were deleted at the source stay in “${path}”: the destination cannot delete single messages (UIDPLUS).`
    note({ folder: deletions[0]?.folder ?? '', message })
    return 0
  }
  const { uidValidity } = await view.reopen()
  const isOurs = ({ destinationUidValidity }: Deletion) =>
    uidValidity !== null && destinationUidValidity === uidValidity
  await journal.closeDeletions(idsOf(deletions.filter((each) => !isOurs(each))), 'absent')
  const inUse = await listInUse(path, uidValidity, journal)
  const ours = deletions.filter(isOurs)
  const used = ours.filter(({ record }) => inUse.has(record.to))
  await journal.closeDeletions(idsOf(used), 'moved')
  const unused = ours.filter(({ record }) => !inUse.has(record.to))
  let applied = 0
  for (let from = 0; from < unused.length; from += MESSAGES_PER_COMMAND) {
    const some = unused.slice(from, from + MESSAGES_PER_COMMAND)
    const uids = [...createUidSet(some.map(({ record }) => record.to))]
    const there = new Set(await expungeMessages(view, uids))
    const isThere = ({ record }: Deletion) => there.has(record.to)
    await journal.closeDeletions(idsOf(some.filter(isThere)), 'applied')
    await journal.closeDeletions(idsOf(some.filter((each) => !isThere(each))), 'absent')
    applied += there.size
  }
  return applied
}

/** The UIDs of copies in a folder whose messages are still at the source. */
async function listInUse(
  path: string,
  uidValidity: number | null,
  journal: MigrationContext['journal'],
): Promise<UidSet> {
  const inUse = createUidSet()
  for (const [folder, saved] of await journal.loadAll()) {
    if (saved.destination !== path || saved.destinationUidValidity !== uidValidity) continue
    const gone = parseUidSet(saved.gone ?? '')
    for (const { uid, to } of readRecords(await journal.copies(folder, saved)))
      if (to > 0 && !gone.has(uid)) inUse.add(to)
  }
  return inUse
}

function idsOf(deletions: readonly Deletion[]): string[] {
  return deletions.map(({ id }) => id)
}
