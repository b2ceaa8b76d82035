import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { extname } from 'node:path'
import { crc32 } from 'node:zlib'
import { fillWithCrlf } from './bare-ends.ts'
import { isCompressed, readCompressed } from './compressed.ts'
import { fillFrom, readPart, readWhole, splitBuffer } from './file-part.ts'
import { digestOf, reasonOf, type FoundMessage, type Leave } from './found-message.ts'
import { hasMark, isFrom, isMbox, isQuotedFrom, LOOKAHEAD_BYTES, startOf } from './from-line.ts'
import {
  dateInHeader,
  headerIn,
  internalDateOf,
  MAX_HEADER_BYTES,
  parseHeader,
  stateOf,
} from './header.ts'
import { countConverted, withCrlf } from './line-ends.ts'
import { lineEndOf, type LineEnd } from './text-lines.ts'
import { readMbox } from './mbox-read.ts'
import { unsupportedReason } from './unsupported.ts'

/** Bits of the flags of Apple Mail’s .emlx files. */
const EMLX = { read: 1, deleted: 2, answered: 4, flagged: 16, draft: 64, forwarded: 256 }

/** Where the message is in its file, and what a file of Apple Mail adds to it. */
type Place = { start: number; end: number; flags: string[]; date: string | null }

/**
 * What the name or the folder of a file tells, which wins over the header. `useState`: flags are in
 * the header. `isRaw`: its line ends are those of the message. `isCompressed`: it is a message that
 * Dovecot or Zimbra compressed. `isExport`: a program may have put lines in front of the message.
 */
type Over = {
  flags?: string[]
  useState?: boolean
  useFileTime?: boolean
  isRaw?: boolean
  isCompressed?: boolean
  isExport?: boolean
}

/**
 * Reads a file with one message: .eml, .emlx, or a file of a Maildir.
 * @returns null for a file of Apple Mail without a message
 */
export function readMessageFile(path: string, over: Over = {}): FoundMessage | null {
  const { size: bytes, mtimeMs } = statSync(path)
  // Decompressed once here, and again when the message is copied: only its place is kept.
  const content = over.isCompressed ? readCompressed(path) : null
  const place =
    content === null && extname(path).toLowerCase() === '.emlx'
      ? placeInEmlx(path, bytes)
      : wholeFile(content?.length ?? bytes, over.isExport ? startOfMessage(path) : 0)
  if (!place) return null
  const { start, end } = place
  const partOf = (whole: Buffer | null, to = end) =>
    whole ? splitBuffer(whole.subarray(start, to)) : readPart(path, start, to)
  const beginning = Buffer.concat(
    Array.from(partOf(content, Math.min(end, start + MAX_HEADER_BYTES)), (part) =>
      Buffer.from(part),
    ),
  )
  const fields = parseHeader(headerIn(beginning.toString('latin1')))
  const lineEnd = lineEndOf(beginning)
  const { size, crc } = measure(partOf(content), over.isRaw ? null : lineEnd)
  const fileDate = internalDateOf(mtimeMs)
  const isAsStored = size === end - start && lineEnd === 'lf'
  const isPlain = over.isRaw || isAsStored
  const fill = (target: Buffer) =>
    withFile(path, (fd) =>
      isPlain ? fillFrom(fd, target, start) : fillWithCrlf(fd, start, end, target),
    )
  return {
    key: `${size}-${crc.toString(36)}-${digestOf(beginning)}`,
    size,
    flags: over.useState ? stateOf(fields).flags : (over.flags ?? place.flags),
    date: over.useFileTime ? fileDate : (place.date ?? dateInHeader(fields) ?? fileDate),
    messageId: fields.first('message-id'),
    read: () => {
      const parts = partOf(over.isCompressed ? readCompressed(path) : null)
      return isPlain ? parts : withCrlf(parts, lineEnd, false)
    },
    fill: !over.isCompressed && (isPlain || lineEnd === 'lf') ? fill : null,
  }
}

/**
 * Reads a file that is where messages are. One that is none, or cannot be read, is left out.
 * @param over as for `readMessageFile`
 */
export function* readMail(path: string, leave: Leave, over: Over = {}): Generator<FoundMessage> {
  const leaveFor = (reason: string) => leave({ path, reason, count: 1, isProblem: true })
  // An export names the files that are the bytes of a message.
  const isRaw = over.isRaw ?? /\.raw\.eml$/i.test(path)
  try {
    const beginning = readWhole(path, 0, 16)
    const reason =
      beginning.length === 0 ? 'The file is empty.' : unsupportedReason(path, beginning, true)
    if (reason !== null) leaveFor(reason)
    // Thunderbird begins the files of its Maildirs as an mbox file.
    else if (over.useState && isFrom(beginning, 0)) yield* readMbox(path)
    else if (over.isExport && !isRaw && isMbox(readWhole(path, 0, LOOKAHEAD_BYTES)))
      yield* readMbox(path)
    else {
      const message = readMessageFile(path, {
        ...over,
        isRaw,
        isExport: over.isExport && !isRaw,
        isCompressed: isCompressed(beginning),
      })
      if (message && message.size > 0) yield message
      else leaveFor(message ? 'The file is empty.' : 'It has no message of Apple Mail.')
    }
  } catch (error) {
    leaveFor(reasonOf(error))
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

const wholeFile = (end: number, start: number): Place => ({ start, end, flags: [], date: null })

/** The place behind a byte order mark, and behind a From_ line that was quoted. */
function startOfMessage(path: string): number {
  const beginning = readWhole(path, 0, LOOKAHEAD_BYTES)
  const start = startOf(beginning)
  if (!isQuotedFrom(beginning, start)) return hasMark(beginning) ? start : 0
  return beginning.indexOf('\n', start) + 1
}

/** The size of a message with CRLF line ends, and the checksum of its bytes in the file. */
function measure(parts: Iterable<Buffer>, lineEnd: LineEnd | null) {
  let [size, crc, before] = [0, 0, 0]
  for (const part of parts) {
    size += part.length + (lineEnd === null ? 0 : countConverted(part, before, lineEnd))
    crc = crc32(part, crc)
    before = part.at(-1) ?? before
  }
  return { size, crc }
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
