import type { Duplex } from 'node:stream'
import type { CommandPart } from './command-encoding.ts'
import { TIMEOUTS } from '../limits.ts'
import type { Listener } from './listener.ts'
import { createResponseDispatcher } from './response-dispatcher.ts'
import { NotImap } from './response-parser.ts'
import { classifyRefusal, ImapLost, ImapRefused, sanitise, type Refusal } from './refusals.ts'
import type { Response, ResponseCode } from './response.ts'
import { createWatchdog } from './watchdog.ts'
import { createCommandWriter, type CommandWriter } from './command-writer.ts'

export type CommandResult = { status: 'OK' | 'NO' | 'BAD'; code: ResponseCode | null; text: string }

/** A command in flight. */
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

type InFlight = {
  tag: string
  listener: Listener
  isGuarded: boolean
  resolve: (completion: CommandResult) => void
  fail: (lost: ImapLost) => void
  continueWith: ((may: boolean) => void) | null
}

type WireOptions = {
  capabilities: Iterable<string>
  /** Milliseconds without a byte while a response is due. */
  silenceMs?: number
  /** Milliseconds without any part of a response while one is due. */
  standstillMs?: number
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
  }: WireOptions,
): Wire {
  const inFlight = new Map<string, InFlight>()
  const watchdog = createWatchdog({ silenceMs, standstillMs }, destroy)
  const writer = createCommandWriter(socket, () => {
    watchdog.refresh()
    watchdog.markProgress()
  })
  const dispatcher = createResponseDispatcher(
    () => [...inFlight.values()].map(({ listener }) => listener),
    dispatch,
    () => watchdog.markProgress(),
  )
  const { promise: gone, resolve: markGone } = Promise.withResolvers<ImapLost>()
  let lost: ImapLost | null = null
  let pauses = 0
  let tags = 0
  let lastTurn: Promise<unknown> = Promise.resolve()
  let bye: Refusal | null = null

  function updateWatchdog(): void {
    watchdog.update(!lost && inFlight.size > 0 && pauses === 0)
  }

  function dispatch(response: Response): void {
    watchdog.refresh()
    if (response.kind === 'data') {
      for (const { listener } of inFlight.values())
        if (listener.data?.(response.values)) return watchdog.markProgress()
    } else if (response.kind === 'continue') {
      for (const command of inFlight.values())
        if (command.continueWith) return resolveContinuation(command, true)
    } else if (response.tag === '*') handleUntagged(response)
    else complete(response)
  }

  function handleUntagged({ status, code, text }: Extract<Response, { kind: 'status' }>): void {
    if (status === 'BYE') bye = classifyRefusal('BYE', code?.name ?? null, text)
    if (status === 'BAD' && [...inFlight.values()].some((command) => command.isGuarded))
      destroyMisread(text)
    if (code) for (const { listener } of inFlight.values()) listener.code?.(code)
  }

  function complete({ tag, status, code, text }: Extract<Response, { kind: 'status' }>): void {
    const command = inFlight.get(tag)
    if (!command || status === 'BYE' || status === 'PREAUTH')
      throw new NotImap(`it answered ${tag}, which was not asked`)
    inFlight.delete(tag)
    watchdog.markProgress()
    command.resolve({ status, code, text })
    resolveContinuation(command, false)
    if (status === 'BAD' && command.isGuarded) destroyMisread(text)
    updateWatchdog()
  }

  /** The server may already read the following bytes as commands: nothing more may reach it. */
  function destroyMisread(text: string): void {
    destroy(
      new ImapLost(
        'protocol',
        'The server did not understand an APPEND.',
        classifyRefusal('BAD', null, text),
      ),
    )
  }

  function resolveContinuation(command: InFlight, may: boolean): void {
    const next = command.continueWith
    command.continueWith = null
    next?.(may)
  }

  function destroy(reason: ImapLost): void {
    if (lost) return
    lost = reason
    updateWatchdog()
    socket.destroy()
    dispatcher.fail(reason)
    for (const command of inFlight.values()) {
      command.fail(reason)
      resolveContinuation(command, false)
    }
    inFlight.clear()
    writer.fail(reason)
    markGone(reason)
  }

  function onData(chunk: Buffer): void {
    watchdog.countBytes(chunk.length)
    try {
      dispatcher.push(chunk)
      watchdog.checkStandstill()
    } catch (error) {
      if (!(error instanceof NotImap)) throw error
      destroy(
        new ImapLost('protocol', `The server does not speak IMAP: ${sanitise(error.message)}.`),
      )
    }
  }

  function startCommand(listener: Listener = {}): Command {
    const tag = `P${(tags += 1)}`
    const { promise: answer, resolve, reject: fail } = Promise.withResolvers<CommandResult>()
    answer.catch(() => undefined)
    const command: InFlight = { tag, listener, isGuarded: false, resolve, fail, continueWith: null }
    if (lost) fail(lost)
    else inFlight.set(tag, command)
    updateWatchdog()
    return {
      tag,
      answer,
      guardLiteral: () => (command.isGuarded = true),
      awaitContinuation: async () =>
        inFlight.has(tag) && new Promise((done) => (command.continueWith = done)),
    }
  }

  async function withWriter<T>(
    write: (to: CommandWriter, start: typeof startCommand) => Promise<T>,
  ): Promise<T> {
    const before = lastTurn
    const { promise: mine, resolve: pass } = Promise.withResolvers<void>()
    lastTurn = mine
    await before
    try {
      if (lost) throw lost
      return await write(writer, startCommand)
    } finally {
      pass()
    }
  }

  async function run(parts: CommandPart[], listener?: Listener): Promise<CommandResult> {
    const name = String(parts[0]).split(' ', 2).join(' ').trim()
    const command = await withWriter(async (to, start) => {
      const started = start(listener)
      await writeCommand(to, started, parts)
      return started
    })
    const completion = await command.answer
    if (completion.status === 'OK') return completion
    throw new ImapRefused(
      name,
      classifyRefusal(completion.status, completion.code?.name ?? null, completion.text),
    )
  }

  socket.on('data', onData)
  socket.on('end', () => destroy(new ImapLost(bye ? 'bye' : 'closed', closedText(bye), bye)))
  socket.on('close', () => destroy(new ImapLost(bye ? 'bye' : 'closed', closedText(bye), bye)))
  socket.on('error', (error) =>
    destroy(new ImapLost(bye ? 'bye' : 'closed', `The connection broke: ${error.message}.`, bye)),
  )
  socket.resume()

  return {
    capabilities: new Set([...capabilities].map((capability) => capability.toUpperCase())),
    get lost() {
      return lost
    },
    gone,
    run,
    withWriter,
    pauseReading() {
      pauses += 1
      if (pauses === 1) socket.pause()
      updateWatchdog()
    },
    resumeReading() {
      pauses -= 1
      if (pauses === 0) socket.resume()
      updateWatchdog()
    },
    async logout() {
      const bound = setTimeout(
        () => destroy(new ImapLost('ours', 'Signed out.')),
        TIMEOUTS.logoutMs,
      )
      await run(['LOGOUT']).catch(() => undefined)
      clearTimeout(bound)
      destroy(new ImapLost('ours', 'Signed out.'))
    },
    destroy,
  }
}

async function writeCommand(
  writer: CommandWriter,
  command: Command,
  parts: CommandPart[],
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

function closedText(bye: Refusal | null): string {
  return bye ? `The server closed the connection: ${bye.text}` : 'The server closed the connection.'
}
