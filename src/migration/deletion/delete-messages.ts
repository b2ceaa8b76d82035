import { formatUidSet } from '../../net/imap/connection/command-encoding.ts'
import { signIn } from '../../net/imap/connection/imap-session.ts'
import { createSessions, type Sessions } from '../../net/imap/connection/sessions.ts'
import type { SignIn } from '../../net/imap/connection/imap-sign-in.ts'
import type { Wire } from '../../net/imap/connection/wire.ts'
import { listReadableFolders } from '../../net/imap/folders/list-folders.ts'
import {
  decodeMailbox,
  encodeMailbox,
  type ByteString,
} from '../../net/imap/folders/mailbox-name.ts'
import type { OpeningVerb } from '../../net/imap/folders/mailbox.ts'
import { createMailboxView, type MailboxView } from '../../net/imap/folders/mailbox-view.ts'
import { recount } from '../engine/folder/list-messages.ts'
import { identifyListed } from '../engine/identify/existing-messages.ts'
import type { IdentifiedMessage } from '../engine/identify/identify.ts'
import type { MappedFolder } from '../engine/plan/mapping.ts'
import { Stop } from '../engine/stop.ts'
import { indexKept, planAtDestination, planAtSource, type Deletions } from './plan-deletions.ts'

type DeletionDeps = {
  source: SignIn
  destination: SignIn
  /** The folders of a complete migration. */
  folders: readonly MappedFolder[]
  deletions: Deletions
  signal: AbortSignal
}

/** Numbers of deleted messages. `isMarkedOnly`: a server cannot remove single messages. */
export type Deleted = { source: number; destination: number; isMarkedOnly: boolean }

/** UIDs per command. */
const UIDS_PER_STORE = 500

/**
 * Deletes messages after a complete migration, in its folders only. Messages are marked and removed
 * by UID (RFC 4315), so that messages which others marked as deleted are kept.
 * @throws Fault, Stop, ImapRefused, ImapLost
 */
export async function deleteMessages(deps: DeletionDeps): Promise<Deleted> {
  const { source, destination, folders, deletions, signal } = deps
  const from = createSessions(() => signIn(source, signal))
  const to = createSessions(() => signIn(destination, signal))
  try {
    return await deleteInFolders({ from, to }, folders, deletions, signal)
  } finally {
    await Promise.all([from.close(), to.close()])
  }
}

async function deleteInFolders(
  { from, to }: Record<'from' | 'to', Sessions>,
  folders: readonly MappedFolder[],
  deletions: Deletions,
  signal: AbortSignal,
): Promise<Deleted> {
  const deleted: Deleted = { source: 0, destination: 0, isMarkedOnly: false }
  const [here, there] = await Promise.all([namesOf(from), namesOf(to)])
  const verb = deletions.copiedAtSource ? 'SELECT' : 'EXAMINE'
  const byDestination = Map.groupBy(folders, ({ destination }) => destination)
  for (const [path, mapped] of byDestination) {
    signal.throwIfAborted()
    // All commands of a folder are about the same UIDs: what was listed is what is deleted.
    const destination = viewOf((await to.open()).wire, there(path), 'SELECT')
    const { wire } = await from.open()
    const opened = mapped.map(({ source }) => viewOf(wire, here(source), verb))
    const listSources = async () => {
      const lists = []
      for (const source of opened) lists.push(await listFolder(source))
      return lists
    }
    const sources = await listSources()
    const found = await listFolder(destination)
    let surplus = await planAtDestination(sources.flat(), found, destination, deletions)
    // A second look at the source: what it did not list once may be there nevertheless.
    if (surplus.length > 0) {
      const again = (await listSources()).flat()
      const confirmed = new Set(await planAtDestination(again, found, destination, deletions))
      surplus = surplus.filter((uid) => confirmed.has(uid))
    }
    deleted.isMarkedOnly ||= !(await remove(destination, surplus, true))
    deleted.destination += surplus.length
    if (!deletions.copiedAtSource) continue
    const kept = indexKept(found, surplus)
    for (const [index, view] of opened.entries()) {
      const uids = await planAtSource(sources[index] ?? [], kept, view, destination)
      deleted.isMarkedOnly ||= !(await remove(view, uids, deletions.removeAtSource))
      deleted.source += uids.length
    }
  }
  return deleted
}

async function namesOf(sessions: Sessions): Promise<(path: string) => ByteString> {
  const { folders } = await listReadableFolders(sessions.open)
  const names = new Map(folders.map(({ path, pathAsListed }) => [path, pathAsListed]))
  return (path) => names.get(path) ?? encodeMailbox(path)
}

function viewOf(wire: Wire, name: ByteString, verb: OpeningVerb): MailboxView {
  const changed = () =>
    new Stop('folder_changed', `“${decodeMailbox(name)}” has new UIDs: nothing more was deleted.`)
  return createMailboxView(wire, { verb, name, changed })
}

/**
 * @throws Stop when a server lists or describes fewer messages than it claims to have, in any way:
 *   nothing may be deleted
 */
async function listFolder(view: MailboxView): Promise<IdentifiedMessage[]> {
  const { uids, claimed } = await recount(view)
  const { found, unreadable } = await identifyListed(view, uids)
  const known = uids.length - unreadable.length
  const isWhole = uids.length >= claimed && unreadable.length === 0
  if (isWhole) return found
  throw new Stop(
    'not_listed',
    `Nothing was deleted in “${decodeMailbox(view.name)}”: the server claims to have ${Math.max(claimed, uids.length)} messages and lists ${known}.`,
  )
}

/** @returns false when the messages are marked as deleted but still there */
async function remove(wire: Wire, uids: readonly number[], isRemoved: boolean): Promise<boolean> {
  const canRemove = isRemoved && wire.capabilities.has('UIDPLUS')
  for (let at = 0; at < uids.length; at += UIDS_PER_STORE) {
    const set = formatUidSet(uids.slice(at, at + UIDS_PER_STORE))
    await wire.run([`UID STORE ${set} +FLAGS.SILENT (\\Deleted)`])
    if (canRemove) await wire.run([`UID EXPUNGE ${set}`])
  }
  return canRemove || uids.length === 0
}
