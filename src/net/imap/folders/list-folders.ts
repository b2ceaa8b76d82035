import {
  listMailboxes,
  listSubscriptions,
  type MailboxList,
  type ListedMailbox,
} from './list-fallback.ts'
import { readStatus, type MailboxStatus, type StatusOptions } from './mailbox.ts'
import { decodeMailbox, encodeMailbox, type ByteString } from './mailbox-name.ts'
import { ImapLost, ImapRefused, isTemporary, isThrottling } from '../connection/refusals.ts'
import type { Session } from '../connection/imap-session.ts'
import { useByAttribute, useByName, wellKnownNames, type SpecialUse } from './special-use.ts'
import type { Wire } from '../connection/wire.ts'

export type Folder = {
  /** The decoded name, with the server’s delimiter. */
  path: string
  /** The exact bytes that the server listed, which commands must use. */
  pathAsListed: ByteString
  /** The last part of `path`. */
  name: string
  /** Null where there is no hierarchy, or the delimiter is unknown. */
  delimiter: string | null
  flags: string[]
  specialUse: SpecialUse | null
  /** Whether it can hold messages (neither `\Noselect` nor `\NonExistent`). */
  isSelectable: boolean
  /** Null where the server does not count them, or there are none to count. */
  messages: number | null
  unseen: number | null
  subscribed: boolean
  /** Null where it was not counted. */
  status: MailboxStatus | null
}

export type FolderListing = {
  folders: Folder[]
  /** The server rejected `LIST "" "*"`. */
  listFailed: boolean
  /** Other forms of LIST, LSUB or STATUS found the folders. */
  usedFallback: boolean
  /** Only STATUS succeeded: there may be folders with names that cannot be guessed. */
  statusOnly: boolean
  /** There may be folders that the server did not list. */
  isPartial: boolean
  /**
   * Why nothing was found. A server that rejects whatever is requested has said nothing about the
   * account (Exchange “User is authenticated but not connected”).
   */
  refusal: ImapRefused | null
}

/** Folders at which a connection may break before no folder is counted. */
const MAX_UNCOUNTED = 20

/**
 * Lists the folders of an account like `listFolders`, also where the connection breaks at the counts
 * of a folder: that folder has none. Where it breaks at those of many, none has.
 * @param connect returns a new session where the last one is lost
 * @throws ImapRefused when the server asks to retry later, ImapLost, errors of `connect`
 */
export async function listReadableFolders(
  connect: () => Promise<Pick<Session, 'wire' | 'namespace'>>,
  counts: StatusOptions = {},
): Promise<FolderListing> {
  let uncounted: ReadonlySet<ByteString> | null = null
  for (;;) {
    const session = await connect()
    const isCounted = (uncounted?.size ?? 0) < MAX_UNCOUNTED
    try {
      return await listFolders(session, isCounted ? counts : null, uncounted)
    } catch (error) {
      if (!(error instanceof ImapLost) || error.reason === 'ours') throw error
      const name = error.at?.mailbox ?? null
      const known: ReadonlySet<ByteString> = uncounted ?? new Set()
      // The connection broke at the list itself: maybe at the counts in it.
      if (name === null && uncounted !== null) throw error
      if ((name !== null && known.has(name)) || !isCounted) throw error
      uncounted = new Set(name === null ? known : [...known, name])
    }
  }
}

/**
 * Lists the folders of an account with their counts. An account without folders gives an empty
 * list.
 * @param counts further counts to request; null for none at all
 * @param uncounted names of folders whose counts are not requested; null to request counts with the
 *   list, where the server supports that
 * @throws ImapRefused when the server asks to retry later, ImapLost
 */
export async function listFolders(
  { wire, namespace }: Pick<Session, 'wire' | 'namespace'>,
  counts: StatusOptions | null = {},
  uncounted: ReadonlySet<ByteString> | null = null,
): Promise<FolderListing> {
  const list = await listMailboxes(wire, uncounted ? null : counts)
  if (list.listed.length === 0) return listByProbing(wire, list, namespace)
  const listed = await addInbox(wire, list.listed)
  const subscribed = listed.every(({ isSubscribed }) => isSubscribed === null)
    ? await listSubscriptions(wire)
    : null
  const folders = await Promise.all(
    listed.map((entry) =>
      folderOf(wire, entry, subscribed, uncounted?.has(entry.name) ? null : counts),
    ),
  )
  return {
    folders: markSpecialUses(disambiguatePaths(folders)),
    listFailed: list.listFailed,
    usedFallback: list.listFailed,
    statusOnly: false,
    // Below INBOX is all that a server with this prefix has for its user.
    isPartial: list.isPartial && !(namespace && /^INBOX./i.test(namespace.prefix)),
    refusal: null,
  }
}

/**
 * INBOX always exists, even if a LIST of another namespace does not show it. Where STATUS is rejected
 * for another reason, opening it reports that: left out, its mail would be lost without a word.
 */
async function addInbox(wire: Wire, listed: ListedMailbox[]): Promise<ListedMailbox[]> {
  if (listed.some(({ name }) => name.toUpperCase() === 'INBOX')) return listed
  const found = await probe(wire, 'INBOX')
  if (!(found instanceof ImapRefused)) return [probedMailbox('INBOX', null, found), ...listed]
  const isMissing = found.refusal.kind === 'no_such_mailbox'
  return isMissing ? listed : [probedMailbox('INBOX', null, null), ...listed]
}

