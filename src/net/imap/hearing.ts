import { LIMITS } from './limits.ts'
import { createReader, NotImap } from './reader.ts'
import type { ImapLost } from './refusals.ts'
import { createAssembler, type Response } from './response.ts'
import type { Listener, LiteralSink } from './wire.ts'

/**
 * Makes responses out of bytes. A literal goes to the first listener that takes it, else into memory.
 * @param listeners those of the commands in flight, oldest first
 * @param onTaken called when a listener got a piece of a literal
 */
export function createHearing(
  listeners: () => Iterable<Listener>,
  hear: (response: Response) => void,
  onTaken: () => void,
): { push(chunk: Buffer): void; fail(reason: ImapLost): void } {
  const assembler = createAssembler()
  let sink: LiteralSink | undefined
  let kept: { bytes: Buffer; filled: number } | undefined

  const reader = createReader({
    segment(text, literal) {
      assembler.segment(text)
      if (literal === null) hear(assembler.finish())
      else begin(literal)
    },
    chunk(bytes) {
      if (sink) {
        sink.write(bytes)
        onTaken()
      } else if (kept) kept.filled += bytes.copy(kept.bytes, kept.filled)
    },
    literalEnd() {
      if (kept) assembler.literal(kept.bytes)
      sink = kept = undefined
    },
  })

  function begin(size: number): void {
    for (const listener of listeners()) {
      sink = listener.literal?.(assembler.head, size)
      if (sink) return assembler.literal({ streamed: size })
    }
    if (size > LIMITS.inlineLiteral) throw new NotImap(`it sent ${size} unexpected bytes`)
    kept = { bytes: Buffer.allocUnsafe(size), filled: 0 }
  }

  return { push: (chunk) => reader.push(chunk), fail: (reason) => sink?.fail(reason) }
}
