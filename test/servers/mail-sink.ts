import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'

/**
 * What the relay does with a mail: takes it; says no for the moment or for good; takes it, and
 * hangs up or stays silent in place of saying so.
 */
export type Behaviour = 'taking' | 'busy' | 'refusing' | 'hanging up' | 'silent'

export type Sink = {
  url: string
  /** Change it at any time. */
  behaviour: Behaviour
  /** All it has taken, in order. */
  mails: Email[]
  stop(): Promise<void>
}

/** A real SMTP server on a free port of 127.0.0.1, which keeps what it is given. */
export async function startSink(): Promise<Sink> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, _session, done) {
      const pieces: Buffer[] = []
      stream.on('data', (piece: Buffer) => pieces.push(piece))
      stream.once('end', () => void take(Buffer.concat(pieces), done))
    },
  })

  async function take(
    bytes: Buffer,
    done: (error?: Error | null, message?: string) => void,
  ): Promise<void> {
    if (sink.behaviour === 'busy')
      return done(Object.assign(new Error('come back later'), { responseCode: 451 }))
    if (sink.behaviour === 'refusing')
      return done(Object.assign(new Error('go away'), { responseCode: 550 }))
    sink.mails.push(await PostalMime.parse(bytes))
    if (sink.behaviour === 'taking') return done(null, 'taken as 42')
    if (sink.behaviour === 'hanging up')
      for (const { _socket } of server.connections) _socket.destroy()
  }

  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  const sink: Sink = {
    url: `smtp://127.0.0.1:${port}`,
    behaviour: 'taking',
    mails: [],
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
  return sink
}
