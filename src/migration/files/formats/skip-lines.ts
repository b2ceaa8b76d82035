import type { LineEnd } from './line-ends.ts'

const [LF, CR, F, GREATER] = [0x0a, 0x0d, 0x46, 0x3e]

/** Where `skipPlainLines` is: reused, because it is called for each line that may matter. */
export type PlainLines = {
  at: number
  /** Line ends that become CRLF. */
  bareEnds: number
  /** Lines that began and do not matter. */
  count: number
  /** The byte in front of the first one. */
  before: number
  /** Whether a line begins at `at`. */
  isLineStart: boolean
}

/**
 * Skips the rest of a line and following lines, up to one that may matter: a blank one, or one that
 * begins with `F` or `>`.
 */
export function skipPlainLines(
  bytes: Buffer,
  lines: PlainLines,
  lineEnd: LineEnd,
  isEveryLine: boolean,
): void {
  const end = lineEnd === 'cr' ? CR : LF
  const length = bytes.length
  let at = lines.at
  let [bareEnds, count, isLineStart] = [0, 0, false]
  for (let found = bytes.indexOf(end, at); found !== -1; found = bytes.indexOf(end, at)) {
    const before = found === 0 ? lines.before : bytes[found - 1]
    if (end === CR || before !== CR) bareEnds += 1
    at = found + 1
    const next = bytes[at]
    isLineStart =
      isEveryLine || at === length || next === LF || next === CR || next === F || next === GREATER
    if (isLineStart) break
    count += 1
  }
  if (!isLineStart) at = length
  lines.at = at
  lines.before = bytes[at - 1] as number
  lines.bareEnds = bareEnds
  lines.count = count
  lines.isLineStart = isLineStart
}

/** Bytes of the blank line that begins here; 0 for any other line. */
export function blankLineBytes(bytes: Buffer, at: number, lineEnd: LineEnd): number {
  if (lineEnd === 'cr') return bytes[at] === CR ? 1 : 0
  if (bytes[at] === LF) return 1
  return bytes[at] === CR && bytes[at + 1] === LF ? 2 : 0
}
