import { maxMessageBytes, createLiteralPolicy, appendHeaderOf, maxNonSyncLiteralBytes } from './append-header.ts'
import { repeat, awaitOutcomes, type AppendOutcome, type AppendAttempt } from './append-outcome.ts'
import { createAppendWindow } from './append-window.ts'
import { astring } from '../connection/command-encoding.ts'
import { isUnusualDate, serialiseDate } from './flags-and-dates.ts'
import { LIMITS } from '../limits.ts'
import type { ByteString } from '../folders/mailbox-name.ts'
import type { CommandWriter } from '../connection/command-writer.ts'
import { classifyRefusal, ImapLost, isTemporary, type Refusal } from '../connection/refusals.ts'
import type { Command, Wire } from '../connection/wire.ts'

/** A message on its way into a mailbox. Flags and date may be as the source gave them: what may be sent is chosen here. */
export type AppendMessage = {
  /** Bytes of `body`: of the literal that was fetched, never RFC822.SIZE. */
  size: number
  body: Buffer | AsyncIterable<Buffer>
  flags: readonly string[]
  /** As the source wrote it; left out when it is no real date. */
  internalDate: string | null
}

/** A batch that was written. `outcomes` has one entry for each message, in order, and never rejects. */
export type SubmittedBatch = { outcomes: Promise<AppendOutcome[]> }

export type Appender = {
  readonly wire: Wire
  /**
   * Writes a batch as soon as the window has room; the next may be submitted then. Batches are answered in any order.
   * Where the server takes several messages in one command (MULTIAPPEND) those in memory are all or nothing; refused
   * for what may be one message's fault, they are repeated one by one. Never rejects.
   */
  submit(batch: readonly AppendMessage[]): Promise<SubmittedBatch>
  readonly mode: 'multiappend' | 'pipelined' | 'chained'
}

export type AppenderOptions = {
  /** PERMANENTFLAGS of the mailbox, as `select` gave them. */
  permanentFlags: readonly string[] | null
  /** One message a command, even where several could be. */
  singly?: boolean
  /** Ask before every literal: for a server that once answered BAD. */
  synchronising?: boolean
  /** One set for all appenders to one account: a set of keywords that was taken once need not be tried again. */
  shapes?: Set<string>
}

/**
 * Appends to one mailbox over one connection.
 * @param mailbox its name exactly as listed
 */
