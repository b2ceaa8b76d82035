import { createServer } from 'node:tls'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { makeCertificate } from '../../servers/certificates.ts'
import { listen, type Listening } from '../../servers/listen.ts'
import { flood, trickle } from './flows.ts'

/** Hostile servers for TLS checks. */
export const HOSTILE_TLS: Record<string, () => Promise<Listening>> = {
  'a handshake that never goes on': () => listen((socket) => socket.resume()),
  'a handshake of one byte a second': () =>
    listen((socket) => trickle(socket, '\x16\x03\x03\x40\x00\x02\x00\x3f\xfc', 1_000)),
  'noise without end': () => listen((socket) => flood(socket, Buffer.alloc(65_536, 'x'))),
  'records without end': () =>
    listen((socket) =>
      flood(
        socket,
        Buffer.concat([
          Buffer.from([0x16, 3, 3, 0x3f, 0xff, 2, 0xff, 0xff, 0xff]),
          Buffer.alloc(16_378),
        ]),
      ),
    ),
  'a chain of certificates of 1 MB': startLongChain,
}

async function startLongChain(): Promise<Listening> {
  const { key, cert } = makeCertificate({ subject: '/CN=long.test', key: 'rsa2048' })
  const copies = Math.ceil(1_000_000 / ((cert.length * 3) / 4))
  const server = createServer({ key, cert: cert.repeat(copies) }, (socket) => socket.resume())
  server.on('tlsClientError', () => {})
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => void server.close(),
  }
}
