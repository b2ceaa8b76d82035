import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { CLOSING_IDLE_GRACE_MS, CLOSING_SWEEP_MS } from './limits/server-limits.ts'

type Connection = {
  /** Requests without a finished response. */
  running: number
  /** When the last one ended, in `performance.now()`. */
  idleSince: number
}

/**
 * Tracks the connections of a server, so that stopping it waits only for requests. Node counts a
 * connection as idle only after its first request: one that has sent nothing, as browsers open them
 * in advance, would keep the server open until the deadline.
 * @returns call it when the server stops; it closes connections without a request until the server
 *   is closed
 */
export function trackConnections(server: Server): () => void {
  const open = new Map<Socket, Connection>()
  server.on('connection', (socket: Socket) => {
    open.set(socket, { running: 0, idleSince: performance.now() })
    socket.once('close', () => open.delete(socket))
  })
  const count = ({ socket }: { socket: Socket }, response: ServerResponse) => {
    const connection = open.get(socket)
    if (!connection) return
    connection.running += 1
    response.once('close', () => {
      connection.running -= 1
      connection.idleSince = performance.now()
    })
  }
  server.on('request', count)
  server.on('checkExpectation', count)

  function closeUnused(): void {
    server.closeIdleConnections()
    for (const [socket, { running, idleSince }] of open) {
      if (running > 0) continue
      // Part of a request has arrived: wait briefly for the rest of its headers.
      if (socket.bytesRead > 0 && performance.now() - idleSince < CLOSING_IDLE_GRACE_MS) continue
      socket.destroy()
    }
  }

  return () => {
    closeUnused()
    // A connection whose last request ends later is closed then.
    const sweep = setInterval(() => {
      closeUnused()
      // A server that never listened emits no close event.
      if (!server.listening && open.size === 0) clearInterval(sweep)
    }, CLOSING_SWEEP_MS)
  }
}
