import {
  resultOf,
  writeCommand,
  type Command,
  type CommandResult,
} from '../connection/imap-command.ts'
import type { CommandPart } from '../connection/command-encoding.ts'
import type { Listener } from '../connection/listener.ts'
import type { Wire } from '../connection/wire.ts'
import type { ByteString } from './mailbox-name.ts'
import { createOpening, type OpenedMailbox, type OpeningVerb } from './mailbox.ts'

/**
 * A connection as one mailbox sees it, where several mailboxes share the connection: each command
 * finds the mailbox open. It is opened again when another one was opened meanwhile; the opening and
 * the command are sent together.
 */
export type MailboxView = Wire & {
  readonly name: ByteString
  /**
   * The mailbox as its latest opening described it; opens it if it is not described yet.
   * @throws ImapRefused, ImapLost, and the error of `changed`
   */
  opened(): Promise<OpenedMailbox>
  /** Opens it again, and describes it as it is now. */
  reopen(): Promise<OpenedMailbox>
  /** Whether the connection was lost during a command of this mailbox. */
  isSuspect(): boolean
}

export type MailboxViewOptions = {
  verb: OpeningVerb
  name: ByteString
  /** The error of commands for which the mailbox was opened again and had other UIDs. */
  changed: () => Error
}

/**
 * An opening that was sent. Commands behind it are sent before it is answered: while it is not
 * `isValid`, their responses are of no or another mailbox.
 */
type Opening = { isValid: boolean; hasFailed: boolean; described: Promise<OpenedMailbox> }

/** The latest opening that was sent on each connection. */
const latest = new WeakMap<Wire, Opening>()

/** Creates a view. Only views may open mailboxes on the connection. */
export function createMailboxView(wire: Wire, options: MailboxViewOptions): MailboxView {
  return new View(wire, options)
}

class View implements MailboxView {
  readonly name: ByteString
  readonly #wire: Wire
  readonly #options: MailboxViewOptions
  readonly #commands = new WeakSet<Command>()
  #opening: Opening | undefined
  #starting: Promise<OpenedMailbox> | undefined
  /** Of the first opening; undefined before it. */
  #uidValidity: number | null | undefined

  constructor(wire: Wire, options: MailboxViewOptions) {
    this.#wire = wire
    this.#options = options
    this.name = options.name
  }

  async run(parts: CommandPart[], listener: Listener = {}): Promise<CommandResult> {
    const { opening, command } = await this.#wire.withWriter(async (writer, begin) => {
      const sent = await this.#open(writer, begin)
      const started = this.#begin(begin, guarded(listener, sent))
      await writeCommand(writer, started, parts)
      return { opening: sent, command: started }
    })
    const result = resultOf(command, parts)
    result.catch(() => undefined)
    await opening.described
    return result
  }

  async opened(): Promise<OpenedMailbox> {
    if (this.#opening && !this.#opening.hasFailed) return this.#opening.described
    this.#starting ??= this.reopen().finally(() => (this.#starting = undefined))
    return this.#starting
  }

  async reopen(): Promise<OpenedMailbox> {
    const opening = await this.#wire.withWriter((writer, begin) => this.#open(writer, begin, true))
    return opening.described
  }

  isSuspect(): boolean {
    const { lostDuring } = this.#wire
    return lostDuring !== null && this.#commands.has(lostDuring)
  }

  /** Sends an opening where the mailbox is not the open one. */
  async #open(writer: Writer, begin: Begin, isAnew = false): Promise<Opening> {
    const known = this.#opening
    if (known && !isAnew && !known.hasFailed && latest.get(this.#wire) === known) return known
    const { verb, name } = this.#options
    const sent = createOpening(verb, name)
    const opening = { isValid: false, hasFailed: false } as Opening
    const command = this.#begin(begin, {
      ...sent.listener,
      mailbox: opening,
      end: (result) => {
        opening.isValid = result.status === 'OK' && this.#hasSameUids(sent.end(result))
        opening.hasFailed = !opening.isValid
      },
    })
    opening.described = resultOf(command, sent.parts).then((result) => {
      if (opening.isValid) return sent.end(result)
      throw this.#options.changed()
    })
    opening.described.catch(() => (opening.hasFailed = true))
    this.#opening = opening
    latest.set(this.#wire, opening)
    await writeCommand(writer, command, sent.parts)
    return opening
  }

  #hasSameUids({ uidValidity }: OpenedMailbox): boolean {
    const isSame = this.#uidValidity === undefined || this.#uidValidity === uidValidity
    // The opening after the failed one has nothing to be compared with.
    this.#uidValidity = isSame ? uidValidity : undefined
    return isSame
  }

  #begin(begin: Begin, listener: Listener): Command {
    const command = begin({ ...listener, about: this.#options.name })
    this.#commands.add(command)
    return command
  }

  get capabilities(): Wire['capabilities'] {
    return this.#wire.capabilities
  }
  get lost(): Wire['lost'] {
    return this.#wire.lost
  }
  get lostDuring(): Wire['lostDuring'] {
    return this.#wire.lostDuring
  }
  get gone(): Wire['gone'] {
    return this.#wire.gone
  }
  readonly withWriter: Wire['withWriter'] = (write) => this.#wire.withWriter(write)
  readonly pauseReading: Wire['pauseReading'] = () => this.#wire.pauseReading()
  readonly resumeReading: Wire['resumeReading'] = () => this.#wire.resumeReading()
  readonly logout: Wire['logout'] = () => this.#wire.logout()
  readonly destroy: Wire['destroy'] = (reason) => this.#wire.destroy(reason)
}

type Write = Parameters<Wire['withWriter']>[0]
type Writer = Parameters<Write>[0]
type Begin = Parameters<Write>[1]

/** Passes responses on only if they are of the opened mailbox. */
function guarded(listener: Listener, opening: Opening): Listener {
  return {
    mailbox: opening,
    data: (values) => opening.isValid && listener.data?.(values) === true,
    code: (code) => listener.code?.(code),
    literal: (head, size) => (opening.isValid ? listener.literal?.(head, size) : DISCARDING_SINK),
    ...(listener.end && { end: (result) => listener.end?.(result) }),
  }
}

const DISCARDING_SINK = { write: () => undefined, fail: () => undefined }
