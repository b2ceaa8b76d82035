import { createSocket, type Socket } from 'node:dgram'
import { connect, isIPv6 } from 'node:net'
import type { HostPort } from '../setting-values.ts'
import { answers, drawId, idOf } from './dns-wire.ts'

/** The bytes of the answer, or a network error. */
export type Reply = Buffer | 'NETWORK'

/** Starts an exchange that calls `done` at most once, and gives back how to forget it. */
export type Exchange = (query: Buffer, done: (reply: Reply) => void) => () => void

/**
 * Queries after which a busy server's socket is replaced, so that no port lives long enough to be
 * guessed.
 */
const QUERIES_PER_SOCKET = 256

/**
 * Sends UDP queries to one server. A host name stands for its IPv4 address, which the system resolves
 * for each socket, because a container may have another one when it is created again. Concurrent queries share a connected socket, which also receives
 * ECONNREFUSED. It is closed after the last answer, so that the next queries come from another
 * random port.
 */
export function createUdp(server: HostPort): Exchange {
  let current: Burst | null = null
  return (query, done) => {
    if (!current?.open()) current = startBurst(server)
    return current.send(query, done)
  }
}

type Waiting = { query: Buffer; done: (reply: Reply) => void }
type Burst = { open(): boolean; send: Exchange }

function startBurst(server: HostPort): Burst {
  const waiting = new Map<number, Waiting>()
  let socket: Socket | null = openSocket()
  /** Packets to send; null until the socket is ready, when all waiting ones are sent. */
  let outbox: Buffer[] | null = null
  let sent = 0

  function openSocket(): Socket {
    const opened = createSocket(isIPv6(server.address) ? 'udp6' : 'udp4')
    opened.on('error', fail)
    opened.on('message', take)
    opened.connect(server.port, server.address, (error?: Error) => {
      if (error) return fail()
      outbox = [...waiting.values()].map(({ query }) => query)
      flush()
    })
    return opened
  }

  // All at once: a server on this machine that sleeps between queries makes each a third dearer.
  function flush(): void {
    for (const query of outbox?.splice(0) ?? []) socket?.send(query)
  }

  function take(bytes: Buffer): void {
    const found = waiting.get(idOf(bytes))
    if (!found || !answers(bytes, found.query)) return
    forget(idOf(bytes))
    found.done(bytes)
  }

  function fail(): void {
    const lost = [...waiting.values()]
    waiting.clear()
    close()
    for (const { done } of lost) done('NETWORK')
  }

  function forget(id: number): void {
    waiting.delete(id)
    if (waiting.size === 0) close()
  }

  function close(): void {
    socket?.close()
    socket = null
  }

  return {
    open: () => socket !== null && sent < QUERIES_PER_SOCKET,
    send(template, done) {
      const query = Buffer.from(template)
      const id = drawId(query, waiting)
      const entry = { query, done }
      waiting.set(id, entry)
      sent += 1
      if (outbox?.push(query) === 1) setImmediate(flush)
      return () => {
        if (waiting.get(id) === entry) forget(id)
      }
    },
  }
}

const LENGTH_BYTES = 2

/** TCP to one server, one connection for one query: answers too large for a datagram (RFC 7766). */
export function createTcp(server: HostPort): Exchange {
  return (template, done) => {
    const query = Buffer.from(template)
    drawId(query, new Set())
    const family = isIPv6(server.address) ? 6 : 4
    const socket = connect({ host: server.address, port: server.port, family })
    let received = Buffer.alloc(0)
    socket.on('connect', () => socket.write(Buffer.concat([lengthOf(query), query])))
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes])
      const whole = firstMessage(received)
      if (!whole) return
      socket.destroy()
      done(answers(whole, query) ? whole : 'NETWORK')
    })
    socket.on('error', () => done('NETWORK'))
    socket.on('end', () => done('NETWORK'))
    return () => socket.destroy()
  }
}

function lengthOf(message: Buffer): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt16BE(message.length)
  return length
}

/**
 * The first message of a DNS stream, or null while it is not all there; at most 64 KiB by its own
 * length field.
 */
function firstMessage(received: Buffer): Buffer | null {
  if (received.length < LENGTH_BYTES) return null
  const end = LENGTH_BYTES + received.readUInt16BE(0)
  return received.length < end ? null : received.subarray(LENGTH_BYTES, end)
}
