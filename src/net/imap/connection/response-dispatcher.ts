import { ownsMemory } from '../../free-buffer.ts'
import { IMAP_LIMITS } from '../limits.ts'
import { createResponseParser, NotImap } from './response-parser.ts'
import type { ImapLost } from './refusals.ts'
import { createResponseAssembler, type Response } from './response.ts'
import type { Listener, LiteralSink } from './listener.ts'

export type ResponseDispatcher = {
  /** @returns whether a sink keeps slices of the chunk, or a response all of it */
  push(chunk: Buffer): boolean
  fail(reason: ImapLost): void
  /** Whether bytes of a literal are missing. */
  readonly isInLiteral: boolean
}

/**
 * Literals from this size have memory of their own, which `freeBuffer` can free. Smaller ones share
 * it: most of them are header fields, and end at once.
 */
const OWN_MEMORY_BYTES = 2_048

const EMPTY = Buffer.alloc(0)

export type DispatcherOptions = {
  /** The listeners of the commands in flight, oldest first. */
  listeners: () => Iterable<Listener>
  onResponse: (response: Response) => void
  /** Called when a listener received a part of a literal. */
  onLiteralData: () => void
  /** Whether chunks belong to the reader alone. */
  ownsChunks: boolean
}

/** A literal that is read into memory: from its first chunk on, there are bytes. */
type BufferedLiteral = { size: number; bytes: Buffer | null; filled: number }

/**
 * Assembles responses from bytes. A literal goes to the first listener that accepts it, otherwise
 * into memory: a chunk that is the whole literal is not copied, if chunks are owned.
 */
export function createResponseDispatcher({
  listeners,
  onResponse,
  onLiteralData,
  ownsChunks,
}: DispatcherOptions): ResponseDispatcher {
  const assembler = createResponseAssembler()
  let sink: LiteralSink | undefined
  let buffered: BufferedLiteral | undefined
  let isKept = false

  const parser = createResponseParser({
    segment(text, literal) {
      if (text === '' && assembler.skipsEmptyLine()) return true
      assembler.segment(text)
      if (literal === null) onResponse(assembler.finish())
      else beginLiteral(literal)
      return literal !== null
    },
    chunk(bytes) {
      if (sink) {
        sink.write(bytes)
        isKept = true
        onLiteralData()
      } else if (buffered) bufferChunk(buffered, bytes)
    },
    literalEnd() {
      if (buffered) assembler.literal(buffered.bytes ?? EMPTY)
      sink = buffered = undefined
    },
  })

  function beginLiteral(size: number): void {
    for (const listener of listeners()) {
      sink = listener.literal?.(assembler.head, size)
      if (sink) return assembler.literal({ streamed: size })
    }
    if (size > IMAP_LIMITS.inlineLiteralBytes) throw new NotImap(`it sent ${size} unexpected bytes`)
    buffered = { size, bytes: null, filled: 0 }
  }

  function bufferChunk(literal: BufferedLiteral, chunk: Buffer): void {
    const { size } = literal
    if (ownsChunks && chunk.length === size && ownsMemory(chunk)) {
      literal.bytes = chunk
      isKept = true
      return
    }
    literal.bytes ??=
      size < OWN_MEMORY_BYTES ? Buffer.allocUnsafe(size) : Buffer.allocUnsafeSlow(size)
    literal.filled += chunk.copy(literal.bytes, literal.filled)
  }

  return {
    push(chunk) {
      isKept = false
      parser.push(chunk)
      return isKept
    },
    fail: (reason) => sink?.fail(reason),
    get isInLiteral() {
      return sink !== undefined || buffered !== undefined
    },
  }
}
