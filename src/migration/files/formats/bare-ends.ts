import { readSync } from 'node:fs'
import { changedError } from './file-part.ts'
import { BARE_ENDS_WASM } from './bare-ends-wasm.ts'
import { CONVERTED_BYTES, MEMORY_PARTS } from './memory-parts.ts'

type Exports = {
  memory: { buffer: SharedArrayBuffer }
  count: (at: number, end: number) => number
  convert: (at: number, end: number, out: number, limit: number) => number
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

/** The memory of the module, which other threads can read. */
export const moduleMemory = memory.buffer

const IN = MEMORY_PARTS.in.at
const OUT = MEMORY_PARTS.out.at
const bytesIn = Buffer.from(moduleMemory, IN, CONVERTED_BYTES)
const bytesOut = Buffer.from(moduleMemory, OUT, MEMORY_PARTS.out.bytes)
const front = Buffer.from(moduleMemory, IN - 1, 1)

let isScanLent = false

/** Lends a buffer in which bytes are counted without a copy. Returns it and what gives it back. */
export function borrowScanBuffer(): { buffer: Buffer; giveBack: () => void } {
  const { at, bytes } = MEMORY_PARTS.scan
  if (isScanLent) return { buffer: Buffer.allocUnsafeSlow(bytes), giveBack: () => undefined }
  isScanLent = true
  return { buffer: Buffer.from(moduleMemory, at, bytes), giveBack: () => void (isScanLent = false) }
}

/**
 * Counts bare line ends: LF without CR.
 * @param before the byte in front of the first one, which a scan buffer has there
 */
export function countBareEnds(bytes: Buffer, before: number): number {
  if (bytes.buffer === moduleMemory) {
    const { byteOffset, length } = bytes
    return count(byteOffset, byteOffset + length)
  }
  let total = 0
  for (let at = 0; at < bytes.length; at += CONVERTED_BYTES)
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
  for (let at = 0; at < bytes.length; at += CONVERTED_BYTES)
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
    const read = readSync(fd, bytesIn, 0, Math.min(CONVERTED_BYTES, end - at), at)
    if (read === 0) throw changedError()
    length += convertTaken(IN + read, target, length)
    front[0] = bytesIn[read - 1] as number
    at += read
  }
  if (length !== target.length) throw changedError()
}

/** Converts what was taken in, up to a place there, to a place of a buffer. */
function convertTaken(end: number, target: Buffer, place: number): number {
  if (target.buffer === moduleMemory) {
    const out = target.byteOffset + place
    const converted = convert(IN, end, out, target.byteOffset + target.length)
    if (converted === 0) throw changedError()
    return converted - out
  }
  const converted = convert(IN, end, OUT, OUT + bytesOut.length) - OUT
  if (place + converted > target.length) throw changedError()
  return bytesOut.copy(target, place, 0, converted)
}

/** Takes a part into the memory of the module. Returns its end there. */
function takeIn(bytes: Buffer, at: number, before: number): number {
  front[0] = at === 0 ? before : (bytes[at - 1] as number)
  return IN + bytes.copy(bytesIn, 0, at, at + CONVERTED_BYTES)
}
