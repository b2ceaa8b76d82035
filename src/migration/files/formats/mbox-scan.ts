import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { isSeparator, LOOKAHEAD_BYTES, startOf } from './from-line.ts'
import { isFrom, isQuotedFrom, lineEndOf, type LineEnd } from './line-ends.ts'
import { MAX_HEADER_BYTES } from './header.ts'
import { blankLineBytes, skipPlainLines, type PlainLines } from './skip-lines.ts'

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
  header: Buffer
  lineEnd: LineEnd
}

const CHUNK_BYTES = 4 * 1024 * 1024
const [LF, F, GREATER] = [0x0a, 0x46, 0x3e]
/** The message that is being read. Places are those in the file. */
type Open = Omit<MboxEntry, 'end' | 'header' | 'lineEnd' | 'hasBareEnds'> & {
  isInHeader: boolean
  headerParts: Buffer[]
  /** Up to here, lines that begin with `From ` belong to the body (Content-Length). */
  trustedUntil: number
  bareEnds: number
  quotedLines: number
  /** The start of the last line, if it is blank. */
  blankAt: number
  /** Up to here, `bodyCrc` is computed. */
  crcAt: number
}

/**
 * Finds the messages of an mbox file, which is read once and never as a whole. A message begins at
 * a line `From … date` after a blank line or before a header field. A Content-Length counts only
 * where a message or the end of the file follows it.
 * @param start where a message begins
 */
export function* scanMbox(path: string, start = 0): Generator<MboxEntry> {
  const fd = openSync(path, 'r')
  try {
    yield* new MboxScanner(fd).scan(start)
  } finally {
    closeSync(fd)
  }
}

class MboxScanner {
  readonly #fd: number
  readonly #fileSize: number
  #lineEnd: LineEnd = 'lf'
  #open: Open | null = null

  constructor(fd: number) {
    this.#fd = fd
    this.#fileSize = fstatSync(fd).size
  }

  *scan(start: number): Generator<MboxEntry> {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
    let [filled, base, isLineStart] = [0, start, true]
    const lines: PlainLines = { at: 0, bareEnds: 0, count: 0, before: LF, isLineStart: false }
    for (let isEnd = false; !isEnd;) {
      filled += readSync(this.#fd, buffer, filled, buffer.length - filled, base + filled)
      isEnd = base + filled >= this.#fileSize || filled === 0
      const bytes = buffer.subarray(0, filled)
      let at = 0
      if (base === start) {
        this.#lineEnd = lineEndOf(bytes.subarray(0, 64 * 1024))
        at = startOf(bytes)
      }
      while (at < filled) {
        if (isLineStart) {
          if (!isEnd && filled - at < LOOKAHEAD_BYTES) break
          const finished = this.#startLine(bytes, at, base)
          if (finished) yield finished
        }
        lines.at = at
        skipPlainLines(bytes, lines, this.#lineEnd, this.#open?.isInHeader ?? false)
        at = lines.at
        isLineStart = lines.isLineStart
        this.#countLines(lines)
      }
      this.#takeBytes(bytes, at, base)
      bytes.copyWithin(0, at)
      base += at
      filled -= at
    }
    const last = this.#finish(this.#fileSize)
    if (last) yield last
  }

  #countLines({ bareEnds, count }: PlainLines): void {
    const open = this.#open
    if (!open || open.isInHeader) return
    open.bareEnds += bareEnds
    if (count > 0) open.blankAt = -1
  }

  /** Handles the beginning of a line. Returns the message that ends there. */
  #startLine(bytes: Buffer, at: number, base: number): MboxEntry | null {
    const open = this.#open
    const place = base + at
    const first = bytes[at]
    if (first === F && isFrom(bytes, at)) {
      const isBody = open !== null && place < open.trustedUntil
      if (isSeparator(bytes, at, open === null || open.blankAt !== -1)) {
        if (!isBody) {
          this.#takeBytes(bytes, at, base)
          const finished = this.#finish(place)
          this.#open = openMessage(bytes, at, base)
          return finished
        }
        // A file whose bodies have such lines does not quote them (mboxcl2).
        open.isQuoted = false
      }
    }
    if (open) this.#continueLine(open, bytes, at, place)
    return null
  }

