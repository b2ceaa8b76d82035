import {
  maxMessageBytes,
  createLiteralPolicy,
  appendHeaderOf,
  maxNonSyncLiteralBytes,
  type AppendHeader,
  type LiteralPolicy,
} from './append-header.ts'
import { repeat, awaitOutcomes, type AppendOutcome, type AppendAttempt } from './append-outcome.ts'
import { createAppendWindow } from './append-window.ts'
import { astring, type CommandPart } from '../connection/command-encoding.ts'
import { IMAP_LIMITS } from '../limits.ts'
import type { ByteString } from '../folders/mailbox-name.ts'
import type { CommandWriter } from '../connection/command-writer.ts'
import { classifyRefusal, ImapLost, isTemporary, type Refusal } from '../connection/refusals.ts'
import type { Command } from '../connection/imap-command.ts'
import type { Wire } from '../connection/wire.ts'

/**
 * A message to append. Flags and date may be as the source gave them; the appender removes what
 * cannot be sent.
 */
export type AppendMessage = {
  /** Bytes of `body`, which is the fetched literal: never RFC822.SIZE. */
  size: number
  body: Buffer | AsyncIterable<Buffer>
  flags: readonly string[]
  /** The date as the source wrote it; left out if it is not valid. */
  internalDate: string | null
}

/** A message with its header, which is built once. */
type HeadedMessage = AppendMessage & { header: AppendHeader }

/** A written batch. `outcomes` has one entry for each message, in order, and never rejects. */
type SubmittedBatch = { outcomes: Promise<AppendOutcome[]> }

export type Appender = {
  readonly wire: Wire
  /**
   * Writes a batch as soon as the window has space, and resolves when the next may be submitted.
   * Responses arrive in any order. With MULTIAPPEND, the messages in memory are stored all or not
   * at all. If the server rejects them for what may be the fault of one message, they are sent
   * again one by one. Never rejects.
   */
  submit(batch: readonly AppendMessage[]): Promise<SubmittedBatch>
  readonly mode: 'multiappend' | 'pipelined' | 'chained'
}

export type AppenderOptions = {
  /** PERMANENTFLAGS of the mailbox, as `select` returned them. */
  permanentFlags: readonly string[] | null
  /** Sends one message per command, even with MULTIAPPEND. */
  singly?: boolean
  /** Waits for a continuation before every literal, for servers that once answered BAD. */
  synchronising?: boolean
  /**
   * Accepted headers, shared by all appenders of an account: a set of keywords accepted once need
   * not be tested again.
   */
  shapes?: Set<string>
  /** Whether the server discards the literals of commands that it rejects for their mailbox. */
  discardsLiterals?: Promise<boolean>
}

/**
 * Creates an appender for one mailbox on one connection.
 * @param mailbox its name exactly as listed
 */
export function createAppender(
  wire: Wire,
  mailbox: ByteString,
  options: AppenderOptions,
): Appender {
  return new MailboxAppender(wire, mailbox, options)
}

class MailboxAppender implements Appender {
  readonly wire: Wire
  readonly mode: Appender['mode']
  readonly #mailbox: CommandPart
  readonly #name: ByteString
  readonly #permanentFlags: AppenderOptions['permanentFlags']
  readonly #isMulti: boolean
  readonly #sizeLimit: number
  readonly #canSendBinary: boolean
  readonly #literals: LiteralPolicy
  readonly #discardsLiterals: Promise<boolean> | undefined
  readonly #window = createAppendWindow(IMAP_LIMITS.appendWindow)

  constructor(wire: Wire, mailbox: ByteString, options: AppenderOptions) {
    const { permanentFlags, singly = false, synchronising = false, shapes = new Set() } = options
    const nonSyncLimit = synchronising ? -1 : maxNonSyncLiteralBytes(wire)
    this.wire = wire
    this.#mailbox = astring(mailbox)
    this.#name = mailbox
    this.#permanentFlags = permanentFlags
    this.#isMulti = !singly && wire.capabilities.has('MULTIAPPEND')
    this.#discardsLiterals = options.discardsLiterals
    this.#sizeLimit = maxMessageBytes(wire)
    this.#canSendBinary = wire.capabilities.has('BINARY')
    this.#literals = createLiteralPolicy(nonSyncLimit, shapes)
    this.mode = this.#isMulti ? 'multiappend' : nonSyncLimit >= 0 ? 'pipelined' : 'chained'
  }

