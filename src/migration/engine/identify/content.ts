import { createHash, type Hash } from 'node:crypto'
import { fetchBodies, type Body, type WantedMessage } from '../../../net/imap/fetch/fetch-bodies.ts'
import { messageIdsOf } from '../../../net/imap/fetch/fetch-metadata.ts'
import { isTemporary } from '../../../net/imap/connection/refusals.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import { freeBuffer } from '../../../net/free-buffer.ts'
import { contentFingerprint, FINGERPRINT_BYTES, messageIdOf } from './message-fingerprint.ts'

/** What identifies the content of a message. */
export type Content = {
  /** SHA-256 of its bytes. */
  exact: Buffer
  /** SHA-256 of its bytes without CR: servers store lines with either end. */
  loose: Buffer
  /** `contentFingerprint` of its beginning. */
  fingerprint: string
  /** Its Message-ID, without one its fingerprint. */
  key: string
}

/** Reads a body to its end. */
export async function readContent(
  body: Body,
): Promise<Pick<Content, 'exact' | 'loose'> & { head: () => Buffer }> {
  const [exact, loose] = [createHash('sha256'), createHash('sha256')]
  const head: Buffer[] = []
  let headBytes = 0
  for await (const chunk of Buffer.isBuffer(body) ? [body] : body) {
    exact.update(chunk)
    updateWithoutReturns(loose, chunk)
    if (headBytes < FINGERPRINT_BYTES)
      head.push(Buffer.from(chunk.subarray(0, FINGERPRINT_BYTES - headBytes)))
    headBytes += chunk.length
  }
  return {
    exact: exact.digest(),
    loose: loose.digest(),
    head: () => Buffer.concat(head),
  }
}

/**
 * Reads messages of the open mailbox, by UID. Those that are gone or that the server does not return
 * are left out. One at which it is busy is requested again.
 * @throws ImapRefused, ImapLost
 */
export async function readContents(
  wire: Wire,
  wanted: readonly WantedMessage[],
  isAgain = false,
): Promise<Map<number, Content>> {
  const contents = new Map<number, Content>()
  if (wanted.length === 0) return contents
  const busy: WantedMessage[] = []
  for await (const fetched of fetchBodies(wire, wanted)) {
    if (fetched.state === 'refused' && isTemporary(fetched.refusal))
      busy.push({ uid: fetched.uid, size: null })
    if (fetched.state !== 'here') continue
    const { exact, loose, head } = await readContent(fetched.body)
    contents.set(fetched.uid, { exact, loose, ...keysOf(head()) })
    if (Buffer.isBuffer(fetched.body)) freeBuffer(fetched.body)
  }
  if (busy.length > 0 && !isAgain)
    for (const [uid, content] of await readContents(wire, busy, true)) contents.set(uid, content)
  return contents
}

function keysOf(head: Buffer): Pick<Content, 'fingerprint' | 'key'> {
  const fingerprint = contentFingerprint(head)
  const [header = ''] = head.toString('latin1').split(/\r?\n\r?\n/, 1)
  return { fingerprint, key: messageIdOf(messageIdsOf(header)) ?? fingerprint }
}

const RETURN = 0x0d

function updateWithoutReturns(sum: Hash, chunk: Buffer): void {
  let from = 0
  for (let at = chunk.indexOf(RETURN); at !== -1; at = chunk.indexOf(RETURN, from)) {
    sum.update(chunk.subarray(from, at))
    from = at + 1
  }
  sum.update(chunk.subarray(from))
}
