import { fetchBodies } from '../../../net/imap/fetch/fetch-bodies.ts'
import { fetchMetadata, type Metadata } from '../../../net/imap/fetch/fetch-metadata.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import { freeBuffer } from '../../../net/free-buffer.ts'
import { readContent } from './content.ts'
import { contentFingerprint, messageIdOf } from './message-fingerprint.ts'

/** A message and the key that identifies it on both sides. */
export type IdentifiedMessage = { uid: number; key: string; size: number; row: Metadata }

/** Messages without Message-ID whose bodies are fetched together. */
const HEADS_PER_FETCH = 500

/**
 * Identifies the messages of the open mailbox. Messages without Message-ID are fetched for it.
 * @param isWanted leaves messages out
 */
export async function* identify(
  wire: Wire,
  from: number,
  to: number,
  isWanted: (uid: number) => boolean = () => true,
): AsyncGenerator<IdentifiedMessage> {
  let nameless: Metadata[] = []
  for await (const row of fetchMetadata(wire, from, to)) {
    if (!isWanted(row.uid)) continue
    const id = messageIdOf(row.messageIds)
    if (id !== null) yield { uid: row.uid, key: id, size: row.size ?? 0, row }
    else nameless.push(row)
  }
  for (; nameless.length > 0; nameless = nameless.slice(HEADS_PER_FETCH))
    yield* identifyByContent(wire, nameless.slice(0, HEADS_PER_FETCH))
}

async function* identifyByContent(wire: Wire, rows: Metadata[]): AsyncGenerator<IdentifiedMessage> {
  const byUid = new Map(rows.map((row) => [row.uid, row]))
  for await (const { uid, ...fetched } of fetchBodies(wire, rows)) {
    const row = byUid.get(uid)
    if (fetched.state !== 'here' || !row) continue
    const { body, size } = fetched
    const key = contentFingerprint((await readContent(body)).head())
    if (Buffer.isBuffer(body)) freeBuffer(body)
    yield { uid, key, size, row }
  }
}
