import { connect, type Socket } from 'node:net'
import { listen, type Listening } from '../servers/listen.ts'

/** What a test may do with a piece of what passes: a command, or a part of one. */
type Hands = {
  /** Ends the connection after what was answered; the piece is not passed on. */
  cut: () => void
  /** Says something to the client in the server's place; the piece is not passed on. */
  answer: (line: string) => void
  /** Passes this on, one character a byte, in place of the piece. */
  instead: (text: string) => void
}

type Meddle = (text: string, hands: Hands) => void | Promise<void>

/**
 * Stands between a client and a real server and meddles where no server misbehaves when one wants
 * it.
 */
export async function startTamper(
  target: number,
  meddle: { toServer?: Meddle; toClient?: Meddle },
): Promise<Listening> {
  return listen((client) => {
    const upstream = connect({ port: target, host: '127.0.0.1', noDelay: true })
    const end = () => [client, upstream].forEach((socket) => socket.destroy())
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end)
    forward(client, upstream, client, meddle.toServer, commandsOf)
    forward(upstream, client, client, meddle.toClient)
  })
}

/** Splits a piece before each tag, because several commands can be sent together. */
function commandsOf(chunk: Buffer): Buffer[] {
  const pieces = chunk.toString('latin1').split(/(?<=\r\n)(?=P[1-9]\d* )/)
  return pieces.map((piece) => Buffer.from(piece, 'latin1'))
}

function forward(
  from: Socket,
  to: Socket,
  client: Socket,
  meddle?: Meddle,
  split = (chunk: Buffer) => [chunk],
): void {
  let last: Promise<void> = Promise.resolve()

  async function pass(chunk: Buffer): Promise<void> {
    let isHeld = false
    let passing = chunk
    await meddle?.(chunk.toString('latin1'), {
      cut() {
        isHeld = true
        from.destroySoon()
      },
      answer(line) {
        isHeld = true
        client.write(`${line}\r\n`)
      },
      instead: (text) => (passing = Buffer.from(text, 'latin1')),
    })
    if (!isHeld && !to.destroyed) to.write(passing)
  }

  from.on('data', (chunk: Buffer) => {
    for (const piece of split(chunk)) last = last.then(() => pass(piece))
  })
  from.on('end', () => {
    last = last.then(() => void to.end())
  })
}
