import { createHash, hash, type Hash } from 'node:crypto'
import type { Body } from '../../../net/imap/fetch/fetch-bodies.ts'

/**
 * A body, and the SHA-256 of its bytes. That of a streamed body is complete when the whole body was
 * read.
 */
export function withDigest(body: Body): { body: Body; digest: () => Buffer } {
  if (Buffer.isBuffer(body)) return { body, digest: () => hash('sha256', body, 'buffer') }
  const sum = createHash('sha256')
  return { body: summed(body, sum), digest: () => sum.copy().digest() }
}

async function* summed(body: AsyncIterable<Buffer>, sum: Hash): AsyncGenerator<Buffer> {
  for await (const chunk of body) {
    sum.update(chunk)
    yield chunk
  }
}
