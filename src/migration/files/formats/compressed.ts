import { readFileSync } from 'node:fs'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'

/** Bytes of a message that is decompressed in memory. Servers accept far smaller ones. */
const MAX_MESSAGE_BYTES = 256 * 1024 * 1024

const GZIP = Buffer.from('\x1f\x8b', 'latin1')
const ZSTD = Buffer.from('\x28\xb5\x2f\xfd', 'latin1')

/** Whether a file begins like one of the compressed files that can be read. */
export function isCompressed(beginning: Buffer): boolean {
  return [GZIP, ZSTD].some((bytes) => beginning.subarray(0, bytes.length).equals(bytes))
}

/**
 * Reads a compressed file whole.
 * @throws an error with a sentence for the report where it is damaged or too large
 */
export function readCompressed(path: string): Buffer {
  const bytes = readFileSync(path)
  try {
    if (!bytes.subarray(0, ZSTD.length).equals(ZSTD))
      return gunzipSync(bytes, { maxOutputLength: MAX_MESSAGE_BYTES })
    return Buffer.concat(Array.from(decompressFrames(bytes)))
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    throw new Error(
      isTooLarge
        ? 'It is compressed, and larger than 256 MB. Decompress it first.'
        : 'It is compressed, and damaged.',
      { cause: error },
    )
  }
}

/** One frame after the other: Node reads only the first one of a buffer. */
function* decompressFrames(bytes: Buffer): Generator<Buffer> {
  let left = MAX_MESSAGE_BYTES
  for (let at = 0; at < bytes.length;) {
    const end = endOfFrame(bytes, at)
    if (bytes.readUInt32LE(at) >>> 4 !== SKIPPABLE >>> 4) {
      const content = zstdDecompressSync(bytes.subarray(at, end), { maxOutputLength: left })
      left -= content.length
      yield content
    }
    at = end
  }
}

const SKIPPABLE = 0x184d2a50

/** The end of the Zstandard frame that begins here (RFC 8878, 3.1). */
function endOfFrame(bytes: Buffer, start: number): number {
  if (bytes.readUInt32LE(start) >>> 4 === SKIPPABLE >>> 4)
    return start + 8 + bytes.readUInt32LE(start + 4)
  const descriptor = bytes.readUInt8(start + 4)
  const isSingleSegment = (descriptor & 0x20) !== 0
  const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0
  let at = start + 5 + (isSingleSegment ? 0 : 1) + dictionaryBytes + sizeBytes
  for (let isLast = false; !isLast;) {
    const block = bytes.readUIntLE(at, 3)
    isLast = (block & 1) === 1
    const isRepeatedByte = ((block >> 1) & 3) === 1
    at += 3 + (isRepeatedByte ? 1 : block >> 3)
  }
  return at + ((descriptor & 4) === 0 ? 0 : 4)
}
