import { IMAP_LIMITS } from '../limits.ts'
import { createResponseParser, NotImap } from './response-parser.ts'
import type { ImapLost } from './refusals.ts'
import { createResponseAssembler, type Response } from './response.ts'
import type { Listener, LiteralSink } from './listener.ts'

export type ResponseDispatcher = {
  /** @returns whether a sink keeps slices of the chunk */
  push(chunk: Buffer): boolean
  fail(reason: ImapLost): void
}

/**
 * Literals from this size have memory of their own, which `freeBuffer` can free. Smaller ones share
 * it: most of them are header fields, and end at once.
 */
const OWN_MEMORY_BYTES = 2_048

/**
 * Assembles responses from bytes. A literal goes to the first listener that accepts it, otherwise
 * into memory.
 * @param listeners the listeners of the commands in flight, oldest first
 * @param onLiteralData called when a listener received a part of a literal
 */
export function createResponseDispatcher(
  listeners: () => Iterable<Listener>,
  onResponse: (response: Response) => void,
  onLiteralData: () => void,
): ResponseDispatcher {
  const assembler = createResponseAssembler()
  let sink: LiteralSink | undefined
  let buffered: { bytes: Buffer; filled: number } | undefined
  let isKept = false

  const parser = createResponseParser({
    segment(text, literal) {
      assembler.segment(text)
      if (literal === null) onResponse(assembler.finish())
      else beginLiteral(literal)
    },
    chunk(bytes) {
      if (sink) {
        sink.write(bytes)
        isKept = true
        onLiteralData()
      } else if (buffered) buffered.filled += bytes.copy(buffered.bytes, buffered.filled)
    },
    literalEnd() {
      if (buffered) assembler.literal(buffered.bytes)
      sink = buffered = undefined
    },
  })

  function beginLiteral(size: number): void {
    for (const listener of listeners()) {
      sink = listener.literal?.(assembler.head, size)
      if (sink) return assembler.literal({ streamed: size })
    }
    if (size > IMAP_LIMITS.inlineLiteralBytes) throw new NotImap(`it sent ${size} unexpected bytes`)
    const bytes = size < OWN_MEMORY_BYTES ? Buffer.allocUnsafe(size) : Buffer.allocUnsafeSlow(size)
    buffered = { bytes, filled: 0 }
  }

  return {
    push(chunk) {
      isKept = false
      parser.push(chunk)
      return isKept
    },
    fail: (reason) => sink?.fail(reason),
  }
}
