import type { ImapLost } from './refusals.ts'
import type { ResponseCode, Value } from './response.ts'

/**
 * Receives a literal while it arrives. Chunks are slices of the buffer that was read and may be
 * stored as they are.
 */
export type LiteralSink = { write(chunk: Buffer): void; fail(error: ImapLost): void }

/**
 * Receives untagged responses for one command in flight. Where several could, the oldest command
 * gets a response alone.
 */
export type Listener = {
  /** Called for untagged data; true when the data belongs to this command. */
  data?(values: Value[]): boolean
  /** Called for an untagged OK or NO with a response code, such as `[UIDVALIDITY 7]`. */
  code?(code: ResponseCode): void
  /**
   * Called when a literal begins; `head` is the part of its response that was already read. Without
   * a sink, the literal is buffered in memory.
   */
  literal?(head: Value[], size: number): LiteralSink | undefined
}
