import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import {
  createSecureContext,
  TLSSocket,
  type SecureContextOptions,
  type TLSSocketOptions,
} from 'node:tls'
import type { StartTls } from '../../src/net/tls/starttls.ts'

export type TcpServer = {
  port: number
  /** Number of connections. */
  connections(): number
  close(): Promise<void>
}

/** The dialog before TLS: a greeting, then a reply to each request it understands. */
export type Script = {
  greeting?: string | Buffer
  /** `upgrade`: the handshake begins behind this reply. */
  replies: { to: RegExp; say: string | Buffer; upgrade?: true }[]
}

const LDAP_SUCCESS = Buffer.from('300c02010178070a010004000400', 'hex')

/** How well-behaved servers agree to begin TLS. */
export const SCRIPTS: Record<StartTls, Script> = {
  smtp: {
    greeting: '220-mail.example.test ESMTP\r\n220 at your service\r\n',
    replies: [
      {
        to: /^EHLO \[(127\.[\d.]+|IPv6:::1)\]\r\n$/,
        say: '250-mail.example.test\r\n250-PIPELINING\r\n250 STARTTLS\r\n',
      },
      { to: /^STARTTLS\r\n$/, say: '220 go ahead\r\n', upgrade: true },
    ],
  },
  imap: {
    greeting: '* OK [CAPABILITY IMAP4rev1 STARTTLS] ready\r\n',
    replies: [
      { to: /^a1 STARTTLS\r\n$/, say: '* CAPABILITY IMAP4rev1\r\na1 OK begin\r\n', upgrade: true },
    ],
  },
  pop3: {
    greeting: '+OK ready\r\n',
    replies: [{ to: /^STLS\r\n$/, say: '+OK begin\r\n', upgrade: true }],
  },
  ldap: { replies: [{ to: /1\.3\.6\.1\.4\.1\.1466\.20037$/, say: LDAP_SUCCESS, upgrade: true }] },
  // oxlint-disable-next-line no-control-regex
  postgres: { replies: [{ to: /^\0\0\0\x08\x04\xd2\x16\x2f$/, say: 'S', upgrade: true }] },
}

/**
 * A TLS server on loopback, at once or behind a script. `cert` is the chain as it is sent.
 * @param options `port`: a free one without; `byName`: other certificates by the name in SNI
 */
export async function startTlsServer(
  options: SecureContextOptions & {
    script?: Script
    host?: string
    port?: number
    byName?: Record<string, SecureContextOptions>
  },
): Promise<TcpServer> {
  const { script, host = '127.0.0.1', port = 0, byName = {}, ...context } = options
  const secureContext = createSecureContext(context)
  const named = new Map(
    Object.entries(byName).map(([name, own]) => [name, createSecureContext(own)] as const),
  )
  const SNICallback: TLSSocketOptions['SNICallback'] = (name, done) =>
    done(null, named.get(name) ?? secureContext)
  const secure = (socket: Socket) => {
    const secured = new TLSSocket(socket, { isServer: true, secureContext, SNICallback })
    secured.on('error', () => {}).resume()
  }
  return listen({ host, port }, (socket) =>
    script ? play(script, socket, secure) : secure(socket),
  )
}

/** A server without TLS: it sends its greeting, or nothing. */
export async function startPlainServer(
  greeting: string | Buffer = '',
  { hangUp = false, host = '127.0.0.1', port = 0 } = {},
): Promise<TcpServer> {
  return listen({ host, port }, (socket) => {
    if (hangUp) socket.end(greeting)
    else socket.write(greeting)
    socket.resume()
  })
}

function play(
  { greeting = '', replies }: Script,
  socket: Socket,
  secure: (socket: Socket) => void,
): void {
  socket.write(greeting)
  const answer = (bytes: Buffer) => {
    const reply = replies.find(({ to }) => to.test(bytes.toString('latin1')))
    if (!reply) return
    if (reply.upgrade) socket.off('data', answer)
    socket.write(reply.say)
    if (reply.upgrade) secure(socket)
  }
  socket.on('data', answer)
}

async function listen(
  { host, port }: { host: string; port: number },
  serve: (socket: Socket) => void,
): Promise<TcpServer> {
  const sockets = new Set<Socket>()
  let connections = 0
  const server: Server = createServer((socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    serve(socket)
  })
  await once(server.listen(port, host), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
