import { readSync } from 'node:fs'
import { changedError } from './file-part.ts'
import { BARE_ENDS_WASM } from './bare-ends-wasm.ts'

/** Bytes that are converted at a time: they and the result fit into the caches of processors. */
const PART_BYTES = 128 * 1024
/** Aligned, with room for the byte in front of it. */
const IN = 64
const OUT = IN + PART_BYTES

type Exports = {
  memory: { buffer: ArrayBuffer }
  count: (at: number, end: number) => number
  convert: (at: number, end: number, out: number) => number
}

/** The part of it that is used: only the types of browsers have it. */
declare const WebAssembly: {
  Module: new (bytes: Buffer) => object
  Instance: new (module: object) => { exports: object }
}

const instance = new WebAssembly.Instance(
  new WebAssembly.Module(Buffer.from(BARE_ENDS_WASM, 'base64')),
)
const { memory, count, convert } = instance.exports as Exports
const bytesIn = Buffer.from(memory.buffer, IN, PART_BYTES)
const bytesOut = Buffer.from(memory.buffer, OUT, 2 * PART_BYTES)
const front = Buffer.from(memory.buffer, IN - 1, 1)

/**
 * Counts bare line ends: LF without CR.
 * @param before the byte in front of the first one
 */
export function countBareEnds(bytes: Buffer, before: number): number {
  let total = 0
  for (let at = 0; at < bytes.length; at += PART_BYTES)
    total += count(IN, takeIn(bytes, at, before))
  return total
}

/**
 * Copies bytes with a CR in front of each bare line end. Returns the bytes written.
 * @param before the byte in front of the first one
 * @throws changedError where the target is too small
 */
export function convertBareEnds(bytes: Buffer, before: number, target: Buffer): number {
  let length = 0
  for (let at = 0; at < bytes.length; at += PART_BYTES)
    length += convertTaken(takeIn(bytes, at, before), target, length)
  return length
}

/**
 * Fills a buffer with a part of an open file, with a CR in front of each bare line end. The file is
 * read into the memory of the module.
 * @throws changedError where the result has another size than the buffer
 */
export function fillWithCrlf(fd: number, start: number, end: number, target: Buffer): void {
  let length = 0
  front[0] = 0
  for (let at = start; at < end;) {
    const read = readSync(fd, bytesIn, 0, Math.min(PART_BYTES, end - at), at)
    if (read === 0) throw changedError()
    length += convertTaken(IN + read, target, length)
    front[0] = bytesIn[read - 1] as number
    at += read
  }
  if (length !== target.length) throw changedError()
}

/** Converts what was taken in, up to a place there, and copies it to a place of a buffer. */
function convertTaken(end: number, target: Buffer, place: number): number {
  const converted = convert(IN, end, OUT) - OUT
  if (place + converted > target.length) throw changedError()
  return bytesOut.copy(target, place, 0, converted)
}

/** Takes a part into the memory of the module. Returns its end there. */
function takeIn(bytes: Buffer, at: number, before: number): number {
  front[0] = at === 0 ? before : (bytes[at - 1] as number)
  return IN + bytes.copy(bytesIn, 0, at, at + PART_BYTES)
}
