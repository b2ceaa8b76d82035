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
  for (let at = 0; at < bytes.length; at += PART_BYTES) {
    const converted = convert(IN, takeIn(bytes, at, before), OUT) - OUT
    if (length + converted > target.length) throw changedError()
    length += bytesOut.copy(target, length, 0, converted)
  }
  return length
}

/** Takes a part into the memory of the module. Returns its end there. */
function takeIn(bytes: Buffer, at: number, before: number): number {
  front[0] = at === 0 ? before : (bytes[at - 1] as number)
  return IN + bytes.copy(bytesIn, 0, at, at + PART_BYTES)
}
