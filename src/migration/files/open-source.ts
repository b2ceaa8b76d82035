import { placeOf } from './formats/gmail-labels.ts'
import type { FoundFolders } from './find-folders.ts'
import type { MailStore, StoreFolder } from './store.ts'
import { openUidIndex, type UidIndex } from './uid-index.ts'

/** How messages with labels of Gmail are placed: once, in a folder for each label, or not by label. */
export type LabelMode = 'once' | 'every' | 'ignore'

export type SourceOptions = {
  /** The folder for the UIDs. */
  state: string
  labels: LabelMode
  signal: AbortSignal
}

/** Messages between two checks whether to stop. */
const CHECK_EVERY = 1_000

/**
 * Reads the places of all messages and gives them UIDs, durably. Files are read once, and none as a
 * whole. Folders with the same path become one.
 */
export async function openSource(found: FoundFolders, options: SourceOptions): Promise<MailStore> {
  const open = new Map<string, OpenFolder>()
  try {
    await readInto(open, found, options)
    return { folders: new Map([...open].map(([path, { folder }]) => [path, folder])) }
  } finally {
    for (const { index } of open.values()) index.close()
  }
}

/** A folder with the index of its UIDs, and the file or folder that it was found in. */
export type OpenFolder = { folder: StoreFolder; index: UidIndex; origin: string }

/** Reads folders into a map by path. */
export async function readInto(
  open: Map<string, OpenFolder>,
  { folders }: FoundFolders,
  { state, labels, signal }: SourceOptions,
): Promise<void> {
  for (const { path, origin, messages } of folders) {
    let count = 0
    for (const message of messages()) {
      if ((count += 1) % CHECK_EVERY === 0) await breathe(signal)
      const place =
        message.labels && labels !== 'ignore' ? placeOf(message.labels, labels === 'every') : null
      const flags = place ? [...new Set([...message.flags, ...place.flags])] : message.flags
      for (const target of place?.folders ?? [path]) {
        const { folder, index } = openFolder(open, target, origin, state)
        const { key, size, date, messageId, read, fill } = message
        const uid = index.assign(key)
        folder.messages.push({ uid, size, flags, date, messageId, read, fill })
        folder.bytes += size
      }
    }
    if (count === 0) openFolder(open, path, origin, state)
  }
  for (const { folder, index } of open.values()) {
    await index.save()
    folder.uidNext = index.uidNext
    folder.messages.sort((a, b) => a.uid - b.uid)
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
  const added = { index, origin, folder: { path, uidValidity, uidNext, messages: [], bytes: 0 } }
  open.set(path, added)
  return added
}

async function breathe(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  signal.throwIfAborted()
}