  async submit(batch: readonly AppendMessage[]): Promise<SubmittedBatch> {
    if (await this.#discardsLiterals?.catch(() => false)) this.#literals.trustMailbox()
    const parts: SubmittedBatch[] = []
    for (const messages of this.#splitIntoCommands(batch))
      parts.push(await this.#submitCommand(messages))
    return {
      outcomes: Promise.all(parts.map(({ outcomes }) => outcomes)).then((all) => all.flat()),
    }
  }

  /**
   * Splits a batch into commands. Streamed bodies, messages that will not be sent, bodies with NUL
   * and unusual dates get a command of their own.
   */
  #splitIntoCommands(batch: readonly AppendMessage[]): HeadedMessage[][] {
    const commands: HeadedMessage[][] = []
    let isOpen = false
    for (const unheaded of batch) {
      const message = { ...unheaded, header: appendHeaderOf(unheaded, this.#permanentFlags) }
      const isShared = this.#canShareCommand(message)
      if (isShared && isOpen) commands.at(-1)?.push(message)
      else commands.push([message])
      isOpen = isShared
    }
    return commands
  }

  /**
   * A message that the server may reject before reading it would take the other messages of its
   * command along.
   */
  #canShareCommand(message: HeadedMessage): boolean {
    if (!this.#isMulti || !Buffer.isBuffer(message.body) || containsNul(message)) return false
    return findSizeProblem(message.size, this.#sizeLimit) === null && message.header.shape !== null
  }

  async #submitCommand(messages: readonly HeadedMessage[]): Promise<SubmittedBatch> {
    const unfit = messages
      .map(({ size }) => findSizeProblem(size, this.#sizeLimit))
      .find((refusal) => refusal !== null)
    if (unfit)
      return {
        outcomes: Promise.resolve(repeat(messages.length, { state: 'refused', refusal: unfit })),
      }
    const bytes = messages.reduce((sum, { size }) => sum + size, 0)
    await this.#window.acquire(bytes)
    const attempt = await this.#write(messages)
    return { outcomes: this.#resolveOutcomes(attempt, messages, bytes) }
  }

  async #resolveOutcomes(
    attempt: AppendAttempt,
    messages: readonly HeadedMessage[],
    bytes: number,
  ): Promise<AppendOutcome[]> {
    const outcomes = await awaitOutcomes(attempt, messages.length, this.wire)
    this.#window.release(bytes)
    if (messages.length === 1 || !mayBeOneMessagesFault(outcomes[0])) return outcomes
    // Nothing of it is stored (RFC 3502, 6.3.11), and the message at fault is unknown, so none
    // counts as rejected.
    const { lost } = this.wire
    // A BAD for this command ended the connection.
    const isSuspect = lost?.reason === 'protocol'
    if (lost) return repeat(messages.length, { state: 'unsent', lost, isSuspect })
    const alone = await Promise.all(messages.map((message) => this.#submitCommand([message])))
    return (await Promise.all(alone.map((submitted) => submitted.outcomes))).flat()
  }

  async #write(messages: readonly HeadedMessage[]): Promise<AppendAttempt> {
    const attempt: AppendAttempt = {
      command: null,
      isCommitted: false,
      unsentBodies: 0,
      lost: null,
    }
    try {
      await this.wire.withWriter((writer, begin) =>
        this.#writeCommand(
          writer,
          (attempt.command = begin({ about: this.#name })),
          messages,
          attempt,
        ),
      )
    } catch (error) {
      attempt.lost =
        error instanceof ImapLost
          ? error
          : new ImapLost('ours', 'The message broke off on its way here.')
      // A literal cannot be cancelled: only closing the connection keeps half a message from being
      // stored.
      this.wire.destroy(attempt.lost)
    }
    return attempt
  }

  /** Stops when the server ends the command instead of continuing it. */
  async #writeCommand(
    writer: CommandWriter,
    command: Command,
    messages: readonly HeadedMessage[],
    attempt: AppendAttempt,
  ): Promise<void> {
    await writer.write(`${command.tag} APPEND `)
    const mailbox = this.#mailbox
    if (typeof mailbox === 'string') await writer.write(mailbox)
    else {
      await writer.write(`{${mailbox.length}}\r\n`)
      if (!(await command.awaitContinuation())) return
      await writer.write(mailbox)
    }
    // Messages that share a command have no NUL.
    const isAlone = messages.length === 1
    for (const message of messages) {
      const { header } = message
      const isBinary = isAlone && this.#canSendBinary && containsNul(message)
      const isNonSync = !isBinary && this.#literals.canSkipContinuation(header, message.size)
      if (isNonSync) command.guardLiteral()
      await writer.write(
        `${header.text} ${isBinary ? '~' : ''}{${message.size}${isNonSync ? '+' : ''}}\r\n`,
      )
      if (!isNonSync) {
        if (!(await command.awaitContinuation())) return
        this.#literals.recordAccepted(header)
        command.guardLiteral()
      }
      await writeBody(writer, message, attempt)
    }
    attempt.isCommitted = true
    await writer.write('\r\n')
  }
}

/**
 * Only a literal8 may contain NUL (RFC 3516, 4.4). A streamed body is not scanned, because it is
 * never in memory as a whole.
 */
function containsNul({ body }: AppendMessage): boolean {
  return Buffer.isBuffer(body) && body.includes(0)
}

/** Writes exactly the announced number of bytes. */
async function writeBody(
  writer: CommandWriter,
  { size, body }: AppendMessage,
  attempt: AppendAttempt,
): Promise<void> {
  if (Buffer.isBuffer(body)) {
    if (body.length !== size)
      throw new Error(`a body of ${body.length} bytes was announced as ${size}`)
    attempt.unsentBodies += 1
    return writer.write(body, () => (attempt.unsentBodies -= 1))
  }
  let written = 0
  for await (const chunk of body) {
    written += chunk.length
    if (written > size) throw new Error('a body is longer than announced')
    await writer.write(chunk)
  }
  if (written < size) throw new Error('a body is shorter than announced')
}

/**
 * Finds sizes that are not worth sending. Cyrus sends a continuation for an empty literal, rejects
 * it at once, and reads its end as a command.
 */
function findSizeProblem(size: number, sizeLimit: number): Refusal | null {
  if (size === 0)
    return classifyRefusal('NO', null, 'The message is empty; servers do not store such.')
  if (size <= sizeLimit) return null
  return classifyRefusal(
    'NO',
    'APPENDLIMIT',
    `The server takes messages of at most ${sizeLimit} bytes.`,
  )
}

/** Whether the messages of a rejected batch may succeed one by one. */
function mayBeOneMessagesFault(outcome: AppendOutcome | undefined): boolean {
  if (outcome?.state !== 'refused') return false
  const { refusal } = outcome
  return (
    !isTemporary(refusal) && refusal.kind !== 'no_such_mailbox' && refusal.kind !== 'not_permitted'
  )
}
