import type { IncomingMessage } from 'node:http'
import {
  BODY_MEMORY_BYTES,
  MAX_BODY_CHUNKS,
  MAX_READ_BODY_BYTES,
  MAX_STORED_BODY_BYTES,
  UNCOUNTED_BODY_BYTES,
} from '../limits.ts'

/**
 * How a body ended: complete, aborted by its sender, larger than the limit, or rejected because
 * memory was full.
 */
type BodyEnd = 'whole' | 'aborted' | 'too-large' | 'no-memory'

export type ReceivedBody = {
  end: BodyEnd
  /** The first `MAX_STORED_BODY_BYTES` of the body. */
  body: Buffer
  /** Bytes received. */
  size: number
  durationMs: number
  /** The last chunk of the body, from the packet that ended the request. */
  lastChunk: Buffer
}

/**
 * The memory that all bodies share. `reserve` is called as a body grows from one length to another,
 * and returns false when the memory is full. `release` frees the memory of one body.
 */
export type MemoryBudget = {
  reserve(from: number, to: number): boolean
  release(length: number): void
}

const EMPTY = Buffer.alloc(0)

export function createMemoryBudget(): MemoryBudget {
  let usedBytes = 0
  return {
    reserve(from, to) {
      const more = countedBytes(to) - countedBytes(from)
      if (usedBytes + more > BODY_MEMORY_BYTES) return false
      usedBytes += more
      return true
    },
    release: (length) => void (usedBytes -= countedBytes(length)),
  }
}

function countedBytes(length: number): number {
  return Math.max(0, length - UNCOUNTED_BODY_BYTES)
}

/**
 * Reads a body: stores its first mebibyte, counts the rest, and stops at ten. Never throws.
 * @param memory the caller releases `body.length` of the result
 */
export function readBody(request: IncomingMessage, memory: MemoryBudget): Promise<ReceivedBody> {
  const startedAt = performance.now()
  const merged: Buffer[] = []
  let chunks: Buffer[] = []
  let stored = 0
  let size = 0
  let lastChunk: Buffer = EMPTY
  return new Promise((resolve) => {
    function finish(end: BodyEnd): void {
      request.off('data', onData)
      resolve({
        end,
        body: joinChunks([...merged, ...chunks]),
        size,
        durationMs: performance.now() - startedAt,
        lastChunk,
      })
    }
    function onData(chunk: Buffer): void {
      size += chunk.length
      lastChunk = chunk
      if (size > MAX_READ_BODY_BYTES) return finish('too-large')
      if (stored >= MAX_STORED_BODY_BYTES) return
      const missing = MAX_STORED_BODY_BYTES - stored
      const wanted = chunk.length > missing ? chunk.subarray(0, missing) : chunk
      if (!memory.reserve(stored, stored + wanted.length)) return finish('no-memory')
      stored += wanted.length
      chunks.push(wanted)
      if (chunks.length < MAX_BODY_CHUNKS) return
      merged.push(Buffer.concat(chunks))
      chunks = []
    }
    if (expectsContinue(request) && declaresTooLarge(request)) return finish('too-large')
    // An aborted request emits no more events.
    if (request.destroyed) return finish('aborted')
    request.on('data', onData)
    request.once('end', () => finish('whole'))
    // `close` also follows `end`; the promise is resolved by then.
    request.once('close', () => finish('aborted'))
  })
}

/**
 * Whether the sender waits for `100 Continue` before it sends the body. In HTTP/1.0 the header means
 * nothing (RFC 9110, 10.1.1).
 */
export function expectsContinue({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion !== '1.0' && /100-continue/i.test(headers.expect ?? '')
}

/** Whether the declared length of the body is above the limit. */
export function declaresTooLarge({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length']) > MAX_READ_BODY_BYTES
}

function joinChunks(chunks: Buffer[]): Buffer {
  return chunks.length === 1
    ? (chunks[0] as Buffer)
    : chunks.length === 0
      ? EMPTY
      : Buffer.concat(chunks)
}
