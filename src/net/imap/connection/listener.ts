import type { ByteString } from '../folders/mailbox-name.ts'
import type { CommandResult } from './command-result.ts'
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
  /** The mailbox that the command is about: where the connection is lost during it, `ImapLost.at`. */
  about?: ByteString
  /**
   * The opening of the mailbox that the command needs, where several mailboxes are opened in turn.
   * The command gets no responses while commands of an earlier opening are in flight.
   */
  mailbox?: object
  /** Called for untagged data; true when the data belongs to this command. */
  data?(values: Value[]): boolean
  /** Called for an untagged OK or NO with a response code, such as `[UIDVALIDITY 7]`. */
  code?(code: ResponseCode): void
  /**
   * Called when a literal begins; `head` is the part of its response that was already read. Without
   * a sink, the literal is buffered in memory.
   */
  literal?(head: Value[], size: number): LiteralSink | undefined
  /** Called with the tagged response, before any later response is read. */
  end?(result: CommandResult): void
}