  #continueLine(open: Open, bytes: Buffer, at: number, place: number): void {
    if (place < open.headerStart) return
    const blankBytes = blankLineBytes(bytes, at, this.#lineEnd)
    if (open.isInHeader) {
      const isTooLong = place - open.headerStart >= MAX_HEADER_BYTES
      if (blankBytes > 0 || isTooLong) this.#takeHeader(open, bytes, at, place, blankBytes)
      return
    }
    open.blankAt = blankBytes > 0 ? place : -1
    if (bytes[at] === GREATER && isQuotedFrom(bytes, at)) open.quotedLines += 1
  }

  /** Ends the header with the blank line at `at`, or without one where it is too long. */
  #takeHeader(open: Open, bytes: Buffer, at: number, place: number, blankBytes: number): void {
    const start = at - (place - open.crcAt)
    open.headerParts.push(Buffer.from(bytes.subarray(start, at + blankBytes)))
    open.isInHeader = false
    open.bodyStart = place + blankBytes
    open.crcAt = open.bodyStart
    open.blankAt = blankBytes > 0 ? place : -1
    // The end of the blank line is counted next, but it belongs to the header.
    open.bareEnds = blankBytes === 1 ? -1 : 0
    const header = Buffer.concat(open.headerParts).toString('latin1')
    const length = /^content-length[ \t]*:[ \t]*(\d{1,15})[ \t]*\r?$/im.exec(header)?.[1]
    const end = open.bodyStart + Number(length)
    if (length !== undefined && this.#isEnd(end)) open.trustedUntil = end
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

  /** Takes the bytes up to `at` into the header or the checksum. */
  #takeBytes(bytes: Buffer, at: number, base: number): void {
    const open = this.#open
    if (!open || base + at <= open.crcAt) return
    const from = Math.max(0, open.crcAt - base)
    if (open.isInHeader) open.headerParts.push(Buffer.from(bytes.subarray(from, at)))
    else open.bodyCrc = crc32(bytes.subarray(from, at), open.bodyCrc)
    open.crcAt = base + at
  }

  #finish(place: number): MboxEntry | null {
    const open = this.#open
    this.#open = null
    if (!open) return null
    if (open.isInHeader) open.bodyStart = place
    const isBlankLast = open.blankAt >= open.bodyStart && place - open.blankAt <= 2
    const end = isBlankLast && !open.isInHeader ? open.blankAt : place
    const bareEnds = open.bareEnds - Number(isBlankLast && place - end === 1)
    const { fromLine, headerStart, bodyStart, isQuoted, headerParts } = open
    // The same message has the same checksum with and without a blank line behind it.
    if (!isBlankLast) open.bodyCrc = crc32(bareEnds > 0 ? '\n' : '\r\n', open.bodyCrc)
    const bodySize =
      end - bodyStart + (open.isInHeader ? 0 : bareEnds) - (isQuoted ? open.quotedLines : 0)
    return {
      fromLine,
      headerStart,
      bodyStart,
      end,
      bodySize,
      isQuoted: isQuoted && open.quotedLines > 0,
      hasBareEnds: open.bareEnds > 0,
      bodyCrc: open.bodyCrc,
      header: Buffer.concat(headerParts),
      lineEnd: this.#lineEnd,
    }
  }
}

function openMessage(bytes: Buffer, at: number, base: number): Open {
  const text = bytes.toString('latin1', at, at + LOOKAHEAD_BYTES)
  const [whole = '', fromLine = ''] = /^([^\r\n]*)(?:\r\n|\r|\n)?/.exec(text) ?? []
  const headerStart = base + at + whole.length
  return {
    fromLine,
    headerStart,
    bodyStart: headerStart,
    crcAt: headerStart,
    bodySize: 0,
    bodyCrc: 0,
    isQuoted: true,
    isInHeader: true,
    headerParts: [],
    trustedUntil: 0,
    bareEnds: 0,
    quotedLines: 0,
    blankAt: -1,
  }
}
