import { convertBareEnds, countBareEnds } from './bare-ends.ts'
import { isQuotedFrom, QUOTED_FROM_BYTES } from './from-line.ts'
import type { LineEnd } from './text-lines.ts'

const [LF, CR, GREATER] = [0x0a, 0x0d, 0x3e]

/**
 * Counts the line ends to which CRLF adds a byte.
 * @param before the byte in front of the first one
 */
export function countConverted(bytes: Buffer, before: number, lineEnd: LineEnd): number {
  if (lineEnd === 'lf') return countBareEnds(bytes, before)
  let count = 0
  for (let at = bytes.indexOf(CR); at !== -1; at = bytes.indexOf(CR, at + 1)) count += 1
  return count
}

/** Shared by all conversions of this process: each part is copied before the next one. */
const shared = Buffer.allocUnsafeSlow(512 * 1024)

/**
 * Converts the parts of a message body to CRLF line ends, and removes one `>` in front of each line
 * `>From `, `>>From ` and so on (mboxrd). Its parts are valid until the next one.
 */
export function* withCrlf(
  parts: Iterable<Buffer>,
  lineEnd: LineEnd,
  isQuoted: boolean,
): Generator<Buffer> {
  const state: LineState = { before: LF, isLineStart: true }
  let carried: Buffer = Buffer.alloc(0)
  for (const part of parts) {
    const bytes = carried.length === 0 ? part : Buffer.concat([carried, part])
    const out = bytes.length * 2 <= shared.length ? shared : Buffer.allocUnsafe(bytes.length * 2)
    if (!isQuoted && lineEnd === 'lf') {
      const length = convertBareEnds(bytes, state.before, out)
      state.before = bytes.at(-1) ?? state.before
      yield out.subarray(0, length)
    } else {
      const { length, taken } = convertQuoted(bytes, out, state, {
        lineEnd,
        isQuoted,
        isLast: false,
      })
      carried = Buffer.from(bytes.subarray(taken))
      yield out.subarray(0, length)
    }
  }
  if (carried.length === 0) return
  const out = Buffer.allocUnsafe(carried.length * 2)
  const { length } = convertQuoted(carried, out, state, { lineEnd, isQuoted, isLast: true })
  yield out.subarray(0, length)
}

type LineState = { before: number; isLineStart: boolean }

type Quoting = { lineEnd: LineEnd; isQuoted: boolean; isLast: boolean }

/** Stops in front of a line whose quoting may go on in the next part. */
function convertQuoted(
  bytes: Buffer,
  out: Buffer,
  state: LineState,
  { lineEnd, isQuoted, isLast }: Quoting,
): { length: number; taken: number } {
  let [length, at] = [0, 0]
  let { before, isLineStart } = state
  for (; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (isLineStart && isQuoted && byte === GREATER) {
      if (!isLast && bytes.length - at < QUOTED_FROM_BYTES) break
      isLineStart = false
      if (isQuotedFrom(bytes, at)) {
        before = byte
        continue
      }
    }
    isLineStart = byte === (lineEnd === 'cr' ? CR : LF)
    if (isLineStart && (lineEnd === 'cr' || before !== CR)) out[length++] = CR
    out[length++] = isLineStart ? LF : byte
    before = byte
  }
  state.before = before
  state.isLineStart = isLineStart
  return { length, taken: at }
}
