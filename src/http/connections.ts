import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import {
  CLOSING_DRAIN_MS,
  CLOSING_IDLE_GRACE_MS,
  CLOSING_SWEEP_MS,
  HALF_CLOSED_MS,
} from './limits/server-limits.ts'

const MAX_RESPONSE_LISTENERS = 30

type Connection = {
  /** Requests so far. */
  requests: number
  /** Responses that have not ended. */
  running: Set<ServerResponse>
  /** When the last one ended, in `performance.now()`. */
  idleSince: number
}

/**
 * Lets a client close its side once it has sent its request, as `nc -N` does, and still get the
 * response (RFC 9112, section 9.6). Node would close the connection at once. Such a client cannot be
 * told from one that left, so it does not wait for long, and a stream ends.
 */
function answerHalfClosed(socket: Socket, { running }: Connection): void {
  socket.once('end', () => {
    const isStream = [...running].some((one) => one.headersSent && !one.writableEnded)
    const timer = setTimeout(() => socket.destroy(), isStream ? 0 : HALF_CLOSED_MS).unref()
    socket.once('close', () => clearTimeout(timer))
  })
}

/**
 * Tracks the connections of a server, so that stopping it waits only for requests. Node counts a
 * connection as idle only after its first request: one that has sent nothing, as browsers open them
 * in advance, would keep the server open until the deadline.
 * @returns call it when the server stops and its ports are closed. For a short time, requests on
 *   kept-alive and new connections are answered with `Connection: close`: a proxy that just sends
 *   one would report a failure to its client. Afterwards, connections without a request are closed
 *   until the server is closed.
 */
export function trackConnections(server: Server): () => Promise<void> {
  const open = new Map<Socket, Connection>()
  let isClosing = false
  // Node’s documentation does not name it.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('connection', (socket: Socket) => {
    const connection = { requests: 0, running: new Set<ServerResponse>(), idleSince: performance.now() } // prettier-ignore
    open.set(socket, connection)
    answerHalfClosed(socket, connection)
    socket.once('close', () => open.delete(socket))
  })
  const count = ({ socket }: { socket: Socket }, response: ServerResponse) => {
    const connection = open.get(socket)
    if (isClosing) response.shouldKeepAlive = false
    if (!connection) return
    connection.requests += 1
    connection.running.add(response)
    // Limits, metrics and each part of a stream wait for its end: more than Node expects.
    response.setMaxListeners(MAX_RESPONSE_LISTENERS)
    response.once('close', () => {
      connection.running.delete(response)
      connection.idleSince = performance.now()
    })
  }
  // Before a handler responds.
  server.prependListener('request', count)
  server.prependListener('checkExpectation', count)

  /** Lets running requests be the last of their connections, too, unless their headers are sent. */
  function announceClosing(): void {
    for (const { running } of open.values())
      for (const response of running) response.shouldKeepAlive = false
  }

  /** A new connection may have sent a request that was not read yet. */
  function closeUnasked(): void {
    const newSince = performance.now() - CLOSING_DRAIN_MS
    for (const [socket, { requests, idleSince }] of open)
      if (requests === 0 && socket.bytesRead === 0 && idleSince < newSince) socket.destroy()
  }
  const mayAsk = () =>
    [...open.values()].some(({ requests, running }) => requests === 0 || requests > running.size)

  async function drain(): Promise<void> {
    isClosing = true
    announceClosing()
    closeUnasked()
    const end = performance.now() + CLOSING_DRAIN_MS
    while (mayAsk() && performance.now() < end) await sleep(CLOSING_SWEEP_MS / 2)
  }

  async function closeUnused(): Promise<void> {
    // A request that arrived while this process was busy has not been read when a timer fires.
    // Closing its connection would reset it.
    await nextTurn()
    server.closeIdleConnections()
    for (const [socket, { running, idleSince }] of open) {
      if (running.size > 0) continue
      // Part of a request has arrived: wait briefly for the rest of its headers.
      if (socket.bytesRead > 0 && performance.now() - idleSince < CLOSING_IDLE_GRACE_MS) continue
      socket.destroy()
    }
  }

  return async () => {
    await drain()
    await closeUnused()
    // A connection whose last request ends later is closed then.
    const sweep = setInterval(() => {
      void closeUnused()
      // A server that never listened emits no close event.
      if (!server.listening && open.size === 0) clearInterval(sweep)
    }, CLOSING_SWEEP_MS)
  }
}
