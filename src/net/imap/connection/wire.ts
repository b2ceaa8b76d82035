import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { freeBuffer } from '../../free-buffer.ts'
import {
  CommandInFlight,
  resultOf,
  writeCommand,
  type Command,
  type CommandResult,
} from './imap-command.ts'
import type { CommandPart } from './command-encoding.ts'
import { TIMEOUTS } from '../limits.ts'
import type { Listener } from './listener.ts'
import { createResponseDispatcher, type ResponseDispatcher } from './response-dispatcher.ts'
import { NotImap } from './response-parser.ts'
import { classifyRefusal, ImapLost, sanitise, type Refusal } from './refusals.ts'
import type { Response, ResponseCode, Value } from './response.ts'
import { createWatchdog, type Watchdog } from './watchdog.ts'
import { createCommandWriter, type CommandWriter } from './command-writer.ts'

/**
 * A signed-in connection on which commands are written one after another and answered in any order.
 * It is always read, unless a consumer of bodies pauses it. Responses without a listener are
 * dropped.
 */
export type Wire = {
  /** The capabilities of the server, in capitals. */
  readonly capabilities: ReadonlySet<string>
  /** Null while the connection is open, then the reason of its loss. */
  readonly lost: ImapLost | null
  /**
   * The oldest command without a response when the connection was lost: a server processes commands
   * in order, so it may be the reason. Null if there was none.
   */
  readonly lostDuring: Command | null
  /** Resolves with the reason when the connection is lost; never rejects. */
  readonly gone: Promise<ImapLost>
  /**
   * Runs one command.
   * @param parts the command after its tag
   * @throws ImapRefused on NO and BAD, ImapLost
   */
  run(parts: CommandPart[], listener?: Listener): Promise<CommandResult>
  /**
   * Gives exclusive write access until `write` ends. Commands started in it are pipelined with
   * later ones.
   */
  withWriter<T>(
    write: (writer: CommandWriter, begin: (listener?: Listener) => Command) => Promise<T>,
  ): Promise<T>
  /** Pause and resume reading. Each pause needs its resume. */
  pauseReading(): void
  resumeReading(): void
  /** Sends LOGOUT, waits briefly and closes the connection; never throws. */
  logout(): Promise<void>
  /** Closes the connection now. All commands in flight end as lost. */
  destroy(reason: ImapLost): void
}

type WireOptions = {
  capabilities: Iterable<string>
  /** Milliseconds without a byte while a response is due. */
  silenceMs?: number
  /** Milliseconds without any part of a response while one is due. */
  standstillMs?: number
  /** Milliseconds of silence within a literal, after a line that would end a command. */
  shortLiteralMs?: number
  /** Whether chunks that were read belong to the reader alone, as those of sockets do. */
  ownsChunks?: boolean
}

/**
 * Takes over a socket without listeners, right after sign-in. While a response is due, the
 * connection is lost with the reason `timeout` after `silenceMs` without a byte, or after
 * `standstillMs` without a response or data for a command, whatever else the server sends.
 */
export function createWire(
  socket: Duplex,
  {
    capabilities,
    silenceMs = TIMEOUTS.silenceMs,
    standstillMs = TIMEOUTS.standstillMs,
    shortLiteralMs = TIMEOUTS.shortLiteralMs,
    ownsChunks = socket instanceof Socket,
  }: WireOptions,
): Wire {
  const times = { silenceMs, standstillMs, shortLiteralMs }
  return new ImapWire(socket, { capabilities, ...times, ownsChunks })
}

type StatusResponse = Extract<Response, { kind: 'status' }>

class ImapWire implements Wire {
  readonly capabilities: ReadonlySet<string>
  readonly gone: Promise<ImapLost>
  lost: ImapLost | null = null
  lostDuring: Command | null = null

  readonly #socket: Duplex
  readonly #ownsChunks: boolean
  readonly #watchdog: Watchdog
  readonly #writer: CommandWriter
  readonly #dispatcher: ResponseDispatcher
  readonly #markGone: (reason: ImapLost) => void
  /** The commands without a tagged response by their tag, oldest first. */
  readonly #inFlight = new Map<string, CommandInFlight>()
  #tags = 0
  #pauses = 0
  /** Resolves when the last consumer of `withWriter` so far has ended. */
  #lastTurn: Promise<unknown> = Promise.resolve()
  #bye: Refusal | null = null

