import type { IncomingMessage } from 'node:http'
import { MAX_MALFORMED_BYTES } from '../limits.ts'
import { redactSessionCookies } from './session-cookies.ts'

/** Bytes after the end of a request that begin no other request, as they are stored with it. */
export type Surplus = {
  /** Bytes that had arrived when they were detected. */
  size: number
  /** The first of them, in base64. */
  start: string
  /**
   * The status of a second response to these bytes; null when the connection ended with the
   * request’s own response.
   */
  responseStatus: number | null
}

/** The error of node:http on bytes that it could not parse as a request. */
export type ParseError = Error & {
  code?: string
  reason?: string
  rawPacket?: Buffer
  bytesParsed?: number
}

const HEAD_END = '\r\n\r\n'

/**
 * Ends of header sections that are tried. A sender chooses how many a packet has, and each costs a
 * comparison.
 */
const MAX_CANDIDATES = 8

/** Describes surplus bytes for the captured request that they followed. */
export function describeSurplus(bytes: Buffer, { code }: ParseError): Surplus {
  const text = redactSessionCookies(bytes.subarray(0, MAX_MALFORMED_BYTES * 4).toString('latin1'))
  const start = Buffer.from(text, 'latin1').subarray(0, MAX_MALFORMED_BYTES).toString('base64')
  return {
    size: bytes.length,
    start,
    responseStatus: code === 'HPE_CLOSED_CONNECTION' ? null : 400,
  }
}

/**
 * Finds the surplus in a packet that also contains the end of the request. The parser only reports
 * where it gave up, which lies after the first bytes of the surplus if these look like a method.
 * @param lastChunk the part of the body in the packet, without the framing of chunks
 */
export function findSurplus(
  request: IncomingMessage,
  lastChunk: Buffer,
  error: ParseError,
): Buffer {
  const { rawPacket: packet = Buffer.alloc(0), bytesParsed = 0 } = error
  const isChunked = request.headers['transfer-encoding'] !== undefined
  const length = isChunked ? 0 : lastChunk.length
  const hasPiece = (at: number) => packet.subarray(at, at + length).equals(lastChunk)
  for (const headEnd of headEnds(packet, bytesParsed, length > 0)) {
    if (length === 0 || hasPiece(headEnd)) return packet.subarray(headEnd + length)
  }
  if (length > 0 && hasPiece(0)) return packet.subarray(length)
  // The end of the last chunk arrived in two packets.
  const from = isChunked
    ? (/^[0\r\n]*/.exec(packet.toString('latin1', 0, 5))?.[0].length ?? 0)
    : bytesParsed
  return packet.subarray(Math.min(from, packet.length))
}

/**
 * Lists the ends of header sections or of the last chunk before the position where the parser gave
 * up, latest first. `withFirst` adds the first one of the packet.
 */
function headEnds(packet: Buffer, parsed: number, withFirst: boolean): number[] {
  const ends: number[] = []
  const first = packet.indexOf(HEAD_END)
  if (withFirst && first !== -1) ends.push(first + HEAD_END.length)
  for (let at = parsed - HEAD_END.length; at >= 0 && ends.length < MAX_CANDIDATES; at--) {
    at = packet.lastIndexOf(HEAD_END, at)
    if (at === -1) break
    ends.push(at + HEAD_END.length)
  }
  return ends
}
