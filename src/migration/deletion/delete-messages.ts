import { formatUidSet } from '../../net/imap/connection/command-encoding.ts'
import { signIn, type Session } from '../../net/imap/connection/session.ts'
import type { SignIn } from '../../net/imap/connection/sign-in.ts'
import type { Wire } from '../../net/imap/connection/wire.ts'
import { listFolders } from '../../net/imap/folders/list-folders.ts'
import {
  decodeMailbox,
  encodeMailbox,
  type ByteString,
} from '../../net/imap/folders/mailbox-name.ts'
import { examine, select } from '../../net/imap/folders/mailbox.ts'
import { identify, type IdentifiedMessage } from '../engine/identify/identify.ts'
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
    const names = mapped.map(({ source }) => here(source))
    const listSources = async () => {
      const lists = []
      for (const name of names) lists.push(await listFolder(from.wire, name, 'read'))
      return lists
    }
    const sources = await listSources()
    const found = await listFolder(to.wire, there(path), 'change')
    let surplus = await planAtDestination(sources.flat(), found, to.wire, deletions)
    // A second look at the source: what it did not list once may be there nevertheless.
    if (surplus.length > 0) {
      const again = (await listSources()).flat()
      const confirmed = new Set(await planAtDestination(again, found, to.wire, deletions))
      surplus = surplus.filter((uid) => confirmed.has(uid))
    }
    deleted.isMarkedOnly ||= !(await remove(to.wire, surplus, true))
    deleted.destination += surplus.length
    if (!deletions.copiedAtSource) continue
    const kept = indexKept(found, surplus)
    for (const [index, name] of names.entries()) {
      await select(from.wire, name)
      const uids = await planAtSource(sources[index] ?? [], kept, from.wire, to.wire)
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

/** @throws Stop when a server lists fewer messages than it claims to have: nothing may be deleted */
async function listFolder(
  wire: Wire,
  name: ByteString,
  mode: 'read' | 'change',
): Promise<IdentifiedMessage[]> {
  const { exists } = await (mode === 'read' ? examine : select)(wire, name)
  const listed = exists === 0 ? [] : await Array.fromAsync(identify(wire, 1, 2 ** 32 - 1))
  if (listed.length >= exists) return listed
  throw new Stop(
    'not_listed',
    `Nothing was deleted in “${decodeMailbox(name)}”: the server claims to have ${exists} messages and lists ${listed.length}.`,
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
