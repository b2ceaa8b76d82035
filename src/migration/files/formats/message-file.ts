import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { fillWithCrlf } from './bare-ends.ts'
import { readPart, readWhole } from './file-part.ts'
import type { FoundMessage } from './found-message.ts'
import { dateInHeader, internalDateOf, MAX_HEADER_BYTES, parseHeader } from './header.ts'
import { countConverted, withCrlf } from './line-ends.ts'
import { lineEndOf, type LineEnd } from './lines.ts'

/** Bits of the flags of Apple Mail’s .emlx files. */
const EMLX = { read: 1, deleted: 2, answered: 4, flagged: 16, draft: 64, forwarded: 256 }

/** Where the message is in its file, and what a file of Apple Mail adds to it. */
type Place = { start: number; end: number; flags: string[]; date: string | null }

/**
 * Reads a file with one message: .eml, .emlx, or a file of a Maildir.
 * @param over what the name or the folder of the file tells, which wins over the header
 * @returns null for a file that is no message
 */
export function readMessageFile(
  path: string,
  over: { key?: string; flags?: string[]; useFileTime?: boolean } = {},
): FoundMessage | null {
  const { size: bytes, mtimeMs } = statSync(path)
  const place =
    extname(path).toLowerCase() === '.emlx' ? placeInEmlx(path, bytes) : wholeFile(bytes)
  if (!place || place.start >= place.end) return null
  const beginning = readWhole(
    path,
    place.start,
    Math.min(place.end, place.start + MAX_HEADER_BYTES),
  )
  const fields = parseHeader(headerIn(beginning))
  const lineEnd = lineEndOf(beginning)
  const fileDate = internalDateOf(mtimeMs)
  const read = () => withCrlf(readPart(path, place.start, place.end), lineEnd, false)
  const fill = (target: Buffer) =>
    withFile(path, (fd) => fillWithCrlf(fd, place.start, place.end, target))
  return {
    key: over.key ?? basename(path),
    size: sizeWithCrlf(path, place, lineEnd),
    flags: over.flags ?? place.flags,
    date: over.useFileTime ? fileDate : (place.date ?? dateInHeader(fields) ?? fileDate),
    messageId: fields.first('message-id'),
    read,
    fill: lineEnd === 'lf' ? fill : null,
  }
}

function withFile(path: string, work: (fd: number) => void): void {
  const fd = openSync(path, 'r')
  try {
    work(fd)
  } finally {
    closeSync(fd)
  }
}

const wholeFile = (end: number): Place => ({ start: 0, end, flags: [], date: null })

function headerIn(beginning: Buffer): string {
  const text = beginning.toString('latin1')
  const match = /\r\n\r\n|\n\n|\r\r|\n\r\n/.exec(text)
  return match ? text.slice(0, match.index + match[0].length) : text
}

function sizeWithCrlf(path: string, { start, end }: Place, lineEnd: LineEnd): number {
  let [size, before] = [0, 0]
  for (const part of readPart(path, start, end)) {
    size += part.length + countConverted(part, before, lineEnd)
    before = part.at(-1) ?? before
  }
  return size
}

/** A line with the number of bytes, the message, and a property list with flags and date. */
function placeInEmlx(path: string, bytes: number): Place | null {
  const first = Buffer.alloc(32)
  const fd = openSync(path, 'r')
  try {
    readSync(fd, first, 0, first.length, 0)
  } finally {
    closeSync(fd)
  }
  const [line, count] = /^\s*(\d{1,12})\s*?\n/.exec(first.toString('latin1')) ?? []
  if (line === undefined) return null
  const start = line.length
  const end = Math.min(bytes, start + Number(count))
  const list = readWhole(path, end, Math.min(bytes, end + 64 * 1024)).toString('latin1')
  const numberOf = (key: string) =>
    Number(new RegExp(`<key>${key}</key>\\s*<(?:integer|real)>(\\d+)`).exec(list)?.[1] ?? 0)
  const bits = numberOf('flags')
  const has = (bit: number) => (bits & bit) !== 0
  const flags = [
    has(EMLX.read) ? ['\\Seen'] : [],
    has(EMLX.deleted) ? ['\\Deleted'] : [],
    has(EMLX.answered) ? ['\\Answered'] : [],
    has(EMLX.flagged) ? ['\\Flagged'] : [],
    has(EMLX.draft) ? ['\\Draft'] : [],
    has(EMLX.forwarded) ? ['$Forwarded'] : [],
  ].flat()
  const received = numberOf('date-received')
  return { start, end, flags, date: received > 0 ? internalDateOf(received * 1_000) : null }
}
