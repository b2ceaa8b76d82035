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

/**
 * Converts the parts of a message body to CRLF line ends, and removes one `>` in front of each line
 * `>From `, `>>From ` and so on (mboxrd).
 */
export function* withCrlf(
  parts: Iterable<Buffer>,
  lineEnd: LineEnd,
  isQuoted: boolean,
): Generator<Buffer> {
  let before = LF
  let isLineStart = true
  let carried: Buffer = Buffer.alloc(0)
  const convert = (bytes: Buffer, isLast: boolean): Buffer => {
    const out = Buffer.allocUnsafe(bytes.length * 2)
    let [length, at] = [0, 0]
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
      isLineStart = false
      if (lineEnd === 'cr' ? byte === CR : byte === LF) {
        if (lineEnd === 'cr' || before !== CR) out[length++] = CR
        out[length++] = LF
        isLineStart = true
      } else out[length++] = byte
      before = byte
    }
    carried = bytes.subarray(at)
    return out.subarray(0, length)
  }
  for (const part of parts) {
    const bytes = carried.length === 0 ? part : Buffer.concat([carried, part])
    yield convert(bytes, false)
  }
  if (carried.length > 0) yield convert(carried, true)
}
