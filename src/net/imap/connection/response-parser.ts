import { IMAP_LIMITS } from '../limits.ts'

/**
 * Receives the parts of the byte stream. A line is one response without its literals, in one or
 * more segments.
 */
export type ResponseParserEvents = {
  /**
   * Text up to CRLF, with one character per byte. If `literal` is not null, so many bytes follow,
   * and then the rest of the line.
   * @returns whether the response goes on after this line without a literal
   */
  segment(text: string, literal: number | null): boolean
  /** A part of the literal, as a slice of the pushed chunk: copy it if it must outlive the call. */
  chunk(bytes: Buffer): void
  literalEnd(): void
}

/** The bytes are not IMAP. The connection cannot be read any further. */
export class NotImap extends Error {}

const STATUS_LINE = /^(?:\+|\S+ (?:OK|NO|BAD|BYE|PREAUTH)(?: |$))/i

/**
 * Splits a stream of bytes into lines and literals, wherever its chunks begin and end. Throws only
 * `NotImap`.
 */
export function createResponseParser(events: ResponseParserEvents): { push(chunk: Buffer): void } {
  let unfinished: Buffer[] = []
  let unfinishedBytes = 0
  let literalLeft: number | null = null
  let isFirst = true
  let isStatus = false

  function pushLiteral(chunk: Buffer, left: number): number {
    const taken = Math.min(left, chunk.length)
    if (taken > 0) events.chunk(chunk.subarray(0, taken))
    literalLeft = left - taken
    if (literalLeft === 0) {
      literalLeft = null
      events.literalEnd()
    }
    return taken
  }

  function pushLine(chunk: Buffer): number {
    const end = chunk.indexOf(0x0a)
    const part = end === -1 ? chunk : chunk.subarray(0, end)
    unfinishedBytes += part.length
    if (unfinishedBytes > IMAP_LIMITS.lineBytes) throw new NotImap('a line does not end')
    if (end === -1) {
      // A slice would keep the whole chunk in memory.
      unfinished.push(Buffer.from(part))
      return chunk.length
    }
    const line = unfinished.length === 0 ? part : Buffer.concat([...unfinished, part])
    unfinished = []
    unfinishedBytes = 0
    segment(line.toString('latin1', 0, line.at(-1) === 0x0d ? line.length - 1 : line.length))
    return end + 1
  }

  function segment(text: string): void {
    // Some servers send an empty line to keep a connection alive.
    if (isFirst && text === '') return
    // The text of a status line is free, and may end like a literal.
    if (isFirst) isStatus = STATUS_LINE.test(text)
    const size =
      isStatus || !text.endsWith('}') ? undefined : /~?\{(\d{1,15})\+?\}$/.exec(text)?.[1]
    literalLeft = size === undefined ? null : Number(size)
    isFirst = !events.segment(text, literalLeft) && size === undefined
    if (literalLeft === 0) pushLiteral(EMPTY, 0)
  }

  return {
    push(chunk) {
      let at = 0
      while (at < chunk.length) {
        const rest = at === 0 ? chunk : chunk.subarray(at)
        at += literalLeft === null ? pushLine(rest) : pushLiteral(rest, literalLeft)
      }
    },
  }
}

const EMPTY = Buffer.alloc(0)
