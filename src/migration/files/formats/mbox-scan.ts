import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { borrowScanBuffer } from './bare-ends.ts'
import {
  countQuotedFrom,
  isFrom,
  isMbox,
  isSeparator,
  LOOKAHEAD_BYTES,
  startOf,
  textOfLines,
} from './from-line.ts'
import { LENGTH_FIELD, MAX_HEADER_BYTES } from './header.ts'
import { countConverted } from './line-ends.ts'
import {
  blankLineBefore,
  blankLineBytes,
  isLineStart,
  lineEndOf,
  type LineEnd,
} from './text-lines.ts'

/** One message of an mbox file, by its place. */
export type MboxEntry = {
  /** The line that begins with `From `, without its end. */
  fromLine: string
  headerStart: number
  bodyStart: number
  /** Without the blank line before the next message. */
  end: number
  /** Bytes of the body with CRLF line ends and without quoting. */
  bodySize: number
  /** Whether it has lines `>From ` that are quoted. */
  isQuoted: boolean
  /** Whether it has line ends to convert. */
  hasBareEnds: boolean
  bodyCrc: number
  /** With one character per byte; of a message of known length, the fields in front of it. */
  header: string
  lineEnd: LineEnd
  /** Whether its bytes are counted: all of it is body, and `header` is no part of it. */
  isCounted: boolean
}

/** Bytes in front of a line that decide whether it follows a blank one. */
const LOOKBACK_BYTES = 4
const FROM_LINE = { lf: Buffer.from('\nFrom '), cr: Buffer.from('\rFrom ') }
const LINE_END = { lf: 0x0a, cr: 0x0d }
const LENGTH = Buffer.from(LENGTH_FIELD)
const COUNTED = new RegExp(`^${LENGTH_FIELD}: (\\d{1,15})(; raw)?\\r?\\n`)

/** The message that is being read. Places are those in the file. */
type Open = Omit<MboxEntry, 'end' | 'lineEnd' | 'hasBareEnds' | 'isCounted'> & {
  isInHeader: boolean
  /** Up to here, lines that begin with `From ` belong to the body (Content-Length). */
  trustedUntil: number
  /** The end of a message of known length, in which no line is interpreted. */
  countedUntil: number | null
  isRaw: boolean
  bareEnds: number
  quotedLines: number
  /** Up to here, bytes are in `header`, or in the checksum and the counts. */
  takenUntil: number
}

/**
 * Finds the messages of an mbox file, which is read once and never as a whole. A message begins at
 * a line `From …` that `isSeparator` accepts. A Content-Length counts only where a message or the end
 * of the file follows it.
 * @param start where a message begins
 */
export function* scanMbox(path: string, start = 0): Generator<MboxEntry> {
  const fd = openSync(path, 'r')
  const { buffer, giveBack } = borrowScanBuffer()
  try {
    yield* new MboxScanner(fd).scan(buffer, start)
  } finally {
    giveBack()
    closeSync(fd)
  }
}

class MboxScanner {
  readonly #fd: number
  /** When it was opened: what is added meanwhile belongs to a later run. */
  #fileSize: number
  #lineEnd: LineEnd = 'lf'
  #open: Open | null = null

  constructor(fd: number) {
    this.#fd = fd
    this.#fileSize = fstatSync(fd).size
  }