  constructor(socket: Duplex, { capabilities, ownsChunks, ...times }: Required<WireOptions>) {
    const { promise, resolve } = Promise.withResolvers<ImapLost>()
    this.gone = promise
    this.#markGone = resolve
    this.capabilities = new Set([...capabilities].map((capability) => capability.toUpperCase()))
    this.#socket = socket
    this.#ownsChunks = ownsChunks
    this.#watchdog = createWatchdog(times, (reason) => this.destroy(reason))
    this.#writer = createCommandWriter(socket, () => {
      this.#watchdog.refresh()
      this.#watchdog.markProgress()
    })
    this.#dispatcher = createResponseDispatcher({
      listeners: () => this.#answerable(),
      onResponse: (response) => this.#dispatch(response),
      onLiteralData: () => this.#watchdog.markProgress(),
      ownsChunks,
    })
    this.#listen()
  }

  async run(parts: CommandPart[], listener?: Listener): Promise<CommandResult> {
    const command = await this.withWriter(async (to, begin) => {
      const started = begin(listener)
      await writeCommand(to, started, parts)
      return started
    })
    return resultOf(command, parts)
  }

  async withWriter<T>(
    write: (writer: CommandWriter, begin: (listener?: Listener) => Command) => Promise<T>,
  ): Promise<T> {
    const before = this.#lastTurn
    const { promise: mine, resolve: pass } = Promise.withResolvers<void>()
    this.#lastTurn = mine
    await before
    try {
      if (this.lost) throw this.lost
      return await write(this.#writer, this.#begin)
    } finally {
      pass()
    }
  }

  pauseReading(): void {
    this.#pauses += 1
    if (this.#pauses === 1) this.#socket.pause()
    this.#updateWatchdog()
  }

  resumeReading(): void {
    this.#pauses -= 1
    if (this.#pauses === 0) this.#socket.resume()
    this.#updateWatchdog()
  }

  async logout(): Promise<void> {
    const signedOut = () => this.destroy(new ImapLost('ours', 'Signed out.'))
    const bound = setTimeout(signedOut, TIMEOUTS.logoutMs)
    await this.run(['LOGOUT']).catch(() => undefined)
    clearTimeout(bound)
    signedOut()
  }

  destroy(reason: ImapLost): void {
    if (this.lost) return
    const oldest = this.#inFlight.values().next().value ?? null
    reason.at = { wire: this, mailbox: oldest?.listener.about ?? null }
    this.lost = reason
    this.lostDuring = oldest
    this.#updateWatchdog()
    this.#socket.destroy()
    this.#dispatcher.fail(reason)
    for (const command of this.#inFlight.values()) command.fail(reason)
    this.#inFlight.clear()
    this.#writer.fail(reason)
    this.#markGone(reason)
  }

  #listen(): void {
    this.#socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    this.#socket.on('end', () => this.#close(closedText(this.#bye)))
    this.#socket.on('close', () => this.#close(closedText(this.#bye)))
    this.#socket.on('error', ({ message }) => this.#close(`The connection broke: ${message}.`))
    this.#socket.resume()
  }

  #close(text: string): void {
    this.destroy(new ImapLost(this.#bye ? 'bye' : 'closed', text, this.#bye))
  }

  #updateWatchdog(): void {
    this.#watchdog.update(!this.lost && this.#inFlight.size > 0 && this.#pauses === 0)
  }

  /** Starts a command: its sender writes it, and its listener receives responses from now on. */
  readonly #begin = (listener: Listener = {}): Command => {
    const command = new CommandInFlight(`P${(this.#tags += 1)}`, listener)
    if (this.lost) command.fail(this.lost)
    else this.#inFlight.set(command.tag, command)
    this.#updateWatchdog()
    return command
  }

  #receive(chunk: Buffer): void {
    this.#watchdog.countBytes(chunk.length)
    try {
      // Before the chunk is freed.
      const end = endOf(chunk)
      const isKept = this.#dispatcher.push(chunk)
      if (end !== null && this.#dispatcher.isInLiteral && this.#inFlight.has(end))
        this.#watchdog.suspectEnd()
      if (!isKept && this.#ownsChunks) freeBuffer(chunk)
      this.#watchdog.checkStandstill()
    } catch (error) {
      if (!(error instanceof NotImap)) throw error
      this.destroy(
        new ImapLost('protocol', `The server does not speak IMAP: ${sanitise(error.message)}.`),
      )
    }
  }

  #dispatch(response: Response): void {
    this.#watchdog.refresh()
    if (response.kind === 'data') this.#dispatchData(response.values)
    else if (response.kind === 'continue') this.#continueOldest()
    else if (response.tag === '*') this.#handleUntagged(response)
    else this.#complete(response)
  }

  /**
   * The listeners that untagged responses can belong to, oldest first. Commands for another mailbox
   * than the open one get none: their responses come after the mailbox was opened.
   */
  *#answerable(): Generator<Listener> {
    let open: object | undefined
    for (const { listener } of this.#inFlight.values()) {
      open ??= listener.mailbox
      if (listener.mailbox === undefined || listener.mailbox === open) yield listener
    }
  }

  /** Data belongs to the oldest command that accepts it. */
  #dispatchData(values: Value[]): void {
    for (const listener of this.#answerable())
      if (listener.data?.(values)) return this.#watchdog.markProgress()
  }

  #continueOldest(): void {
    for (const command of this.#inFlight.values())
      if (command.awaitsContinuation) return command.continue()
  }

  #handleUntagged({ status, code, text }: StatusResponse): void {
    if (status === 'BYE') this.#bye = classifyRefusal('BYE', code?.name ?? null, text)
    if (status === 'BAD' && this.#hasGuardedLiteral()) this.#destroyMisread(text)
    if (code) this.#dispatchCode(code)
  }

  #dispatchCode(code: ResponseCode): void {
    for (const listener of this.#answerable()) listener.code?.(code)
  }

  #complete({ tag, status, code, text }: StatusResponse): void {
    const command = this.#inFlight.get(tag)
    if (!command || status === 'BYE' || status === 'PREAUTH')
      throw new NotImap(`it answered ${tag}, which was not asked`)
    if (this.#isOutOfOrder(command))
      throw new NotImap('it answered for another mailbox than the open one')
    this.#inFlight.delete(tag)
    this.#watchdog.markProgress()
    command.complete({ status, code, text })
    if (status === 'BAD' && command.isGuarded) this.#destroyMisread(text)
    this.#updateWatchdog()
  }

  /** Commands for a mailbox must end before the next mailbox is opened (RFC 3501, 5.5). */
  #isOutOfOrder({ listener: { mailbox } }: CommandInFlight): boolean {
    if (mailbox === undefined) return false
    for (const { listener } of this.#inFlight.values())
      if (listener.mailbox !== undefined) return listener.mailbox !== mailbox
    return false
  }

  #hasGuardedLiteral(): boolean {
    for (const { isGuarded } of this.#inFlight.values()) if (isGuarded) return true
    return false
  }

  /** The server may already read the following bytes as commands: nothing more may reach it. */
  #destroyMisread(text: string): void {
    this.destroy(
      new ImapLost(
        'protocol',
        'The server did not understand an APPEND.',
        classifyRefusal('BAD', null, text),
      ),
    )
  }
}

/** Bytes of a tagged response that are searched for its tag. */
const MAX_END_BYTES = 512

/** The tag of a tagged response at the end of a chunk. */
function endOf(chunk: Buffer): string | null {
  if (chunk.at(-1) !== 0x0a) return null
  const text = chunk.toString('latin1', Math.max(0, chunk.length - MAX_END_BYTES))
  return /(?:^|\n)(P\d+) (?:OK|NO|BAD)[^\n]*\n$/.exec(text)?.[1] ?? null
}

function closedText(bye: Refusal | null): string {
  return bye ? `The server closed the connection: ${bye.text}` : 'The server closed the connection.'
}
