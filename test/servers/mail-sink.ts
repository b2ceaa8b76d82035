import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'

/**
 * How the relay responds to a message: accepts it, rejects it temporarily or permanently, or
 * accepts it and disconnects or stays silent.
 */
type Behaviour = 'taking' | 'busy' | 'refusing' | 'hanging up' | 'silent'

export type Sink = {
  url: string
  /** Change it at any time. */
  behaviour: Behaviour
  /** All accepted messages, in order, and the envelope sender of each. */
  mails: Email[]
  senders: string[]
  stop(): Promise<void>
}

/** Starts a real SMTP server on a free port of 127.0.0.1, which stores all messages. */
export async function startSink(): Promise<Sink> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, { envelope }, done) {
      const pieces: Buffer[] = []
      stream.on('data', (piece: Buffer) => pieces.push(piece))
      const from = envelope.mailFrom ? envelope.mailFrom.address : ''
      stream.once('end', () => void take(Buffer.concat(pieces), from, done))
    },
  })

  async function take(
    bytes: Buffer,
    from: string,
    done: (error?: Error | null, message?: string) => void,
  ): Promise<void> {
    if (sink.behaviour === 'busy')
      return done(Object.assign(new Error('come back later'), { responseCode: 451 }))
    if (sink.behaviour === 'refusing')
      return done(Object.assign(new Error('go away'), { responseCode: 550 }))
    sink.senders.push(from)
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
    senders: [],
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
  return sink
}
