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
  /** Called for each folder when it has been read. */
  onFolder?: (path: string) => void
}

/** Messages between two checks whether to stop. */
const CHECK_EVERY = 1_000

/**
 * Reads the places of all messages and gives them UIDs, durably. Files are read once, and none as a
 * whole. Folders with the same path become one.
 */
export async function openSource(
  { folders: found }: FoundFolders,
  { state, labels, signal, onFolder }: SourceOptions,
): Promise<MailStore> {
  const folders = new Map<string, StoreFolder>()
  const indexes = new Map<string, UidIndex>()
  for (const { path, origin, messages } of found) {
    let count = 0
    for (const message of messages()) {
      if ((count += 1) % CHECK_EVERY === 0) await breathe(signal)
      const place =
        message.labels && labels !== 'ignore' ? placeOf(message.labels, labels === 'every') : null
      const flags = place ? [...new Set([...message.flags, ...place.flags])] : message.flags
      for (const target of place?.folders ?? [path]) {
        const { folder, index } = open(target, origin)
        const uid = index.assign(message.key)
        const { size, date, messageId, read } = message
        folder.messages.push({ uid, size, flags, date, messageId, read })
        folder.bytes += size
      }
    }
    if (count === 0) open(path, origin)
    onFolder?.(path)
  }
  for (const [path, index] of indexes) {
    await index.save()
    const folder = folders.get(path)
    if (folder) folder.uidNext = index.uidNext
    folder?.messages.sort((a, b) => a.uid - b.uid)
    index.close()
  }
  return { folders }

  function open(path: string, origin: string): { folder: StoreFolder; index: UidIndex } {
    const index = indexes.get(path) ?? openUidIndex(state, origin, path)
    indexes.set(path, index)
    const { uidValidity } = index
    const folder = folders.get(path) ?? { path, uidValidity, uidNext: 1, messages: [], bytes: 0 }
    folders.set(path, folder)
    return { folder, index }
  }
}

async function breathe(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  signal.throwIfAborted()
}
