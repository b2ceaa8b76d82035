import type { CommandPart } from './command-encoding.ts'
import type { CommandWriter } from './command-writer.ts'
import type { Listener } from './listener.ts'
import { classifyRefusal, ImapRefused, type ImapLost } from './refusals.ts'
import type { CommandResult } from './command-result.ts'

export type { CommandResult } from './command-result.ts'

/** A command in flight, as its sender sees it. */
export type Command = {
  readonly tag: string
  /** The tagged response, whatever its status. Rejects only with `ImapLost`. */
  readonly answer: Promise<CommandResult>
  /**
   * Resolves with true at the server’s `+`, with false when the tagged response arrived instead.
   */
  awaitContinuation(): Promise<boolean>
  /**
   * From here on, a BAD means that the server reads literals as commands, and destroys the
   * connection at once.
   */
  guardLiteral(): void
}

/** A command in flight, as its connection sees it: it ends once, with `complete` or `fail`. */
export class CommandInFlight implements Command {
  readonly tag: string
  readonly listener: Listener
  readonly answer: Promise<CommandResult>
  isGuarded = false
  readonly #resolve: (result: CommandResult) => void
  readonly #reject: (lost: ImapLost) => void
  #hasEnded = false
  #continueWith: ((may: boolean) => void) | null = null

  constructor(tag: string, listener: Listener) {
    const { promise, resolve, reject } = Promise.withResolvers<CommandResult>()
    promise.catch(() => undefined)
    this.tag = tag
    this.listener = listener
    this.answer = promise
    this.#resolve = resolve
    this.#reject = reject
  }

  async awaitContinuation(): Promise<boolean> {
    return !this.#hasEnded && new Promise((done) => (this.#continueWith = done))
  }

  guardLiteral(): void {
    this.isGuarded = true
  }

  get awaitsContinuation(): boolean {
    return this.#continueWith !== null
  }

  continue(): void {
    this.#resolveContinuation(true)
  }

  complete(result: CommandResult): void {
    this.#hasEnded = true
    this.listener.end?.(result)
    this.#resolve(result)
    this.#resolveContinuation(false)
  }

  fail(reason: ImapLost): void {
    this.#hasEnded = true
    this.#reject(reason)
    this.#resolveContinuation(false)
  }

  #resolveContinuation(may: boolean): void {
    const next = this.#continueWith
    this.#continueWith = null
    next?.(may)
  }
}

/** Writes a command with its tag. Stops when the server answers instead of continuing it. */
export async function writeCommand(
  writer: CommandWriter,
  command: Command,
  parts: readonly CommandPart[],
): Promise<void> {
  await writer.write(`${command.tag} `)
  for (const part of parts) {
    if (typeof part === 'string') await writer.write(part)
    else {
      await writer.write(`{${part.length}}\r\n`)
      if (!(await command.awaitContinuation())) return
      await writer.write(part)
    }
  }
  await writer.write('\r\n')
}

/**
 * Waits for the tagged response.
 * @throws ImapRefused on NO and BAD, ImapLost
 */
export async function resultOf(
  command: Command,
  parts: readonly CommandPart[],
): Promise<CommandResult> {
  const result = await command.answer
  const { status, code, text } = result
  if (status === 'OK') return result
  const name = String(parts[0]).split(' ', 2).join(' ').trim()
  throw new ImapRefused(name, classifyRefusal(status, code?.name ?? null, text))
}
