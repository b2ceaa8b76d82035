import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'

/** One command as the server read it: its line, with the literals in their places. */
export type FakeCommand = {
  /** Which of the connections it came over, counted from 1. */
  connection: number
  tag: string
  /** In capitals; `UID FETCH` is one word. */
  name: string
  /** What follows the name, literals as `{n}`. */
  args: string
  literals: Buffer[]
}

/** What a script may do with one command. `\r\n` is added to every line. */
export type Reply = {
  say(...lines: (string | Buffer)[]): void
  /** Bytes as they are. */
  raw(bytes: string | Buffer): void
  ok(text?: string): void
  no(text: string): void
  bad(text: string): void
  /** Ends the connection after what was said. */
  hangUp(): void
}

/** Answers a command and gives true, or leaves it to the ordinary answer. */
export type Script = (
  command: FakeCommand,
  reply: Reply,
) => boolean | void | Promise<boolean | void>

/** Bytes that a server says differently from what the fake says, in the answers to some commands. */
export type Edit = {
  /** A pattern of the name and arguments of these commands. */
  at: string
  /** A pattern in each line of the answer, or in each row of several lines; all are replaced. */
  find: string
  put: string
  /** How many commands it concerns; all without it. */
  times?: number
}

export type FakeOptions = {
  greeting?: string
  capability?: string
  script?: Script
  edits?: Edit[]
  /** What the server sends when a literal may follow. */
  continuation?: string
  /**
   * Decides at the first sight of a literal: the line that refuses it (without tag), or undefined
   * to take it.
   */
  refuseLiteral?: (line: string, size: number) => string | undefined
}

export type ImapFake = {
  port: number
  /** Every line read, on all connections, literals as `{n}`. */
  lines: string[]
  commands: FakeCommand[]
  close(): Promise<void>
}

/** Starts a scripted IMAP server, for behavior that no real server shows on demand. */
export async function startImapFake(options: FakeOptions = {}): Promise<ImapFake> {
  const {
    greeting = '* OK ready',
    capability = 'IMAP4rev1 LITERAL+ UIDPLUS',
    script = () => false,
    edits = [],
    continuation = '+ go on',
  } = options
  const editsLeft = edits.map((edit) => ({ ...edit, left: edit.times ?? Infinity }))
  const sockets = new Set<Socket>()
  const lines: string[] = []
  const commands: FakeCommand[] = []
  let connections = 0
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)))
    socket.write(`${greeting}\r\n`)
    void serve(socket, (connections += 1)).catch(() => socket.destroy())
  })

  async function serve(socket: Socket, connection: number): Promise<void> {
    const input = inputOf(socket)
    for (;;) {
      const read = await readCommand(input, socket)
      if (!read) continue
      const command = { connection, ...read }
      commands.push(command)
      const reply = replyTo(socket, command.tag, editorOf(command))
      if ((await script(command, reply)) !== true) answer(command, reply, capability)
    }
  }

  function editorOf({ name, args }: FakeCommand): (bytes: Buffer) => Buffer {
    const applied = editsLeft.filter(
      ({ at, left }) => left > 0 && new RegExp(at).test(`${name} ${args}`),
    )
    for (const edit of applied) edit.left -= 1
    const change = (text: string, { find, put }: Edit) =>
      text.replaceAll(new RegExp(find, 'g'), put)
    return (bytes) =>
      applied.length === 0
        ? bytes
        : Buffer.from(applied.reduce(change, bytes.toString('latin1')), 'latin1')
  }

  /** Null for a command that was refused at one of its literals. */
  async function readCommand(
    input: Input,
    socket: Socket,
  ): Promise<Omit<FakeCommand, 'connection'> | null> {
    let text = ''
    const literals: Buffer[] = []
    for (;;) {
      const line = await input.line()
      lines.push(line)
      text += line
      const match = /\{(\d+)(\+?)\}$/.exec(line)
      if (!match) break
      const tag = text.split(' ', 1)[0] ?? ''
      const refusal = options.refuseLiteral?.(text, Number(match[1]))
      if (refusal !== undefined) {
        // Like Dovecot: data after the header of an unread literal is parsed as commands.
        socket.write(`${tag} ${refusal}\r\n`)
        return null
      }
      if (match[2] === '') socket.write(`${continuation}\r\n`)
      literals.push(await input.bytes(Number(match[1])))
    }
    if (/^\S+ AUTHENTICATE \S+$/i.test(text)) {
      socket.write(`${continuation}\r\n`)
      literals.push(Buffer.from(await input.line()))
    }
    const [, tag = '', name = '', args = ''] = /^(\S+) ((?:UID )?\S+) ?(.*)$/i.exec(text) ?? []
    return { tag, name: name.toUpperCase(), args, literals }
  }

  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    lines,
    commands,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function answer({ name }: FakeCommand, reply: Reply, capability: string): void {
  if (name === 'CAPABILITY') reply.say(`* CAPABILITY ${capability}`)
  if (name === 'NAMESPACE') reply.say('* NAMESPACE (("" "/")) NIL NIL')
  if (name === 'LOGOUT') reply.say('* BYE')
  if (name === 'LOGIN') reply.ok(`[CAPABILITY ${capability}] in`)
  else reply.ok()
}

function replyTo(socket: Socket, tag: string, edit: (bytes: Buffer) => Buffer): Reply {
  const raw = (bytes: Buffer) => void socket.write(edit(bytes))
  const line = (text: string | Buffer) =>
    raw(Buffer.concat([Buffer.from(text), Buffer.from('\r\n')]))
  return {
    say: (...said) => said.forEach(line),
    raw: (bytes) => raw(Buffer.from(bytes)),
    ok: (text = 'done') => line(`${tag} OK ${text}`),
    no: (text) => line(`${tag} NO ${text}`),
    bad: (text) => line(`${tag} BAD ${text}`),
    hangUp: () => void (socket.writableEnded || socket.destroySoon()),
  }
}

type Input = { line(): Promise<string>; bytes(count: number): Promise<Buffer> }

function inputOf(socket: Socket): Input {
  let received: Buffer = Buffer.alloc(0)
  let isOver = false
  let wake: (() => void) | undefined
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    wake?.()
  })
  socket.on('close', () => {
    isOver = true
    wake?.()
  })

  async function take(lengthOf: () => number): Promise<Buffer> {
    for (let length = lengthOf(); ; length = lengthOf()) {
      if (length >= 0 && received.length >= length) {
        const taken = received.subarray(0, length)
        received = received.subarray(length)
        return taken
      }
      if (isOver) throw new Error('the client has gone')
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }

  return {
    async line() {
      const line = await take(() => received.indexOf('\n') + 1 || -1)
      return line.toString('latin1').replace(/\r?\n$/, '')
    },
    bytes: async (count) => take(() => count),
  }
}
