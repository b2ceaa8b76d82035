import { setImmediate } from 'node:timers/promises'
import { createInflateRaw, inflateRawSync } from 'node:zlib'
import { fromBufferPromise, type Entry, type ZipFile } from 'yauzl'
import { Fault } from '../../errors.ts'
import { REPORT_LIMITS } from './report-limits.ts'

/**
 * The content of a gzip file (RFC 1952), of all its members. What follows the last member is
 * ignored: some mailers append a line break, at which zlib's own gunzip fails.
 */
export async function* gunzip(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  let at = 0
  for (;;) {
    const start = at + headerLength(bytes.subarray(at))
    const taken = yield* inflate(bytes.subarray(start))
    // A checksum and a length, of four bytes each, end a member.
    at = start + taken + 8
    if (!isMember(bytes, at)) return
    // There may be a million of them: others get their turn.
    await setImmediate()
  }
}

function isMember(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0x1f && bytes[at + 1] === 0x8b
}

/** RFC 1952, 2.3: ten bytes, then the fields that the flags announce. */
function headerLength(bytes: Uint8Array): number {
  const flags = bytes[3] ?? 0
  let at = 10
  if (flags & 4) at += 2 + (bytes[at] ?? 0) + 256 * (bytes[at + 1] ?? 0)
  for (const flag of [8, 16]) {
    if (flags & flag) at = bytes.indexOf(0, at) + 1 || bytes.length
  }
  return flags & 2 ? at + 2 : at
}

/** @returns how many bytes of `bytes` were taken */
async function* inflate(bytes: Uint8Array): AsyncGenerator<Uint8Array, number> {
  const small = inflateSmall(bytes)
  if (!small) return yield* inflateStream(bytes)
  yield small.buffer
  return small.engine.bytesWritten
}

/** At once, which costs a fifth of a stream; null when more comes out than may hold others up. */
function inflateSmall(bytes: Uint8Array) {
  try {
    const inflated = inflateRawSync(bytes, { info: true, maxOutputLength: REPORT_LIMITS.small })
    return inflated as unknown as { buffer: Buffer; engine: { bytesWritten: number } }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return null
    throw cutOff(cause)
  }
}

function cutOff(cause: unknown): Fault {
  return new Fault('invalid_request', 'The archive is damaged or truncated.', { cause })
}

async function* inflateStream(bytes: Uint8Array): AsyncGenerator<Uint8Array, number> {
  const stream = createInflateRaw({ chunkSize: 64 * 1024 })
  stream.end(bytes)
  try {
    for await (const chunk of stream) yield chunk as Uint8Array
  } catch (cause) {
    throw cutOff(cause)
  }
  return stream.bytesWritten
}

export type ZipEntry = { name: string; open: () => AsyncIterable<Uint8Array> }

/**
 * The files of a zip archive. Their names and sizes are those of the archive, which may be false.
 */
export async function* zipEntries(bytes: Uint8Array): AsyncGenerator<ZipEntry> {
  const zip = await openZip(bytes)
  try {
    for await (const entry of zip.eachEntry()) {
      const name = entry.fileNameRaw.toString()
      if (!name.endsWith('/')) yield { name, open: () => openEntry(zip, entry, bytes) }
    }
  } catch (cause) {
    throw damaged(cause)
  }
}

async function openZip(bytes: Uint8Array): Promise<ZipFile> {
  try {
    return await fromBufferPromise(withoutTail(bytes), {
      lazyEntries: true,
      // Files are opened after the list has ended.
      autoClose: false,
      // When it decodes names, yauzl rejects those that would be unsafe on a disk. None are written
      // to disk here.
      decodeStrings: false,
      validateEntrySizes: false,
    })
  } catch (cause) {
    throw damaged(cause)
  }
}

/** yauzl rejects an archive with trailing bytes, such as a mailer’s line break. */
function withoutTail(bytes: Uint8Array): Buffer {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const end = buffer.lastIndexOf('PK\u0005\u0006', undefined, 'latin1')
  return end < 0 || end + 22 > buffer.length
    ? buffer
    : buffer.subarray(0, end + 22 + buffer.readUInt16LE(end + 20))
}

function damaged(cause: unknown): Fault {
  return cause instanceof Fault
    ? cause
    : new Fault('invalid_request', 'The zip archive is damaged.', { cause })
}

async function* openEntry(
  zip: ZipFile,
  entry: Entry,
  bytes: Uint8Array,
): AsyncGenerator<Uint8Array> {
  if (entry.isEncrypted())
    throw new Fault('invalid_request', 'The file is encrypted in the zip archive.')
  const start = await dataStart(zip, entry)
  const data = bytes.subarray(start, start + entry.compressedSize)
  if (entry.compressionMethod === 0) yield data
  else if (entry.compressionMethod === 8) yield* inflate(data)
  else
    throw new Fault(
      'invalid_request',
      `The zip archive uses compression method ${entry.compressionMethod}, which is not supported.`,
    )
}

async function dataStart(zip: ZipFile, entry: Entry): Promise<number> {
  try {
    return (await zip.readLocalFileHeaderPromise(entry, { minimal: true })).fileDataStart
  } catch (cause) {
    throw damaged(cause)
  }
}
