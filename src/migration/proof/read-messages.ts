import { hash } from 'node:crypto'
import { epochMsOf } from '../../net/imap/append/flags-and-dates.ts'
import { fetchBodies } from '../../net/imap/fetch/fetch-bodies.ts'
import { fetchMetadata, type Metadata } from '../../net/imap/fetch/fetch-metadata.ts'
import type { Wire } from '../../net/imap/connection/wire.ts'
import { readContent } from '../engine/identify/content.ts'
import { contentFingerprint, messageIdOf } from '../engine/identify/message-fingerprint.ts'
import type { ProofLevel } from './proof-document.ts'
import { MessageList, type ListedMessage } from './message-list.ts'

/** The messages of a folder, and those that the server lists but does not return. */
export type ReadFolder = { messages: MessageList; unreadable: number[] }

/** A message whose body is still to be read. `id` is null where it has no Message-ID. */
type Pending = { message: ListedMessage; id: Buffer | null }

/**
 * Reads all messages of the open folder: by their headers and sizes, or whole.
 * @param to the last UID
 * @param onRead called for each message
 * @throws ImapRefused, ImapLost
 */
export async function readMessages(
  wire: Wire,
  to: number,
  level: ProofLevel,
  onRead: () => void,
): Promise<ReadFolder> {
  const messages = new MessageList()
  const unreadable: number[] = []
  if (to < 1) return { messages, unreadable }
  // Listed first: a server cannot send bodies while rows wait for theirs.
  const pending = new Map<number, Pending>()
  for await (const row of fetchMetadata(wire, 1, to)) {
    const name = messageIdOf(row.messageIds)
    const id = name === null ? null : sha256(name)
    const message = messageOf(row)
    if (level === 'full' || id === null) pending.set(row.uid, { message, id })
    else {
      messages.add(message, { exact: headerKey(message, id), loose: id, id })
      onRead()
    }
  }
  const wanted = pending.values().map(({ message: { uid, size } }) => ({ uid, size }))
  for await (const fetched of fetchBodies(wire, wanted)) {
    const found = pending.get(fetched.uid)
    if (!found || fetched.state === 'gone') continue
    if (fetched.state === 'refused') unreadable.push(fetched.uid)
    else {
      const { message } = found
      const { exact, loose, head } = await readContent(fetched.body)
      const id = found.id ?? sha256(contentFingerprint(head()))
      if (level === 'full') messages.add({ ...message, size: fetched.size }, { exact, loose, id })
      else messages.add(message, { exact: headerKey(message, id), loose: id, id })
    }
    onRead()
  }
  return { messages, unreadable }
}

function headerKey({ size }: ListedMessage, id: Buffer): Buffer {
  return sha256(`${size} ${id.toString('hex')}`)
}

function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

function messageOf({ uid, size, internalDate, flags }: Metadata): ListedMessage {
  const known = flags.map((flag) => flag.toLowerCase()).filter((flag) => flag !== '\\recent')
  const date = internalDate === null ? null : epochMsOf(internalDate)
  return { uid, size: size ?? 0, date, flags: [...new Set(known)].toSorted().join(' ') }
}
