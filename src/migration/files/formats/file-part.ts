import { closeSync, openSync, readSync } from 'node:fs'

const PART_BYTES = 256 * 1024

/** Shared by all reads of this process: each part is copied before the next one is read. */
const shared = Buffer.allocUnsafeSlow(PART_BYTES)

/**
 * Reads a part of a file, in buffers of limited size that are valid until the next one. Ends early
 * where the file does.
 */
export function* readPart(path: string, start: number, end: number): Generator<Buffer> {
  if (start >= end) return
  const fd = openSync(path, 'r')
  try {
    yield* readFrom(fd, start, end)
  } finally {
    closeSync(fd)
  }
}

/** Reads a part of an open file likewise. */
export function* readFrom(fd: number, start: number, end: number): Generator<Buffer> {
  for (let at = start; at < end;) {
    const length = readSync(fd, shared, 0, Math.min(PART_BYTES, end - at), at)
    if (length === 0) return
    yield shared.subarray(0, length)
    at += length
  }
}

/** Splits bytes in memory into such parts. */
export function* splitBuffer(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PART_BYTES) yield bytes.subarray(at, at + PART_BYTES)
}

/** The connection ends with it, and nothing of the message is stored. */
export const changedError = () => new Error('A file changed while it was read.')

/** Fills a buffer from a place of an open file. @throws changedError where the file ends before */
export function fillFrom(fd: number, target: Buffer, start: number): void {
  for (let filled = 0; filled < target.length;) {
    const length = readSync(fd, target, filled, target.length - filled, start + filled)
    if (length === 0) throw changedError()
    filled += length
  }
}

/** Reads a part of a file that fits into memory. */
export function readWhole(path: string, start: number, end: number): Buffer {
  return Buffer.concat(Array.from(readPart(path, start, end), (part) => Buffer.from(part)))
}