async function listByProbing(
  wire: Wire,
  { listFailed }: MailboxList,
  namespace: Session['namespace'],
): Promise<FolderListing> {
  // After a successful LIST, only INBOX can be missing, which always exists.
  const names = listFailed ? probeNames(namespace?.prefix ?? '') : ['INBOX']
  const answers = await Promise.all(
    names.map(async (name) => ({ name, found: await probe(wire, name) })),
  )
  const existing = answers.flatMap(({ name, found }) =>
    found instanceof ImapRefused ? [] : [{ name, found }],
  )
  const [inbox] = answers
  const refusal = inbox?.found instanceof ImapRefused && existing.length === 0 ? inbox.found : null
  const delimiter = existing.map(({ name }) => /^INBOX([./])/.exec(name)?.[1]).find(Boolean)
  const listed = existing.map(({ name, found }) =>
    probedMailbox(name, delimiter ?? namespace?.delimiter ?? null, found),
  )
  const folders = await Promise.all(listed.map((entry) => folderOf(wire, entry, null, {})))
  const how = { listFailed, usedFallback: true, statusOnly: true, isPartial: listFailed }
  return { folders: markSpecialUses(folders), ...how, refusal }
}

/**
 * INBOX, and the well-known names at the top level, below INBOX with either delimiter, and below
 * the user’s prefix.
 */
function probeNames(prefix: ByteString): ByteString[] {
  const names = wellKnownNames().map(encodeMailbox)
  const prefixes = new Set(['', 'INBOX.', 'INBOX/', prefix])
  return [
    ...new Set(['INBOX', ...[...prefixes].flatMap((before) => names.map((name) => before + name))]),
  ]
}

function probedMailbox(
  name: ByteString,
  delimiter: string | null,
  found: MailboxStatus | null,
): ListedMailbox {
  return { name, delimiter, flags: [], status: found, isSubscribed: null }
}

/** The rejection, where the folder does not exist: Dovecot reports that without a code. */
async function probe(wire: Wire, name: ByteString): Promise<MailboxStatus | ImapRefused> {
  try {
    return await readStatus(wire, name)
  } catch (error) {
    if (error instanceof ImapRefused && !isTemporary(error.refusal)) return error
    throw error
  }
}

/** Null where the server does not count the folder, also because it is busy: it exists nevertheless. */
async function countFolder(
  wire: Wire,
  name: ByteString,
  options: StatusOptions,
): Promise<MailboxStatus | null> {
  try {
    return await readStatus(wire, name, options)
  } catch (error) {
    if (error instanceof ImapRefused && !isThrottling(error.refusal)) return null
    throw error
  }
}

async function folderOf(
  wire: Wire,
  listed: ListedMailbox,
  subscribed: Set<ByteString> | null,
  options: StatusOptions | null,
): Promise<Folder> {
  const { name, delimiter, flags } = listed
  const path = pathOf(name, delimiter)
  const isSelectable = !flags.some((flag) => /^\\(?:Noselect|NonExistent)$/i.test(flag))
  const counts =
    listed.status ?? (isSelectable && options ? await countFolder(wire, name, options) : null)
  return {
    path,
    pathAsListed: name,
    name: (delimiter && path.split(delimiter).at(-1)) || path,
    delimiter,
    flags: flags.filter((flag) => !/^\\Subscribed$/i.test(flag)),
    specialUse: path.toUpperCase() === 'INBOX' ? '\\Inbox' : useByAttribute(flags),
    isSelectable,
    messages: counts?.messages ?? null,
    unseen: counts?.unseen ?? null,
    subscribed: listed.isSubscribed ?? subscribed?.has(name) ?? false,
    status: counts,
  }
}

/** The decoded name, in as many levels as the name has: `a&AC8-b` is one folder, not `b` below `a`. */
function pathOf(name: ByteString, delimiter: string | null): string {
  const path = decodeMailbox(name)
  const levels = delimiter === null ? [name] : name.split(delimiter)
  if (delimiter === null || path.split(delimiter).length === levels.length) return path
  return levels.map((level) => decodeMailbox(level).replaceAll(delimiter, '_')).join(delimiter)
}

/**
 * A name in modified UTF-7 and one in raw bytes can decode to the same path. The later one is shown
 * by its bytes.
 */
function disambiguatePaths(folders: Folder[]): Folder[] {
  const taken = new Set<string>()
  return folders.map((folder) => {
    const path = taken.has(folder.path) ? folder.pathAsListed : folder.path
    taken.add(path)
    return { ...folder, path }
  })
}

/**
 * A name decides on the special use only where no attribute does, and only for one folder: the one
 * nearest to the top.
 */
function markSpecialUses(folders: Folder[]): Folder[] {
  const taken = new Set(folders.map(({ specialUse }) => specialUse))
  for (const folder of folders.toSorted((a, b) => a.path.length - b.path.length)) {
    const use = folder.isSelectable && folder.specialUse === null ? useByName(folder.name) : null
    if (use === null || taken.has(use)) continue
    folder.specialUse = use
    taken.add(use)
  }
  return folders
}
