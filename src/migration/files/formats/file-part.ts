import { closeSync, openSync, readSync } from 'node:fs'

const PART_BYTES = 256 * 1024

/** Reads a part of a file, in buffers of limited size. Ends early where the file does. */
export function* readPart(path: string, start: number, end: number): Generator<Buffer> {
  if (start >= end) return
  const fd = openSync(path, 'r')
  try {
    for (let at = start; at < end;) {
      const buffer = Buffer.allocUnsafe(Math.min(PART_BYTES, end - at))
      const length = readSync(fd, buffer, 0, buffer.length, at)
      if (length === 0) return
      yield buffer.subarray(0, length)
      at += length
    }
  } finally {
    closeSync(fd)
  }
}
