import type { IncomingMessage } from 'node:http'
import { BODIES_IN_MEMORY, BODY_ALWAYS, BODY_KEPT, BODY_READ, PIECES } from './limits.ts'

/** How a body ended: whole, cut off by its sender, longer than is read, or while there was no room for it. */
export type End = 'whole' | 'aborted' | 'too-large' | 'no-room'

export type Received = {
  end: End
  body: Buffer
  size: number
  durationMs: number
  /** What the last packet had of the body. */
  lastPiece: Buffer
}

/** What all bodies together may take, as each grows from one length to another; `leave` gives back what one took. */
export type Room = { grow(from: number, to: number): boolean; leave(length: number): void }

const EMPTY = Buffer.alloc(0)

export function createRoom(limit = BODIES_IN_MEMORY): Room {
  let used = 0
  return {
    grow(from, to) {
      const more = beyond(to) - beyond(from)
      if (used + more > limit) return false
      used += more
      return true
    },
    leave: (length) => void (used -= beyond(length)),
  }
}

function beyond(length: number): number {
  return Math.max(0, length - BODY_ALWAYS)
}

/**
 * Reads a body: the first mebibyte is kept, what follows is counted, and beyond ten it is over. Never throws.
 * @param room which the caller leaves with `body.length` of the result
 */
export function receive(request: IncomingMessage, room: Room): Promise<Received> {
  const begun = performance.now()
  const pieces: Buffer[] = []
  let small: Buffer[] = []
  let kept = 0
  let size = 0
  let lastPiece: Buffer = EMPTY
  return new Promise((resolve) => {
    function settle(end: End): void {
      request.off('data', take)
      resolve({ end, body: joined([...pieces, ...small]), size, durationMs: performance.now() - begun, lastPiece })
    }
    function take(piece: Buffer): void {
      size += piece.length
      lastPiece = piece
      if (size > BODY_READ) return settle('too-large')
      if (kept >= BODY_KEPT) return
      const wanted = piece.length > BODY_KEPT - kept ? piece.subarray(0, BODY_KEPT - kept) : piece
      if (!room.grow(kept, kept + wanted.length)) return settle('no-room')
      kept += wanted.length
      small.push(wanted)
      if (small.length < PIECES) return
      pieces.push(Buffer.concat(small))
      small = []
    }
    if (isHeldBack(request) && isTooLong(request)) return settle('too-large')
    // Cut off before anybody looked: there will be no word of it any more.
    if (request.destroyed) return settle('aborted')
    request.on('data', take)
    request.once('end', () => settle('whole'))
    // Comes after the end as well, when nothing is settled by it any more.
    request.once('close', () => settle('aborted'))
  })
}

/** Whether the sender sends no body before it is told to go on (RFC 9110, 10.1.1). */
export function isHeldBack({ headers }: IncomingMessage): boolean {
  return /100-continue/i.test(headers.expect ?? '')
}

/** Whether the sender says already that it is more than is read. */
export function isTooLong({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length']) > BODY_READ
}

function joined(pieces: Buffer[]): Buffer {
  return pieces.length === 1 ? (pieces[0] as Buffer) : pieces.length === 0 ? EMPTY : Buffer.concat(pieces)
}