  *scan(buffer: Buffer, start: number): Generator<MboxEntry> {
    // `base` is the place of the buffer in the file. Everything up to `at` is decided.
    let [base, at] = [start, 0]
    let filled = this.#read(buffer, base)
    this.#lineEnd = lineEndOf(buffer.subarray(0, Math.min(filled, 64 * 1024)))
    at = startOf(buffer.subarray(0, filled))
    const first = start + at
    // The first From_ line can be missing.
    if (at < filled && !isMbox(buffer.subarray(0, filled))) this.#open = openMessage(first, '')
    for (;;) {
      const bytes = buffer.subarray(0, filled)
      const isEnd = base + filled >= this.#fileSize
      const limit = isEnd ? filled : filled - LOOKAHEAD_BYTES
      while (at < limit) {
        if (base + at === first || isLineStart(bytes, at, this.#lineEnd)) {
          const ended = this.#startLine(bytes, at, base)
          if (ended) yield ended
        }
        at = Math.min(limit, this.#nextLine(bytes, at))
      }
      if (isEnd) {
        const ended = this.#finish(bytes, filled, base)
        if (ended) yield ended
        return
      }
      this.#takeBytes(bytes, at, base)
      const dropped = at - LOOKBACK_BYTES
      buffer.copyWithin(0, dropped, filled)
      base += dropped
      filled -= dropped
      at = LOOKBACK_BYTES
      filled += this.#read(buffer.subarray(filled), base + filled)
    }
  }

  /** Fills a buffer from a place of the file. Returns the bytes read: fewer only at its end. */
  #read(target: Buffer, place: number): number {
    let wanted = Math.min(target.length, this.#fileSize - place)
    let filled = 0
    while (filled < wanted) {
      const length = readSync(this.#fd, target, filled, wanted - filled, place + filled)
      filled += length
      // It was truncated.
      if (length === 0) wanted = filled
    }
    if (filled < target.length) this.#fileSize = place + filled
    return filled
  }

  /** Returns the place after `at` of the next line that may matter; Infinity without one. */
  #nextLine(bytes: Buffer, at: number): number {
    const ends = this.#open?.isInHeader ? LINE_END : FROM_LINE
    const found = bytes.indexOf(ends[this.#lineEnd], at)
    return found === -1 ? Infinity : found + 1
  }

  /** Handles the beginning of a line. Returns the message that ends there. */
  #startLine(bytes: Buffer, at: number, base: number): MboxEntry | null {
    const open = this.#open
    const place = base + at
    if (open && place < (open.countedUntil ?? 0)) return null
    if (isFrom(bytes, at) && isSeparator(bytes, at, this.#isAfterBlank(bytes, at))) {
      if (open === null || place >= open.trustedUntil) {
        const ended = this.#finish(bytes, at, base)
        this.#open = openMessage(place, textOfLines(bytes, at, 1))
        return ended
      }
      // A file whose bodies have such lines does not quote them (mboxcl2).
      open.isQuoted = false
    }
    if (open?.isInHeader && place >= open.headerStart) this.#continueHeader(open, bytes, at, base)
    return null
  }

  #isAfterBlank(bytes: Buffer, at: number): boolean {
    if (this.#open === null) return true
    return !this.#open.isInHeader && blankLineBefore(bytes, at, this.#lineEnd) > 0
  }

  /** Ends the header with the blank line at `at`, or without one where it is too long. */
  #continueHeader(open: Open, bytes: Buffer, at: number, base: number): void {
    if (this.#countMessage(open, bytes, at, base)) return
    const blankBytes = blankLineBytes(bytes, at, this.#lineEnd)
    const isTooLong = base + at - open.headerStart >= MAX_HEADER_BYTES
    if (blankBytes === 0 && !isTooLong) return
    this.#takeBytes(bytes, at + blankBytes, base)
    open.isInHeader = false
    open.bodyStart = open.takenUntil
    const length = /^content-length[ \t]*:[ \t]*(\d{1,15})[ \t]*\r?$/im.exec(open.header)?.[1]
    const end = open.bodyStart + Number(length)
    if (length !== undefined && this.#isEnd(end)) open.trustedUntil = end
  }

  /** Ends the fields of an export in front of a message of known length, if it is still whole. */
  #countMessage(open: Open, bytes: Buffer, at: number, base: number): boolean {
    if (!bytes.subarray(at, at + LENGTH_FIELD.length).equals(LENGTH)) return false
    const [line = '', length, isRaw] = COUNTED.exec(textOfLines(bytes, at, 1)) ?? []
    const start = base + at + line.length
    if (length === undefined || !this.#isEnd(start + Number(length))) return false
    this.#takeBytes(bytes, at, base)
    open.isInHeader = false
    open.isRaw = isRaw !== undefined
    open.isQuoted = !open.isRaw
    open.headerStart = open.bodyStart = open.takenUntil = start
    open.countedUntil = start + Number(length)
    return true
  }

  /** Whether a message can end here: at the end of the file, or before the next message. */
  #isEnd(place: number): boolean {
    if (place >= this.#fileSize) return place === this.#fileSize
    const next = Buffer.alloc(LOOKAHEAD_BYTES)
    const length = readSync(this.#fd, next, 0, next.length, place)
    const start = startOf(next.subarray(0, length))
    if (place + start === this.#fileSize) return true
    return isFrom(next, start) && isSeparator(next, start, true)
  }

  /** Takes the bytes up to `at` into the header, or into the checksum and the counts. */
  #takeBytes(bytes: Buffer, at: number, base: number): void {
    const open = this.#open
    if (!open || base + at <= open.takenUntil) return
    const from = open.takenUntil - base
    open.takenUntil = base + at
    const to = open.countedUntil === null ? at : Math.min(at, open.countedUntil - base)
    if (to <= from) return
    const taken = bytes.subarray(from, to)
    if (open.isInHeader) return void (open.header += taken.toString('latin1'))
    open.bodyCrc = crc32(taken, open.bodyCrc)
    open.bareEnds += countConverted(taken, bytes[from - 1] ?? 0, this.#lineEnd)
    open.quotedLines += countQuotedFrom(bytes, from, to, this.#lineEnd)
  }

  /** Ends the message that is open at the line that begins at `at`, or at the end of the file. */
  #finish(bytes: Buffer, at: number, base: number): MboxEntry | null {
    const open = this.#open
    if (!open) return null
    this.#takeBytes(bytes, at, base)
    this.#open = null
    const place = base + at
    if (open.isInHeader) open.bodyStart = place
    const { fromLine, headerStart, bodyStart, header, bodyCrc, countedUntil } = open
    const isCounted = countedUntil !== null
    const blankBytes = isCounted ? 0 : blankLineBefore(bytes, at, this.#lineEnd)
    const isBlankLast = blankBytes > 0 && place - blankBytes >= bodyStart
    const end = countedUntil ?? (isBlankLast ? place - blankBytes : place)
    const bareEnds = open.isRaw ? 0 : open.bareEnds - Number(isBlankLast && blankBytes === 1)
    const quotedLines = open.isQuoted ? open.quotedLines : 0
    return {
      fromLine,
      headerStart,
      bodyStart,
      end,
      bodySize: end - bodyStart + bareEnds - quotedLines,
      isQuoted: quotedLines > 0,
      hasBareEnds: bareEnds > 0,
      // The same message has the same checksum with and without a blank line behind it.
      bodyCrc: isCounted || isBlankLast ? bodyCrc : crc32(bareEnds > 0 ? '\n' : '\r\n', bodyCrc),
      header,
      lineEnd: this.#lineEnd,
      isCounted,
    }
  }
}

/** @param text the From_ line and what may follow it; "" where there is none */
function openMessage(place: number, text: string): Open {
  const [whole = '', fromLine = ''] = /^([^\r\n]*)(?:\r\n|\r|\n)?/.exec(text) ?? []
  const headerStart = place + whole.length
  return {
    fromLine,
    headerStart,
    bodyStart: headerStart,
    takenUntil: headerStart,
    bodySize: 0,
    bodyCrc: 0,
    isQuoted: true,
    isInHeader: true,
    header: '',
    trustedUntil: 0,
    countedUntil: null,
    isRaw: false,
    bareEnds: 0,
    quotedLines: 0,
  }
}
