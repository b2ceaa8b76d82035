import { isLineStart, type LineEnd } from './lines.ts'

/** Bytes that decide whether a line begins a message: the line and the beginning of the next one. */
export const LOOKAHEAD_BYTES = 4096
/** A longer run of `>` in front of `From ` is not quoting. */
const MAX_QUOTING = 256
/** Bytes that decide whether a line is quoted. */
export const QUOTED_FROM_BYTES = MAX_QUOTING + 'From '.length

const [LF, CR, GREATER] = [0x0a, 0x0d, 0x3e]
const FROM = Buffer.from('From ')
const QUOTED_FROM = Buffer.from('>From ')

const DATED_FROM =
  /^From .*\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b.*\d{1,2}:\d{2}(?::\d{2})?\b.*\b\d{4}\b/
const BARE_FROM = /^From (?:-\s*)?$/
const FIELD = /^(?:>?From |[!-9;-~]+[ \t]*:)/

/** Whether a file begins as an mbox file does, after blank lines and a byte order mark. */
export function isMbox(beginning: Buffer): boolean {
  const start = startOf(beginning)
  return isFrom(beginning, start) && isSeparator(beginning, start, true)
}

/** The place after blank lines and a byte order mark. */
export function startOf(beginning: Buffer): number {
  let at = beginning.subarray(0, 3).toString('latin1') === '\xef\xbb\xbf' ? 3 : 0
  while (beginning[at] === LF || beginning[at] === CR) at += 1
  return at
}

/** Whether the line at `at`, which begins with `From `, begins a message. */
export function isSeparator(bytes: Buffer, at: number, isAfterBlank: boolean): boolean {
  const [line = '', next = ''] = textOfLines(bytes, at, 2).split(/\r\n|\r|\n/, 2)
  const isField = FIELD.test(next)
  if (DATED_FROM.test(line)) return isAfterBlank || isField
  return BARE_FROM.test(line) && isAfterBlank && isField
}

/**
 * The text from a place on, with as many LF as asked for, as far as the look-ahead reaches: it may
 * have more lines where they end with CR.
 */
export function textOfLines(bytes: Buffer, at: number, lines: number): string {
  let end = at
  for (let line = 0; line < lines && end !== Infinity; line++) {
    const found = bytes.indexOf(LF, end)
    end = found === -1 ? Infinity : found + 1
  }
  return bytes.toString('latin1', at, Math.min(end, at + LOOKAHEAD_BYTES))
}

/** Whether `From ` is here. */
export function isFrom(bytes: Buffer, at: number): boolean {
  // Most lines differ in the first byte.
  return bytes[at] === FROM[0] && FROM.every((byte, index) => bytes[at + index] === byte)
}

/** Whether a line such as `>From ` or `>>From ` begins here. */
export function isQuotedFrom(bytes: Buffer, at: number): boolean {
  let start = at
  while (bytes[start] === GREATER && start - at < MAX_QUOTING) start += 1
  return start > at && isFrom(bytes, start)
}

/** Counts the quoted lines that begin between two places. The bytes around them are there, too. */
export function countQuotedFrom(bytes: Buffer, from: number, to: number, lineEnd: LineEnd): number {
  const around = bytes.subarray(0, to + QUOTED_FROM_BYTES)
  let count = 0
  let found = around.indexOf(QUOTED_FROM, from)
  for (; found !== -1; found = around.indexOf(QUOTED_FROM, found + 1)) {
    let start = found
    while (bytes[start - 1] === GREATER && start > from) start -= 1
    if (start < to && isLineStart(bytes, start, lineEnd) && isQuotedFrom(bytes, start)) count += 1
  }
  return count
}
