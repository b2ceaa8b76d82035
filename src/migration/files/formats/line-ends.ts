import { changedError, fillFrom } from './file-part.ts'

const [LF, CR, GREATER] = [0x0a, 0x0d, 0x3e]
const FROM = Buffer.from('From ')

/** The line ends of a file: CR alone was used before Mac OS X. */
export type LineEnd = 'lf' | 'cr'

/** CR, if the beginning of a file has some and no LF. */
export function lineEndOf(beginning: Buffer): LineEnd {
  return beginning.includes(CR) && !beginning.includes(LF) ? 'cr' : 'lf'
}

/** Whether a line such as `>From ` or `>>From ` begins here. */
export function isQuotedFrom(bytes: Buffer, at: number): boolean {
  let start = at
  while (bytes[start] === GREATER) start += 1
  return start > at && isFrom(bytes, start)
}

/** Whether `From ` is here. */
export function isFrom(bytes: Buffer, at: number): boolean {
  return FROM.every((byte, index) => bytes[at + index] === byte)
}

/** A longer run of `>` in front of `From ` is not quoting. */
const MAX_QUOTING = 256

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
    if (!isQuoted && lineEnd === 'lf') yield out.subarray(0, convertLf(bytes, out, state))
    else {
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

/**
 * Fills a buffer with a part of a file whose lines end in LF or CRLF, with CRLF line ends. It is
 * read to the end of the buffer, where its lines then move forward: no message needs a second
 * buffer.
 */
export function fillWithCrlf(fd: number, start: number, end: number, target: Buffer): void {
  const first = target.length - (end - start)
  if (first < 0) throw changedError()
  fillFrom(fd, target.subarray(first), start)
  // `at` is the next byte to move, and `length` where it belongs. They meet behind the last bare
  // LF.
  let [length, at] = [0, first]
  while (length < at) {
    const lineEnd = target.indexOf(LF, at)
    if (lineEnd === -1) throw changedError()
    target.copyWithin(length, at, lineEnd)
    length += lineEnd - at
    if (lineEnd === first || target[lineEnd - 1] !== CR) target[length++] = CR
    target[length++] = LF
    at = lineEnd + 1
  }
}

type LineState = { before: number; isLineStart: boolean }

/** Returns the bytes written. */
function convertLf(bytes: Buffer, out: Buffer, state: LineState): number {
  let [length, start] = [0, 0]
  for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
    const before = end === 0 ? state.before : bytes[end - 1]
    bytes.copy(out, length, start, end)
    length += end - start
    if (before !== CR) {
      out[length] = CR
      length += 1
    }
    out[length] = LF
    length += 1
    start = end + 1
  }
  bytes.copy(out, length, start)
  length += bytes.length - start
  state.before = bytes.at(-1) ?? state.before
  return length
}

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
      if (!isLast && bytes.length - at < MAX_QUOTING) break
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
