import { isLineStart, type LineEnd } from './text-lines.ts'

/** Bytes that decide whether a line begins a message: the line and the beginning of the next one. */
export const LOOKAHEAD_BYTES = 4096
/** A longer run of `>` in front of `From ` is not quoting. */
const MAX_QUOTING = 256
/** Bytes that decide whether a line is quoted. */
export const QUOTED_FROM_BYTES = MAX_QUOTING + 'From '.length

const [LF, CR, GREATER] = [0x0a, 0x0d, 0x3e]
const FROM = Buffer.from('From ')
const QUOTED_FROM = Buffer.from('>From ')

/** With a date as most programs write it. */
const DATED_FROM =
  /^From .*\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b.*\d{1,2}:\d{2}(?::\d{2})?\b.*\b\d{4}\b/
/** With a sender and a time: weekdays of other languages, ISO dates, years of two digits. */
const TIMED_FROM = /^From (?:\S+@\S+|MAILER-DAEMON|-) .*\b\d{1,2}:\d{2}/i
/** Nothing else, an address, or a time: hardly a sentence. */
const UNLIKE_TEXT = /^From (?:-?\s*$|\S+@)|\b\d{1,2}:\d{2}/
const FIELD = /^(?:>?From |[!-9;-~]+[ \t]*:)/
/** A link such as `http://…` is no field. */
const OTHER_LINE = /^(?:[ \t]+\S|>?From |[!-9;-~]+[ \t]*:(?:[ \t]|$))/
/** Fields that hardly a text begins with. */
const FIELD_OF_MAIL =
  /^(Return-Path|Received|Delivered-To|Delivery-Date|Envelope-To|Message-ID|MIME-Version|Date|From|Sender|Reply-To|To|Cc|Bcc|Subject|In-Reply-To|References|Content-(?:Type|Transfer-Encoding|Length)|Status|Lines|DKIM-Signature|X-[A-Za-z0-9-]+)[ \t]*:/i

/** Whether a file begins as an mbox file does, after blank lines and a byte order mark. */
export function isMbox(beginning: Buffer): boolean {
  const start = startOf(beginning)
  return isFrom(beginning, start) && isSeparator(beginning, start, true)
}

/** Whether it begins with a byte order mark of UTF-8. */
export const hasMark = (beginning: Buffer) =>
  beginning.subarray(0, 3).toString('latin1') === '\xef\xbb\xbf'

/** The place after blank lines and a byte order mark. */
export function startOf(beginning: Buffer): number {
  let at = hasMark(beginning) ? 3 : 0
  while (beginning[at] === LF || beginning[at] === CR) at += 1
  return at
}

/**
 * Whether the line at `at`, which begins with `From `, begins a message. No program can be relied on
 * for the form of its date, nor for quoting such lines in texts: the less the line looks like a
 * separator, the more what follows has to look like a header.
 */
export function isSeparator(bytes: Buffer, at: number, isAfterBlank: boolean): boolean {
  const [line = '', next = ''] = textOfLines(bytes, at, 2).split(/\r\n|\r|\n/, 2)
  if (DATED_FROM.test(line)) return isAfterBlank || FIELD.test(next)
  if (!isAfterBlank && !TIMED_FROM.test(line)) return false
  const text = textOfLines(bytes, at, Infinity)
  const header = text.slice(/^.*?(?:\r\n|\r|\n)/.exec(text)?.[0].length ?? text.length)
  return isHeader(header, UNLIKE_TEXT.test(line) ? 1 : 2)
}

/**
 * Whether a text begins with the header of a message: with so many different fields of mail in front
 * of the first line that is no field.
 */
export function isHeader(text: string, fieldsOfMail: number): boolean {
  const known = new Set<string>()
  for (const line of text.split(/\r\n|\r|\n/)) {
    const name = FIELD_OF_MAIL.exec(line)?.[1]?.toLowerCase()
    if (name !== undefined) known.add(name)
    else if (!OTHER_LINE.test(line)) break
  }
  return known.size >= fieldsOfMail && /^[!-9;-~]/.test(text)
}

/**
 * The text from a place on, with as many LF as asked for, as far as the look-ahead reaches: it may
 * have more lines where they end with CR.
 */
export function textOfLines(bytes: Buffer, at: number, lines: number): string {
  let end = at
  for (let line = 0; line < lines && end < at + LOOKAHEAD_BYTES; line++) {
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
