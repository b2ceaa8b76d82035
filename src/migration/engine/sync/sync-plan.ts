import { ImapRefused } from '../../../net/imap/connection/refusals.ts'
import { fetchFlags } from '../../../net/imap/fetch/fetch-flags.ts'
import type { Folder } from '../../../net/imap/folders/list-folders.ts'
import { readStatus } from '../../../net/imap/folders/mailbox.ts'
import { encodeMailbox } from '../../../net/imap/folders/mailbox-name.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import type { ConnectionPair } from '../connections/connection-pair.ts'
import type { Deletion } from '../journal/deletions.ts'
import type { Journal, SavedFolder } from '../journal/journal.ts'
import { findFolderChanges, recordMissingFolder } from './find-changes.ts'
import { findMoves } from './find-moves.ts'
import type { FolderChanges, Relocation, SyncPlan } from './pass.ts'
import { digestOfFlags, isSameStatus, statusOf, type FolderStatus } from './folder-status.ts'
import { unlessUnreadable } from './unless-unreadable.ts'

/**
 * Lists what changed at the source since the last pass. New messages are counted before missing
 * ones are listed, and again afterwards: a message that a client moves meanwhile is then never
 * missing without being new.
 * @param folders as they were just listed
 * @throws ImapRefused, ImapLost
 */
export async function planSync(
  pair: ConnectionPair,
  folders: readonly Folder[],
  { journal }: { journal: Journal },
): Promise<SyncPlan> {
  const saved = await journal.loadAll()
  const before = await journal.deletions()
  const statuses = await readStatuses(folders, async (name) => pair.sourceFolder(name))
  const unchanged = new Map<string, SavedFolder>()
  for (const { path } of folders) {
    const state = saved.get(path)
    if (state?.isDone && isSameStatus(state.seen, statuses.get(path) as FolderStatus))
      unchanged.set(path, state)
  }
  const changed = folders.filter(({ path }) => !unchanged.has(path))
  const changes = new Map<string, FolderChanges | 'renumbered' | null>()
  for (const folder of changed) {
    const [state, status] = [saved.get(folder.path), statuses.get(folder.path) as FolderStatus]
    if (!state) continue
    const find = () => findFolderChanges(pair, folder, state, status, journal)
    const isKnown = status.uidValidity !== null
    changes.set(folder.path, isKnown ? await unlessUnreadable(folder.pathAsListed, find) : null)
  }
  await recordMissing(pair, folders, saved, journal)
  const open = await journal.deletions()
  const relocations =
    open.length === 0 ? null : await findRelocations(pair, changed, statuses, open, journal)
  return {
    changes: { copied: 0, flags: 0, moved: 0, deleted: 0, applied: 0 },
    unchanged,
    statuses,
    before,
    copiedBefore: new Map([...saved].map(([path, { copied }]) => [path, copied])),
    folder(path) {
      const status = statuses.get(path)
      if (!status) return null
      const found = changes.get(path)
      return {
        status,
        changes: found === 'renumbered' ? null : (found ?? null),
        isUnknown: found === null,
        relocations: relocations?.get(path) ?? null,
      }
    },
  }
}

/**
 * Reads the statuses of folders, with the flags of all messages where the source does not count its
 * changes (RFC 7162).
 * @param viewOf returns a connection with the folder open
 * @throws ImapRefused, ImapLost
 */
export async function readStatuses(
  folders: readonly Folder[],
  viewOf: (name: Folder['pathAsListed']) => Promise<Wire>,
): Promise<Map<string, FolderStatus>> {
  const statuses = new Map(folders.map((folder) => [folder.path, statusOf(folder)]))
  for (const { path, pathAsListed } of folders) {
    const status = statuses.get(path) as FolderStatus
    const { modseq, uidNext, uidValidity } = status
    if (modseq !== null || uidNext === null || uidValidity === null) continue
    const found = await unlessUnreadable(pathAsListed, async () =>
      fetchFlags(await viewOf(pathAsListed), uidNext - 1),
    )
    // An answer without some of the messages proves nothing about them.
    const isWhole = found !== null && found.flags.size >= (status.messages ?? 0)
    status.flags = isWhole ? digestOfFlags(found.flags) : null
  }
  return statuses
}

/** Records the copies of folders that are not at the source any more. */
async function recordMissing(
  pair: ConnectionPair,
  folders: readonly Folder[],
  saved: ReadonlyMap<string, SavedFolder>,
  journal: Journal,
): Promise<void> {
  const listed = new Set(folders.map(({ path }) => path))
  const missing = [...saved].filter(([path, state]) => !listed.has(path) && state.copied > 0)
  if (missing.length === 0) return
  const { wire } = await pair.source()
  for (const [path, state] of missing)
    if (await isMissing(wire, path)) await recordMissingFolder(path, state, journal)
}

async function isMissing(wire: Wire, path: string): Promise<boolean> {
  try {
    await readStatus(wire, encodeMailbox(path))
    return false
  } catch (error) {
    if (!(error instanceof ImapRefused)) throw error
    return error.refusal.kind === 'no_such_mailbox'
  }
}

async function findRelocations(
  pair: ConnectionPair,
  changed: readonly Folder[],
  statuses: ReadonlyMap<string, FolderStatus>,
  deletions: readonly Deletion[],
  journal: Journal,
): Promise<Map<string, Map<number, Relocation>>> {
  // Folders with new UIDs have another state by now.
  const saved = await journal.loadAll()
  const folders = changed.flatMap((folder) => {
    const uidNext = statuses.get(folder.path)?.uidNext ?? null
    return uidNext === null ? [] : [{ folder, saved: saved.get(folder.path) ?? null, uidNext }]
  })
  return findMoves(pair, folders, deletions)
}
