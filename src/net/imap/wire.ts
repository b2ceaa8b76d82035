import type { Duplex } from 'node:stream'
import type { Part } from './encode.ts'
import { LIMITS, TIMES } from './limits.ts'
import { createHearing } from './hearing.ts'
import { NotImap } from './reader.ts'
import { classify, ImapLost, ImapRefused, sanitise, type Refusal } from './refusals.ts'
import type { Response, ResponseCode, Value } from './response.ts'
import { createOut, type Out } from './out.ts'

/** Takes a literal while it arrives. Chunks are slices of what was read and may be kept as they are. */
export type LiteralSink = { write(chunk: Buffer): void; fail(error: ImapLost): void }

/** What a command in flight wants to hear besides its own answer. The oldest that takes a thing has it alone. */
export type Listener = {
  /** Untagged data; true takes it. */
  data?(values: Value[]): boolean
  /** An untagged OK or NO with a response code, such as `[UIDVALIDITY 7]`. */
  code?(code: ResponseCode): void
  /** A literal begins, `head` is what came before it in its response; a sink takes it, else it is kept in memory. */
  literal?(head: Value[], size: number): LiteralSink | undefined
}

export type Completion = { status: 'OK' | 'NO' | 'BAD'; code: ResponseCode | null; text: string }

/** One command on its way. */
export type Command = {
  readonly tag: string
  /** The tagged answer, whatever it is; rejects with `ImapLost` alone. */
  readonly answer: Promise<Completion>
  /** Resolves with true at the server's `+`, with false when the answer came in its place. */
  go(): Promise<boolean>
  /** From here on a BAD means that the server reads our literals as commands: the connection is destroyed at once. */
  guard(): void
}

/**
 * A signed-in connection on which commands are written one after another and answered in any order. It is always
 * read, unless a consumer of bodies holds it; what nobody listens to is dropped.
 */
export type Wire = {
  /** In capitals. */
  readonly capabilities: ReadonlySet<string>
  /** Null while the connection lives, then why it does not. */
  readonly lost: ImapLost | null
  /** Resolves when the connection is gone, with the reason; never rejects. */
  readonly gone: Promise<ImapLost>
  /**
   * Runs one command.
   * @param parts the command after its tag
   * @throws ImapRefused on NO and BAD, ImapLost
   */
  run(parts: Part[], listener?: Listener): Promise<Completion>
  /** Has the write side for itself until `write` ends. Commands begun in it are pipelined with what follows. */
  turn<T>(write: (out: Out, begin: (listener?: Listener) => Command) => Promise<T>): Promise<T>
  /** Stops and resumes reading; each hold needs its release. */
  hold(): void
  release(): void
  /** Says LOGOUT, waits a moment and closes; never throws. */
  logout(): Promise<void>
  /** Ends the connection now: everything in flight ends as lost. */
  destroy(reason: ImapLost): void
}

type InFlight = {
  tag: string
  listener: Listener
  isGuarded: boolean
  settle: (completion: Completion) => void
  fail: (lost: ImapLost) => void
  goOn: ((may: boolean) => void) | null
}

type WireOptions = {
  capabilities: Iterable<string>
  /** Milliseconds without a byte while an answer is due. */
  silenceMs?: number
  /** Milliseconds without anything that belongs to an answer while one is due. */
  standstillMs?: number
}

/**
 * Takes over a socket on which nobody listens any more, right after sign-in. A server that owes an answer is lost, with the
 * reason `timeout`, when it is silent for `silenceMs`, or for `standstillMs` sends neither an answer nor anything that a
 * command takes, whatever else it says.
 */
