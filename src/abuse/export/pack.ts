import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { setImmediate as breathe } from 'node:timers/promises'
import { createGzip } from 'node:zlib'

/** A file as it is stored: compressed, with the size and hash of its content. */
export type Packed = { etag: string; size: number; gzip: Buffer }

/**
 * Compresses a file piece by piece; between two pieces others get their turn. @throws when aborted
 */
export async function pack(pieces: Iterable<string>, signal?: AbortSignal): Promise<Packed> {
  const hash = createHash('sha256')
  let size = 0
  async function* measured(): AsyncGenerator<Buffer> {
    for (const piece of pieces) {
      const bytes = Buffer.from(piece)
      hash.update(bytes)
      size += bytes.length
      yield bytes
      await breathe()
    }
  }
  const gzip = createGzip()
  const [packed] = await Promise.all([buffer(gzip), pipeline(measured(), gzip, { signal })])
  return { etag: hash.digest('base64url').slice(0, 22), size, gzip: packed }
}
