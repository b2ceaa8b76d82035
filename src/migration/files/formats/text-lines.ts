const [LF, CR] = [0x0a, 0x0d]

/** The line ends of a file: CR alone was used before Mac OS X. */
export type LineEnd = 'lf' | 'cr'

/** CR, if the beginning of a file has some and no LF. */
export function lineEndOf(beginning: Buffer): LineEnd {
  return beginning.includes(CR) && !beginning.includes(LF) ? 'cr' : 'lf'
}

/** Whether a line begins here; false at the beginning of the bytes. */
export function isLineStart(bytes: Buffer, at: number, lineEnd: LineEnd): boolean {
  return bytes[at - 1] === (lineEnd === 'cr' ? CR : LF)
}

/** Bytes of the blank line that begins here; 0 for any other line. */
export function blankLineBytes(bytes: Buffer, at: number, lineEnd: LineEnd): number {
  if (lineEnd === 'cr') return bytes[at] === CR ? 1 : 0
  if (bytes[at] === LF) return 1
  return bytes[at] === CR && bytes[at + 1] === LF ? 2 : 0
}

/** Bytes of the blank line that ends here; 0 for any other line. */
export function blankLineBefore(bytes: Buffer, at: number, lineEnd: LineEnd): number {
  if (!isLineStart(bytes, at, lineEnd)) return 0
  if (isLineStart(bytes, at - 1, lineEnd)) return 1
  return lineEnd === 'lf' && bytes[at - 2] === CR && bytes[at - 3] === LF ? 2 : 0
}