export function createWire(
  socket: Duplex,
  { capabilities, silenceMs = TIMES.silence, standstillMs = TIMES.standstill }: WireOptions,
): Wire {
  const inFlight = new Map<string, InFlight>()
  const out = createOut(socket, () => {
    watch?.refresh()
    markProgress()
  })
  const hearing = createHearing(() => [...inFlight.values()].map(({ listener }) => listener), dispatch, markProgress)
  const { promise: gone, resolve: markGone } = Promise.withResolvers<ImapLost>()
  let lost: ImapLost | null = null
  let holds = 0
  let tags = 0
  let lastTurn: Promise<unknown> = Promise.resolve()
  let bye: Refusal | null = null
  let watch: NodeJS.Timeout | undefined
  let trickled = 0
  let progressedAt = 0

  function markProgress(): void {
    progressedAt = performance.now()
  }

  function dispatch(response: Response): void {
    watch?.refresh()
    if (response.kind === 'data') {
      for (const { listener } of inFlight.values()) if (listener.data?.(response.values)) return markProgress()
    } else if (response.kind === 'continue') {
      for (const command of inFlight.values()) if (command.goOn) return goOn(command, true)
    } else if (response.tag === '*') heedUntagged(response)
    else complete(response)
  }

  function heedUntagged({ status, code, text }: Extract<Response, { kind: 'status' }>): void {
    if (status === 'BYE') bye = classify('BYE', code?.name ?? null, text)
    if (status === 'BAD' && [...inFlight.values()].some((command) => command.isGuarded)) breakOff(text)
    if (code) for (const { listener } of inFlight.values()) listener.code?.(code)
  }

  function complete({ tag, status, code, text }: Extract<Response, { kind: 'status' }>): void {
    const command = inFlight.get(tag)
    if (!command || status === 'BYE' || status === 'PREAUTH')
      throw new NotImap(`it answered ${tag}, which was not asked`)
    inFlight.delete(tag)
    markProgress()
    command.settle({ status, code, text })
    goOn(command, false)
    if (status === 'BAD' && command.isGuarded) breakOff(text)
    regard()
  }

  /** What follows on the connection may already be read as commands: nothing more may reach the server. */
  function breakOff(text: string): void {
    destroy(new ImapLost('protocol', 'The server did not understand an APPEND.', classify('BAD', null, text)))
  }

  function goOn(command: InFlight, may: boolean): void {
    const next = command.goOn
    command.goOn = null
    next?.(may)
  }

  function destroy(reason: ImapLost): void {
    if (lost) return
    lost = reason
    regard()
    socket.destroy()
    hearing.fail(reason)
    for (const command of inFlight.values()) {
      command.fail(reason)
      goOn(command, false)
    }
    inFlight.clear()
    out.fail(reason)
    markGone(reason)
  }

  /** A server is given up only while it owes us something and we listen. */
  function regard(): void {
    const wasWatched = watch !== undefined
    clearTimeout(watch)
    watch = undefined
    if (lost || inFlight.size === 0 || holds > 0) return
    if (!wasWatched) markProgress()
    watch = setTimeout(() => {
      destroy(new ImapLost('timeout', `The server was silent for ${Math.round(silenceMs / 1000)} seconds.`))
    }, silenceMs)
  }

  function refuseStandstill(): void {
    if (watch === undefined || performance.now() - progressedAt < standstillMs) return
    const minutes = Math.round(standstillMs / 60_000)
    destroy(new ImapLost('timeout', `The server said for ${minutes} minutes that it is there, and answered nothing.`))
  }

  function onData(chunk: Buffer): void {
    trickled += chunk.length
    if (trickled >= LIMITS.trickle) {
      trickled = 0
      watch?.refresh()
    }
    try {
      hearing.push(chunk)
      refuseStandstill()
    } catch (error) {
      if (!(error instanceof NotImap)) throw error
      destroy(new ImapLost('protocol', `The server does not speak IMAP: ${sanitise(error.message)}.`))
    }
  }

  function begin(listener: Listener = {}): Command {
    const tag = `P${(tags += 1)}`
    const { promise: answer, resolve: settle, reject: fail } = Promise.withResolvers<Completion>()
    answer.catch(() => undefined)
    const command: InFlight = { tag, listener, isGuarded: false, settle, fail, goOn: null }
    if (lost) fail(lost)
    else inFlight.set(tag, command)
    regard()
    return {
      tag,
      answer,
      guard: () => (command.isGuarded = true),
      go: async () => inFlight.has(tag) && new Promise((resolve) => (command.goOn = resolve)),
    }
  }

  async function turn<T>(write: (to: Out, start: typeof begin) => Promise<T>): Promise<T> {
    const before = lastTurn
    const { promise: mine, resolve: pass } = Promise.withResolvers<void>()
    lastTurn = mine
    await before
    try {
      if (lost) throw lost
      return await write(out, begin)
    } finally {
      pass()
    }
  }

  async function run(parts: Part[], listener?: Listener): Promise<Completion> {
    const name = String(parts[0]).split(' ', 2).join(' ').trim()
    const command = await turn(async (to, start) => {
      const started = start(listener)
      await writeCommand(to, started, parts)
      return started
    })
    const completion = await command.answer
    if (completion.status === 'OK') return completion
    throw new ImapRefused(name, classify(completion.status, completion.code?.name ?? null, completion.text))
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
    turn,
    hold() {
      holds += 1
      if (holds === 1) socket.pause()
      regard()
    },
    release() {
      holds -= 1
      if (holds === 0) socket.resume()
      regard()
    },
    async logout() {
      const bound = setTimeout(() => destroy(new ImapLost('ours', 'Signed out.')), TIMES.logout)
      await run(['LOGOUT']).catch(() => undefined)
      clearTimeout(bound)
      destroy(new ImapLost('ours', 'Signed out.'))
    },
    destroy,
  }
}

async function writeCommand(out: Out, command: Command, parts: Part[]): Promise<void> {
  await out.write(`${command.tag} `)
  for (const part of parts) {
    if (typeof part === 'string') await out.write(part)
    else {
      await out.write(`{${part.length}}\r\n`)
      if (!(await command.go())) return
      await out.write(part)
    }
  }
  await out.write('\r\n')
}

function closedText(bye: Refusal | null): string {
  return bye ? `The server closed the connection: ${bye.text}` : 'The server closed the connection.'
}
