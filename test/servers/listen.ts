import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'

export type Listening = { port: number; close(): Promise<void> }

/** Starts a server on loopback with a handler for each connection. */
export async function listen(
  serve: (socket: Socket) => void,
  host = '127.0.0.1',
): Promise<Listening> {
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)))
    serve(socket)
  })
  await once(server.listen(0, host), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
