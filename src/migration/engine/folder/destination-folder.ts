import type { LiteralKnowledge } from '../../../net/imap/append/append-header.ts'
import { discardsRejectedLiterals, isLostAtProbe } from '../../../net/imap/append/literal-probe.ts'
import { createFolder } from '../../../net/imap/folders/create-folder.ts'
import type { OpenedMailbox } from '../../../net/imap/folders/mailbox.ts'
import { encodeMailbox, type ByteString } from '../../../net/imap/folders/mailbox-name.ts'
import type { MailboxView } from '../../../net/imap/folders/mailbox-view.ts'
import { ImapRefused, isTemporary, describeRefusal } from '../../../net/imap/connection/refusals.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import type { ConnectionPair } from '../connections/connection-pair.ts'
import { isSameName, numberedName, simplerNames, type Hierarchy } from '../plan/mapping.ts'
import { FolderStop, Reopen } from '../stop.ts'

/** An open folder of the destination. */
export type DestinationFolder = { path: string; name: ByteString; opened: OpenedMailbox }

/** The destination’s folders; shared by all folders of a migration. */
export type DestinationFolders = {
  hierarchy: Hierarchy
  /** The names of existing folders as listed, in bytes, by path. */
  listed: Map<string, ByteString>
  /** Paths that this migration uses. */
  taken: Set<string>
}

type OpenDestinationDeps = {
  destination: DestinationFolders
  literals: LiteralKnowledge
  /** Resolves when the folder of the source is open. */
  sourceOpened: Promise<unknown>
  /** Whether it was open in this run: it is described as it is now. */
  isAgain: boolean
}

/**
 * Finds or creates the folder, under a simpler name where the server rejects the wanted one. It is
 * created and opened in one round trip, and only once the source has opened its folder: one that
 * the source does not have is not created.
 * @throws FolderStop when it rejects all; ImapRefused for a temporary rejection; ImapLost; the error
 *   of `sourceOpened`
 */
export async function openDestinationFolder(
  pair: ConnectionPair,
  wanted: string,
  { destination, literals, sourceOpened, isAgain }: OpenDestinationDeps,
): Promise<DestinationFolder> {
  const { wire } = await pair.destination()
  if (!literals.mustSynchronize) startLiteralProbe(wire, literals)
  if (!exists(wanted, destination)) await sourceOpened
  const finding = findOrCreate(wire, wanted, destination)
  const ahead = pair.destinationFolder(nameOf(wanted, destination)).then((view) => view.opened())
  ahead.catch(() => undefined)
  const path = await finding
  const name = nameOf(path, destination)
  destination.listed.set(path, name)
  destination.taken.add(path)
  return { path, name, opened: await openWritable(pair, path, { name, isAgain }) }
}

/** Its result is needed when the first message is sent. */
function startLiteralProbe(wire: Wire, literals: LiteralKnowledge): void {
  discardsRejectedLiterals(wire).catch(() => {
    if (wire.lost?.reason === 'protocol' || isLostAtProbe(wire)) literals.mustSynchronize = true
  })
}

/**
 * Returns a connection with the folder open, with the same UIDVALIDITY as when it was opened: on
 * another connection, the UIDs of our copies may be those of other messages.
 * @throws Reopen, ImapRefused, ImapLost
 */
export async function destinationView(
  pair: ConnectionPair,
  { name, opened }: DestinationFolder,
): Promise<MailboxView> {
  const view = await pair.destinationFolder(name)
  if ((await view.opened()).uidValidity !== opened.uidValidity)
    throw new Reopen('The destination assigned new UIDs to its messages.')
  return view
}

export function nameOf(path: string, { listed }: DestinationFolders): ByteString {
  return listed.get(path) ?? encodeMailbox(path)
}

async function findOrCreate(
  wire: Wire,
  wanted: string,
  destination: DestinationFolders,
): Promise<string> {
  if (exists(wanted, destination)) return wanted
  let refused: ImapRefused | undefined
  for (const path of namesFor(wanted, destination)) {
    try {
      return await createOrJoin(wire, { path, wanted }, destination)
    } catch (error) {
      if (!(error instanceof ImapRefused) || isTemporary(error.refusal)) throw error
      refused ??= error
    }
  }
  const words = refused ? describeRefusal(refused.refusal) : ''
  throw new FolderStop(
    'folder_refused',
    `The destination does not let us make “${wanted}”: ${words}`,
    refused,
  )
}

/** The wanted name, and simpler ones once it is refused. */
function* namesFor(
  wanted: string,
  { hierarchy, taken, listed }: DestinationFolders,
): Generator<string> {
  yield wanted
  yield* simplerNames(wanted, hierarchy, taken, listed)
}

/**
 * Creates a folder. One that exists without being listed has its name in another case, on a server
 * that ignores case: it is used, unless another folder of this migration goes there.
 * @returns its path
 */
async function createOrJoin(
  wire: Wire,
  { path, wanted }: { path: string; wanted: string },
  destination: DestinationFolders,
): Promise<string> {
  const { taken, listed } = destination
  const about = nameOf(wanted, destination)
  if ((await createFolder(wire, nameOf(path, destination), about)) === 'created') return path
  const isTwin = (other: string) => other !== path && isSameName(other, path)
  if ([...taken].some(isTwin)) {
    const other = nameBesideTwins(path, taken)
    await createFolder(wire, nameOf(other, destination), about)
    return other
  }
  const twin = [...listed.keys()].find(isTwin) ?? path
  taken.add(twin)
  return twin
}

/** A number that no other twin gets, in whatever order they are created, nor in a later run. */
function nameBesideTwins(path: string, taken: ReadonlySet<string>): string {
  const twins = [...taken].filter((other) => isSameName(other, path))
  let number = Math.max(0, twins.indexOf(path)) + 2
  const isTaken = (name: string) => [...taken].some((other) => isSameName(other, name))
  while (isTaken(numberedName(path, number))) number += twins.length
  return numberedName(path, number)
}

function exists(path: string, { listed }: DestinationFolders): boolean {
  return path === 'INBOX' || listed.has(path)
}

async function openWritable(
  pair: ConnectionPair,
  path: string,
  { name, isAgain }: { name: ByteString; isAgain: boolean },
): Promise<OpenedMailbox> {
  const view = await pair.destinationFolder(name)
  try {
    const opened = await (isAgain ? view.reopen() : view.opened())
    if (!opened.isReadOnly) return opened
  } catch (error) {
    if (!(error instanceof ImapRefused) || isTemporary(error.refusal)) throw error
    throw new FolderStop(
      'folder_refused',
      `The destination does not open “${path}”: ${describeRefusal(error.refusal)}`,
      error,
    )
  }
  throw new FolderStop(
    'not_permitted',
    `The destination lets us read “${path}” but not write to it.`,
  )
}
