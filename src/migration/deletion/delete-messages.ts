import { formatUidSet } from '../../net/imap/connection/command-encoding.ts'
import { signIn, type Session } from '../../net/imap/connection/session.ts'
import type { SignIn } from '../../net/imap/connection/sign-in.ts'
import type { Wire } from '../../net/imap/connection/wire.ts'
import { listFolders } from '../../net/imap/folders/list-folders.ts'
import { encodeMailbox, type ByteString } from '../../net/imap/folders/mailbox-name.ts'
import { examine, select } from '../../net/imap/folders/mailbox.ts'
import { identify, type IdentifiedMessage } from '../engine/identify/identify.ts'
import type { MappedFolder } from '../engine/plan/mapping.ts'
import { planDeletions, type Deletions } from './plan-deletions.ts'

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
 * @throws Fault, ImapRefused, ImapLost
 */
export async function deleteMessages(deps: DeletionDeps): Promise<Deleted> {
  const { source, destination, folders, deletions, signal } = deps
  const from = await signIn(source, signal)
  try {
    const to = await signIn(destination, signal)
    try {
      return await deleteInFolders(from, to, folders, deletions, signal)
    } finally {
      await to.wire.logout()
    }
  } finally {
    await from.wire.logout()
  }
}

async function deleteInFolders(
  from: Session,
  to: Session,
  folders: readonly MappedFolder[],
  deletions: Deletions,
  signal: AbortSignal,
): Promise<Deleted> {
  const deleted: Deleted = { source: 0, destination: 0, isMarkedOnly: false }
  const [here, there] = await Promise.all([namesOf(from), namesOf(to)])
  const byDestination = Map.groupBy(folders, ({ destination }) => destination)
  for (const [path, mapped] of byDestination) {
    signal.throwIfAborted()
    const sources = []
    for (const folder of mapped) {
      const name = here(folder.source)
      sources.push({ name, messages: await listFolder(from.wire, name, 'read') })
    }
    const name = there(path)
    const found = await listFolder(to.wire, name, 'change')
    const plan = planDeletions(
      sources.map(({ messages }) => messages),
      found,
      deletions,
    )
    deleted.isMarkedOnly ||= !(await remove(to.wire, plan.destination, true))
    deleted.destination += plan.destination.length
    for (const [index, uids] of plan.sources.entries()) {
      if (uids.length === 0) continue
      await select(from.wire, sources[index]?.name ?? '')
      deleted.isMarkedOnly ||= !(await remove(from.wire, uids, deletions.removeAtSource))
      deleted.source += uids.length
    }
  }
  return deleted
}

async function namesOf(session: Session): Promise<(path: string) => ByteString> {
  const { folders } = await listFolders(session)
  const names = new Map(folders.map(({ path, pathAsListed }) => [path, pathAsListed]))
  return (path) => names.get(path) ?? encodeMailbox(path)
}

async function listFolder(
  wire: Wire,
  name: ByteString,
  mode: 'read' | 'change',
): Promise<IdentifiedMessage[]> {
  const { exists, uidNext } = await (mode === 'read' ? examine : select)(wire, name)
  return exists === 0 ? [] : Array.fromAsync(identify(wire, 1, (uidNext ?? 2 ** 32) - 1))
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
