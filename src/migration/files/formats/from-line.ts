import { isFrom } from './line-ends.ts'

/** Bytes that decide whether a line begins a message: the line and the beginning of the next one. */
export const LOOKAHEAD_BYTES = 4096
const [LF, CR] = [0x0a, 0x0d]

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
  const [line = '', next = ''] = bytes
    .toString('latin1', at, at + LOOKAHEAD_BYTES)
    .split(/\r\n|\r|\n/, 2)
  const isField = FIELD.test(next)
  if (DATED_FROM.test(line)) return isAfterBlank || isField
  return BARE_FROM.test(line) && isAfterBlank && isField
}
