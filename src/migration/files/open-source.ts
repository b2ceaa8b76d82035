import { placeOf } from './formats/gmail-labels.ts'
import type { FoundFolders } from './find-folders.ts'
import type { MailStore, StoredMessage, StoreFolder } from './store.ts'
import { openUidIndex, type UidIndex } from './uid-index.ts'

/** How messages with labels of Gmail are placed: once, in a folder for each label, or not by label. */
export type LabelMode = 'once' | 'every' | 'ignore'

export type SourceOptions = {
  /** The folder for the UIDs. */
  state: string
  labels: LabelMode
  signal: AbortSignal
  /**
   * Called when the store has a further part of the messages, while the rest is read. Only folders
   * without UIDs of earlier runs are stored in parts, because there the order of UIDs is that of
   * the files: a part looks as if its last message were the newest.
   */
  onPart?: () => void
}

/** Messages between two checks whether to stop or to serve what was read. */
const CHECK_EVERY = 40
/** Bytes of a part: some tenths of a second of reading. */
const PART_BYTES = 128 * 1024 * 1024

/**
 * Reads the places of all messages into a store and gives them UIDs, durably. Files are read once,
 * and none as a whole. Folders with the same path become one.
 */
export async function openSource(
  found: FoundFolders,
  options: SourceOptions,
  store: MailStore = { folders: new Map() },
): Promise<MailStore> {
  const open = new Map<string, OpenFolder>()
  try {
    await readInto(store, open, found, options)
    return store
  } finally {
    for (const { index } of open.values()) index.close()
  }
}

/**
 * A folder with the index of its UIDs, the file or folder that it was found in, and messages that
 * were read but are not in it yet.
 */
export type OpenFolder = {
  folder: StoreFolder
  index: UidIndex
  origin: string
  unstored: StoredMessage[]
  /** Whether no earlier run gave UIDs to its messages. */
  isNew: boolean
}

/** Reads folders into a store, and into a map by path. */
export async function readInto(
  store: MailStore,
  open: Map<string, OpenFolder>,
  { folders }: FoundFolders,
  { state, labels, signal, onPart }: SourceOptions,
): Promise<void> {
  let unstoredBytes = 0
  for (const { path, origin, messages } of folders) {
    let count = 0
    for (const message of messages()) {
      const place =
        message.labels && labels !== 'ignore' ? placeOf(message.labels, labels === 'every') : null
      const flags = place ? [...new Set([...message.flags, ...place.flags])] : message.flags
      const messageId = message.messageId && withOwnMemory(message.messageId)
      for (const target of place?.folders ?? [path]) {
        const { unstored, index } = openFolder(open, target, origin, state)
        const { key, size, date, read, fill } = message
        const uid = index.assign(key)
        unstored.push({ uid, size, flags, date, messageId, read, fill })
        unstoredBytes += size
      }
      if ((count += 1) % CHECK_EVERY !== 0) continue
      await breathe(signal)
      if (!onPart || unstoredBytes < PART_BYTES) continue
      unstoredBytes = 0
      if (![...open.values()].every(({ isNew }) => isNew)) continue
      await storeRead(store, open)
      onPart()
    }
    if (count === 0) openFolder(open, path, origin, state)
  }
  await storeRead(store, open)
}

/** Copies a value of a header: as a part of it, it would keep all of the header in memory. */
function withOwnMemory(value: string): string {
  return Buffer.from(value, 'latin1').toString('latin1')
}

/** Adds what was read to the store, in the order in which the folders were found. */
async function storeRead(store: MailStore, open: ReadonlyMap<string, OpenFolder>): Promise<void> {
  for (const [path, at] of open) {
    const { folder, index, unstored } = at
    at.unstored = []
    await index.save()
    for (const message of unstored) {
      folder.messages.push(message)
      folder.bytes += message.size
    }
    folder.messages.sort((a, b) => a.uid - b.uid)
    folder.uidNext = index.uidNext
    store.folders.set(path, folder)
  }
}

/** Returns a folder of the map; opens its index if it is new. */
export function openFolder(
  open: Map<string, OpenFolder>,
  path: string,
  origin: string,
  state: string,
): OpenFolder {
  const known = open.get(path)
  if (known) return known
  const index = openUidIndex(state, origin, path)
  const { uidValidity, uidNext } = index
  const folder = { path, uidValidity, uidNext, messages: [], bytes: 0 }
  const added = { index, origin, folder, unstored: [], isNew: uidNext === 1 }
  open.set(path, added)
  return added
}

async function breathe(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  signal.throwIfAborted()
}
