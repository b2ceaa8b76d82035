import type { MigrateDeps } from '../migration-options.ts'
import { enableQresync } from '../../../net/imap/fetch/fetch-flags.ts'
import { discoverDelimiter } from '../../../net/imap/folders/delimiter.ts'
import {
  listReadableFolders,
  type Folder,
  type FolderListing,
} from '../../../net/imap/folders/list-folders.ts'
import { decodeMailbox, encodeMailbox } from '../../../net/imap/folders/mailbox-name.ts'
import { describeRefusal } from '../../../net/imap/connection/refusals.ts'
import type { Session } from '../../../net/imap/connection/imap-session.ts'
import type { ConnectionPair } from '../connections/connection-pair.ts'
import type { MigrationAccount } from '../connections/fresh-sign-in.ts'
import {
  isInbox,
  mapFolders,
  type FolderRoute,
  type Hierarchy,
  type MappedFolder,
} from './mapping.ts'
import type { DestinationFolders } from '../folder/destination-folder.ts'
import { freeBytesOf, measureSizes } from './sizes.ts'
import { Stop } from '../stop.ts'
import { findWarnings, type MigrationWarning } from './warnings.ts'

/** The folders of a migration, their destinations, and warnings. */
export type MigrationPlan = {
  routes: FolderRoute[]
  destination: DestinationFolders
  warnings: MigrationWarning[]
  /** Wanted folders that hold no messages (`\Noselect`), with wanted folders below them. */
  parents: string[]
  /** All folders are wanted, and the source may have others than it listed. */
  isPartial: boolean
}

/**
 * Lists both accounts and maps the folders.
 * @param failures attempts that failed: a server may have ended the connection at ENABLE
 *   or at the quota
 * @throws Stop `same_mailbox`, `not_listed`, ImapRefused, ImapLost, and errors of signing in
 */
export async function planMigration(
  pair: ConnectionPair,
  deps: MigrateDeps,
  failures = 0,
): Promise<MigrationPlan> {
  const { source, destination, folders, options = {} } = deps
  const [from] = await Promise.all([pair.source(), pair.destination()])
  const withModseq = options.sync !== undefined
  // Sent together. Counts and sizes come with the list, where the source supports that.
  const counts = { withModseq, withSize: deps.sizes === undefined }
  const [, here, there, freeBytes] = await Promise.all([
    withModseq && failures === 0 ? enableQresync(from.wire) : null,
    listReadableFolders(() => pair.source(), counts),
    listReadableFolders(() => pair.destination()),
    failures === 0 ? freeBytesOf(() => pair.destination()) : null,
  ])
  const wanted = chooseFolders(here, folders)
  if (folders === 'all' && here.folders.length === 0) throw noFolders(here)
  const isParent = ({ path, delimiter, isSelectable }: Folder) =>
    !isSelectable && wanted.some((other) => other.path.startsWith(`${path}${delimiter ?? '/'}`))
  const chosen = wanted.filter((folder) => !isParent(folder))
  const to = await pair.destination()
  const [ours, hierarchy] = await Promise.all([
    hierarchyOf(
      await pair.source(),
      here,
      chosen.map(({ path }) => path),
    ),
    hierarchyOf(to, there, []),
  ])
  const uses = options.specialUse ? there.folders.filter(({ specialUse }) => specialUse) : []
  const mapped = mapFolders(chosen, ours, hierarchy, {
    prefix: options.prefix ?? '',
    folderMap: options.folderMap ?? {},
    specialUse: new Map(
      Map.groupBy(uses, ({ specialUse }) => String(specialUse))
        .entries()
        .map(([use, those]) => [use, those.map(({ path }) => path)]),
    ),
    ...(options.renameFolder && { renameFolder: options.renameFolder }),
  })
  if (isSameAccount(source, destination)) refuseOverlap(mapped)
  const bytes = await measureSizes(() => pair.source(), chosen, freeBytes, deps)
  const routes = chosen.map((folder, index) => ({
    folder,
    mapped: mapped[index] as MappedFolder,
    bytes: bytes.get(folder.path) ?? null,
  }))
  const warnings = await findWarnings(routes, { ...deps, freeBytes, isCourier: to.isCourier })
  const listed = new Map(
    there.folders.filter((folder) => folder.isSelectable).map((f) => [f.path, f.pathAsListed]),
  )
  const taken = new Set(mapped.map((each) => each.destination))
  const parents = wanted.filter(isParent).map(({ path }) => path)
  const isPartial = folders === 'all' && here.isPartial
  return { routes, destination: { hierarchy, listed, taken }, warnings, parents, isPartial }
}

/**
 * Selects the folders to copy. Of all folders, those without messages of their own (`\Noselect`) are
 * left out. A folder that is not listed may exist nevertheless.
 */
export function chooseFolders(
  { folders: listed }: FolderListing,
  wanted: readonly string[] | 'all',
): Folder[] {
  if (wanted === 'all') return listed.filter(({ isSelectable }) => isSelectable)
  const byPath = new Map(
    listed.map((folder) => [isInbox(folder.path) ? 'INBOX' : folder.path, folder]),
  )
  return wanted.map((path) => byPath.get(isInbox(path) ? 'INBOX' : path) ?? unlistedFolder(path))
}

function noFolders({ refusal }: FolderListing): Stop {
  const words = refusal ? `: ${describeRefusal(refusal.refusal)}` : '.'
  return new Stop('not_listed', `The source shows no folders, not even INBOX${words}`)
}

function unlistedFolder(path: string): Folder {
  const unknown = { delimiter: null, flags: [], specialUse: null, messages: null, unseen: null }
  return {
    path,
    name: path,
    pathAsListed: encodeMailbox(path),
    isSelectable: true,
    subscribed: false,
    status: null,
    ...unknown,
  }
}

/**
 * Finds the delimiter and prefix of a side, also without a listing.
 * @param paths folders that are assumed to exist
 */
async function hierarchyOf(
  { wire, namespace }: Session,
  { folders }: FolderListing,
  paths: readonly string[],
): Promise<Hierarchy> {
  const prefix = decodeMailbox(namespace?.prefix ?? '')
  const listed = folders.flatMap(({ delimiter }) => delimiter ?? [])
  const told = namespace?.delimiter ?? null
  // A namespace that matches no folder was assumed for a server that reports none.
  if (told !== null && (listed.length === 0 || listed.includes(told)))
    return { delimiter: told, prefix }
  const [first] = listed
  if (first !== undefined) return { delimiter: first, prefix }
  const found = await discoverDelimiter(wire, paths)
  // Without any hint, a slash is safe: on a server with another delimiter it is part of the name.
  return { delimiter: found === undefined ? '/' : found, prefix }
}

function isSameAccount(
  { account: a }: MigrationAccount,
  { account: b }: MigrationAccount,
): boolean {
  const isSamePort =
    a.port === b.port || [a.port, b.port].every((port) => port === 143 || port === 993)
  const isSameHost = a.target.addresses.some((address) => b.target.addresses.includes(address))
  return isSameHost && isSamePort && a.user.toLowerCase() === b.user.toLowerCase()
}

/** A folder copied into one that is copied as well would find its own copies. */
function refuseOverlap(mapped: readonly MappedFolder[]): void {
  const sources = new Set(mapped.map(({ source }) => source))
  const overlap = mapped.find(({ destination }) => sources.has(destination))
  if (!overlap) return
  const sentence = `Source and destination are the same mailbox: “${overlap.source}” would be copied into “${overlap.destination}”.`
  throw new Stop('same_mailbox', sentence)
}