export function createAppender(wire: Wire, mailbox: ByteString, options: AppenderOptions): Appender {
  const { permanentFlags, singly = false, synchronising = false, shapes = new Set() } = options
  const nonSyncLimit = synchronising ? -1 : maxNonSyncLiteralBytes(wire)
  const isMulti = !singly && wire.capabilities.has('MULTIAPPEND')
  const sizeLimit = maxMessageBytes(wire)
  const canSendBinary = wire.capabilities.has('BINARY')
  const literals = createLiteralPolicy(nonSyncLimit, shapes)
  const window = createAppendWindow(LIMITS.appendWindow)
  const name = astring(mailbox)

  async function submit(batch: readonly AppendMessage[]): Promise<SubmittedBatch> {
    const parts: SubmittedBatch[] = []
    for (const messages of commandsOf(batch, canShareCommand)) parts.push(await submitCommand(messages))
    return { outcomes: Promise.all(parts.map(({ outcomes }) => outcomes)).then((all) => all.flat()) }
  }

  /** What a server may refuse before it reads it would take the others of its command along. */
  function canShareCommand(message: AppendMessage): boolean {
    if (!isMulti || !Buffer.isBuffer(message.body) || containsNul(message)) return false
    if (findSizeProblem(message.size, sizeLimit) !== null) return false
    const date = message.internalDate === null ? null : serialiseDate(message.internalDate)
    return date === null || !isUnusualDate(date)
  }

  async function submitCommand(messages: readonly AppendMessage[]): Promise<SubmittedBatch> {
    const unfit = messages.map(({ size }) => findSizeProblem(size, sizeLimit)).find((refusal) => refusal !== null)
    if (unfit) return { outcomes: Promise.resolve(repeat(messages.length, { state: 'refused', refusal: unfit })) }
    const bytes = messages.reduce((sum, { size }) => sum + size, 0)
    await window.acquire(bytes)
    const attempt = await write(messages)
    return { outcomes: resolveOutcomes(attempt, messages, bytes) }
  }

  async function resolveOutcomes(
    attempt: AppendAttempt,
    messages: readonly AppendMessage[],
    bytes: number,
  ): Promise<AppendOutcome[]> {
    const outcomes = await awaitOutcomes(attempt, messages.length)
    window.release(bytes)
    if (messages.length === 1 || !mayBeOneMessagesFault(outcomes[0])) return outcomes
    // Nothing of it is stored (RFC 3502, 6.3.11), and whose fault it was is not known: none is refused by it.
    if (wire.lost) return repeat(messages.length, { state: 'unsent', lost: wire.lost })
    const alone = await Promise.all(messages.map((message) => submitCommand([message])))
    return (await Promise.all(alone.map((submitted) => submitted.outcomes))).flat()
  }

  async function write(messages: readonly AppendMessage[]): Promise<AppendAttempt> {
    const attempt: AppendAttempt = { command: null, isCommitted: false, lost: null }
    try {
      await wire.withWriter((writer, begin) => writeCommand(writer, (attempt.command = begin()), messages, attempt))
    } catch (error) {
      attempt.lost = error instanceof ImapLost ? error : new ImapLost('ours', 'The message broke off on its way here.')
      // A literal cannot be taken back: only the end of the connection keeps half a message from being stored.
      wire.destroy(attempt.lost)
    }
    return attempt
  }

  async function writeCommand(
    writer: CommandWriter,
    command: Command,
    messages: readonly AppendMessage[],
    attempt: AppendAttempt,
  ): Promise<void> {
    await writer.write(`${command.tag} APPEND `)
    if (typeof name === 'string') await writer.write(name)
    else {
      await writer.write(`{${name.length}}\r\n`)
      if (!(await command.awaitContinuation())) return
      await writer.write(name)
    }
    for (const message of messages) {
      const header = appendHeaderOf(message, permanentFlags)
      const isBinary = canSendBinary && containsNul(message)
      const mayRush = !isBinary && literals.canSkipContinuation(header, message.size)
      if (mayRush) command.guardLiteral()
      await writer.write(`${header.text} ${isBinary ? '~' : ''}{${message.size}${mayRush ? '+' : ''}}\r\n`)
      if (!mayRush) {
        if (!(await command.awaitContinuation())) return
        literals.recordAccepted(header)
        command.guardLiteral()
      }
      await writeBody(writer, message)
    }
    attempt.isCommitted = true
    await writer.write('\r\n')
  }

  const mode = isMulti ? 'multiappend' : nonSyncLimit >= 0 ? 'pipelined' : 'chained'
  return { wire, submit, mode }
}

/** Only a literal8 may carry NUL (RFC 3516, 4.4). What streams has to do without: nobody has seen it whole. */
function containsNul({ body }: AppendMessage): boolean {
  return Buffer.isBuffer(body) && body.includes(0)
}

/** The bytes that were announced, no more and no fewer. */
async function writeBody(writer: CommandWriter, { size, body }: AppendMessage): Promise<void> {
  if (Buffer.isBuffer(body)) {
    if (body.length !== size) throw new Error(`a body of ${body.length} bytes was announced as ${size}`)
    return writer.write(body)
  }
  let written = 0
  for await (const chunk of body) {
    written += chunk.length
    if (written > size) throw new Error('a body is longer than announced')
    await writer.write(chunk)
  }
  if (written < size) throw new Error('a body is shorter than announced')
}

/** What need not be tried. Cyrus invites an empty literal, refuses it at once, and takes its end for a command. */
function findSizeProblem(size: number, sizeLimit: number): Refusal | null {
  if (size === 0) return classifyRefusal('NO', null, 'The message is empty; servers do not store such.')
  if (size <= sizeLimit) return null
  return classifyRefusal('NO', 'APPENDLIMIT', `The server takes messages of at most ${sizeLimit} bytes.`)
}

/** Bodies that stream, those that are not tried, those with NUL and those of unusual dates have a command of their own. */
function commandsOf(batch: readonly AppendMessage[], mayShare: (message: AppendMessage) => boolean): AppendMessage[][] {
  const commands: AppendMessage[][] = []
  let isOpen = false
  for (const message of batch) {
    const isShared = mayShare(message)
    if (isShared && isOpen) commands.at(-1)?.push(message)
    else commands.push([message])
    isOpen = isShared
  }
  return commands
}

/** Whether the messages of a refused batch may fare better alone. */
function mayBeOneMessagesFault(outcome: AppendOutcome | undefined): boolean {
  if (outcome?.state !== 'refused') return false
  const { refusal } = outcome
  return !isTemporary(refusal) && refusal.kind !== 'no_such_mailbox' && refusal.kind !== 'not_permitted'
}
