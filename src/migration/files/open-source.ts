import type { FoundFolder } from './find-folders.ts'
import type { FoundMessage, Leave } from './formats/found-message.ts'
import { readLabels, type LabelledPlace } from './formats/gmail-labels.ts'
import type { MailStore, StoredMessage, StoreFolder } from './mail-files.sql.ts'
import { openUidIndex, type UidIndex } from './uid-index.ts'

/** How messages with labels of Gmail are placed: once, in a folder for each label, or not by label. */
export type LabelMode = 'once' | 'every' | 'ignore'

export type SourceOptions = {
  /** The files and folders that belong together: messages keep their UIDs among them. */
  origin: string
  /** The folder for the UIDs. */
  state: string
  labels: LabelMode
  signal: AbortSignal
  /** Called for each file or message that is left out while it is read. */
  onLeft?: Leave
  /** Called once for each folder that is made for a label which is none of Gmail’s own. */
  onLabel?: (label: string) => void
  /** Called with the number of messages whose labels do not say whether they were read. */
  onUnknownState?: (folder: string, messages: number) => void
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
  found: readonly FoundFolder[],
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

/** A folder with the index of its UIDs, and messages that were read but are not in it yet. */
export type OpenFolder = {
  folder: StoreFolder
  index: UidIndex
  unstored: StoredMessage[]
  /** Whether no earlier run gave UIDs to its messages. */
  isNew: boolean
}

/** Reads folders into a store, and into a map by path. */
export async function readInto(
  store: MailStore,
  open: Map<string, OpenFolder>,
  folders: readonly FoundFolder[],
  options: SourceOptions,
): Promise<void> {
  const { signal, onPart, onLeft = () => undefined } = options
  let unstoredBytes = 0
  for (const { path, messages } of folders) {
    const labels = createLabels(path, options)
    let count = 0
    for (const message of messages(onLeft)) {
      const place = labels.placeOf(message)
      const flags = place ? [...new Set([...message.flags, ...place.flags])] : message.flags
      const messageId = message.messageId && withOwnMemory(message.messageId)
      for (const target of place?.folders ?? [path]) {
        const { unstored, index } = openFolder(open, target, options)
        const { key, size, date, read, fill } = message
        const uid = index.assign(key)
        const stored = { uid, size, flags, date, messageId, read, fill }
        if (place) labels.added(stored, place)
        unstored.push(stored)
        unstoredBytes += size
      }
      if ((count += 1) % CHECK_EVERY !== 0) continue
      await breathe(signal)
      if (!onPart || unstoredBytes < PART_BYTES || labels.isUndecided()) continue
      unstoredBytes = 0
      if (![...open.values()].every(({ isNew }) => isNew)) continue
      await storeRead(store, open)
      onPart()
    }
    labels.end()
    if (count === 0) openFolder(open, path, options)
  }
  await storeRead(store, open)
}

type Labels = {
  /** Where the labels of a message put it; null where they do not count. */
  placeOf: (message: FoundMessage) => LabelledPlace | null
  added: (message: StoredMessage, place: LabelledPlace) => void
  /** Whether the flags of messages can still change. */
  isUndecided: () => boolean
  end: () => void
}

/**
 * Reads the labels of a file. Labels show which messages were read only in known languages: until one
 * of these labels occurs, every message counts as unread.
 */
function createLabels(path: string, { labels, onLabel, onUnknownState }: SourceOptions): Labels {
  let undecided: StoredMessage[] = []
  let isKnown = false
  const markSeen = (message: StoredMessage) => (message.flags = [...message.flags, '\\Seen'])
  return {
    placeOf: ({ labels: text }) => {
      if (!text || labels === 'ignore') return null
      const place = readLabels(text, labels === 'every')
      for (const label of place.ownLabels) onLabel?.(label)
      return place
    },
    added(message, { isRead, tellsRead }) {
      if (tellsRead && !isKnown) {
        isKnown = true
        for (const earlier of undecided) markSeen(earlier)
        undecided = []
      }
      if (!isRead) return
      if (isKnown) markSeen(message)
      else undecided.push(message)
    },
    isUndecided: () => undecided.length > 0,
    end() {
      if (undecided.length > 0) onUnknownState?.(path, undecided.length)
    },
  }
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
  { origin, state }: Pick<SourceOptions, 'origin' | 'state'>,
): OpenFolder {
  const known = open.get(path)
  if (known) return known
  const index = openUidIndex(state, origin, path)
  const { uidValidity, uidNext } = index
  const folder = { path, uidValidity, uidNext, messages: [], bytes: 0 }
  const added = { index, folder, unstored: [], isNew: uidNext === 1 }
  open.set(path, added)
  return added
}

async function breathe(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  signal.throwIfAborted()
}
