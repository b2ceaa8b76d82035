import { appendLimit, createProofs, headerOf, literalLimit } from './append-header.ts'
import { fill, outcomesOf, type AppendOutcome, type Attempt } from './append-outcome.ts'
import { createWindow } from './append-window.ts'
import { astring } from './encode.ts'
import { isUnusualDate, serialiseDate } from './flags-and-dates.ts'
import { LIMITS } from './limits.ts'
import type { ByteString } from './mailbox-name.ts'
import type { Out } from './out.ts'
import { classify, ImapLost, mayPass, type Refusal } from './refusals.ts'
import type { Command, Wire } from './wire.ts'

/** A message on its way into a mailbox. Flags and date may be as the source gave them: what may be sent is chosen here. */
export type Outgoing = {
  /** Bytes of `body`: of the literal that was fetched, never RFC822.SIZE. */
  size: number
  body: Buffer | AsyncIterable<Buffer>
  flags: readonly string[]
  /** As the source wrote it; left out when it is no real date. */
  internalDate: string | null
}

/** A batch that was written. `outcomes` has one entry for each message, in order, and never rejects. */
export type Submitted = { outcomes: Promise<AppendOutcome[]> }

export type Appender = {
  readonly wire: Wire
  /**
   * Writes a batch as soon as the window has room; the next may be submitted then. Batches are answered in any order.
   * Where the server takes several messages in one command (MULTIAPPEND) those in memory are all or nothing; refused
   * for what may be one message's fault, they are repeated one by one. Never rejects.
   */
  submit(batch: readonly Outgoing[]): Promise<Submitted>
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
  const rushLimit = synchronising ? -1 : literalLimit(wire)
  const isMulti = !singly && wire.capabilities.has('MULTIAPPEND')
  const sizeLimit = appendLimit(wire)
  const mayBeBinary = wire.capabilities.has('BINARY')
  const proofs = createProofs(rushLimit, shapes)
  const window = createWindow(LIMITS.appendWindow)
  const name = astring(mailbox)

  async function submit(batch: readonly Outgoing[]): Promise<Submitted> {
    const parts: Submitted[] = []
    for (const messages of commandsOf(batch, mayShare)) parts.push(await submitCommand(messages))
    return { outcomes: Promise.all(parts.map(({ outcomes }) => outcomes)).then((all) => all.flat()) }
  }

  /** What a server may refuse before it reads it would take the others of its command along. */
  function mayShare(message: Outgoing): boolean {
    if (!isMulti || !Buffer.isBuffer(message.body) || holdsNul(message)) return false
    if (whyUnfit(message.size, sizeLimit) !== null) return false
    const date = message.internalDate === null ? null : serialiseDate(message.internalDate)
    return date === null || !isUnusualDate(date)
  }

  async function submitCommand(messages: readonly Outgoing[]): Promise<Submitted> {
    const unfit = messages.map(({ size }) => whyUnfit(size, sizeLimit)).find((refusal) => refusal !== null)
    if (unfit) return { outcomes: Promise.resolve(fill(messages.length, { state: 'refused', refusal: unfit })) }
    const bytes = messages.reduce((sum, { size }) => sum + size, 0)
    await window.take(bytes)
    const attempt = await write(messages)
    return { outcomes: settle(attempt, messages, bytes) }
  }

  async function settle(attempt: Attempt, messages: readonly Outgoing[], bytes: number): Promise<AppendOutcome[]> {
    const outcomes = await outcomesOf(attempt, messages.length)
    window.give(bytes)
    if (messages.length === 1 || !isOnesFault(outcomes[0])) return outcomes
    // Nothing of it is stored (RFC 3502, 6.3.11), and whose fault it was is not known: none is refused by it.
    if (wire.lost) return fill(messages.length, { state: 'unsent', lost: wire.lost })
    const alone = await Promise.all(messages.map((message) => submitCommand([message])))
    return (await Promise.all(alone.map((submitted) => submitted.outcomes))).flat()
  }

  async function write(messages: readonly Outgoing[]): Promise<Attempt> {
    const attempt: Attempt = { command: null, isCommitted: false, lost: null }
    try {
      await wire.turn((out, begin) => writeCommand(out, (attempt.command = begin()), messages, attempt))
    } catch (error) {
      attempt.lost = error instanceof ImapLost ? error : new ImapLost('ours', 'The message broke off on its way here.')
      // A literal cannot be taken back: only the end of the connection keeps half a message from being stored.
      wire.destroy(attempt.lost)
    }
    return attempt
  }

  async function writeCommand(
    out: Out,
    command: Command,
    messages: readonly Outgoing[],
    attempt: Attempt,
  ): Promise<void> {
    await out.write(`${command.tag} APPEND `)
    if (typeof name === 'string') await out.write(name)
    else {
      await out.write(`{${name.length}}\r\n`)
      if (!(await command.go())) return
      await out.write(name)
    }
    for (const message of messages) {
      const header = headerOf(message, permanentFlags)
      const isBinary = mayBeBinary && holdsNul(message)
      const mayRush = !isBinary && proofs.mayRush(header, message.size)
      if (mayRush) command.guard()
      await out.write(`${header.text} ${isBinary ? '~' : ''}{${message.size}${mayRush ? '+' : ''}}\r\n`)
      if (!mayRush) {
        if (!(await command.go())) return
        proofs.prove(header)
        command.guard()
      }
      await writeBody(out, message)
    }
    attempt.isCommitted = true
    await out.write('\r\n')
  }

  const mode = isMulti ? 'multiappend' : rushLimit >= 0 ? 'pipelined' : 'chained'
  return { wire, submit, mode }
}

/** Only a literal8 may carry NUL (RFC 3516, 4.4). What streams has to do without: nobody has seen it whole. */
function holdsNul({ body }: Outgoing): boolean {
  return Buffer.isBuffer(body) && body.includes(0)
}

/** The bytes that were announced, no more and no fewer. */
async function writeBody(out: Out, { size, body }: Outgoing): Promise<void> {
  if (Buffer.isBuffer(body)) {
    if (body.length !== size) throw new Error(`a body of ${body.length} bytes was announced as ${size}`)
    return out.write(body)
  }
  let written = 0
  for await (const chunk of body) {
    written += chunk.length
    if (written > size) throw new Error('a body is longer than announced')
    await out.write(chunk)
  }
  if (written < size) throw new Error('a body is shorter than announced')
}

/** What need not be tried. Cyrus invites an empty literal, refuses it at once, and takes its end for a command. */
function whyUnfit(size: number, sizeLimit: number): Refusal | null {
  if (size === 0) return classify('NO', null, 'The message is empty; servers do not store such.')
  if (size <= sizeLimit) return null
  return classify('NO', 'APPENDLIMIT', `The server takes messages of at most ${sizeLimit} bytes.`)
}

/** Bodies that stream, those that are not tried, those with NUL and those of unusual dates have a command of their own. */
function commandsOf(batch: readonly Outgoing[], mayShare: (message: Outgoing) => boolean): Outgoing[][] {
  const commands: Outgoing[][] = []
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
function isOnesFault(outcome: AppendOutcome | undefined): boolean {
  if (outcome?.state !== 'refused') return false
  const { refusal } = outcome
  return !mayPass(refusal) && refusal.kind !== 'no_such_mailbox' && refusal.kind !== 'not_permitted'
}
