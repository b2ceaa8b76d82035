import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

type Direction = 'toServer' | 'toClient'

export type Proxy = {
  port: number
  /** Milliseconds of round trip; applies to data from now on. */
  roundTrip: number
  /** The next connection is cut when this many bytes have passed in the direction. */
  cutAfter(direction: Direction, bytes: number): void
  /** Cuts all connections now. */
  cut(): void
  /** What passed so far, all connections after one another, if it is recorded. */
  recorded(direction: Direction): Buffer
  /** How many there were so far. */
  connections(): number
  /** Sockets that are open, two for each connection. */
  open(): number
  close(): Promise<void>
}

/**
 * Starts a proxy on 127.0.0.1 that delays, records and cuts connections on request.
 * @param target port on 127.0.0.1, or path of a Unix socket
 */
export async function startProxy(
  target: number | string,
  { roundTrip = 0, record = false } = {},
): Promise<Proxy> {
  const sockets = new Set<Socket>()
  const traffic: Record<Direction, Buffer[]> = { toServer: [], toClient: [] }
  let cutNext: { direction: Direction; bytes: number } | null = null
  let connections = 0

  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect(
      typeof target === 'number'
        ? { port: target, host: '127.0.0.1', noDelay: true }
        : { path: target },
    )
    const end = () => [client, upstream].forEach((socket) => socket.destroy())
    const cut = cutNext
    cutNext = null
    connections += 1
    for (const socket of [client, upstream]) {
      sockets.add(socket.on('error', end).on('close', () => sockets.delete(socket)))
    }
    const leftOf = (direction: Direction) => (cut?.direction === direction ? cut.bytes : Infinity)
    forward(client, upstream, 'toServer', leftOf('toServer'), end)
    forward(upstream, client, 'toClient', leftOf('toClient'), end)
  })

  function forward(
    from: Socket,
    to: Socket,
    direction: Direction,
    left: number,
    end: () => void,
  ): void {
    let queued = 0
    const deliver = (chunk: Buffer, isLast: boolean) => {
      queued -= chunk.length
      if (record) traffic[direction].push(chunk)
      if (!to.destroyed && !to.write(chunk)) from.pause()
      if (isLast) to.end(end)
      else if (queued < MAX_QUEUED && !to.writableNeedDrain) from.resume()
    }
    to.on('drain', () => from.resume())
    from.on('data', (chunk: Buffer) => {
      const passing = chunk.subarray(0, left)
      left -= passing.length
      queued += passing.length
      if (queued > MAX_QUEUED) from.pause()
      if (left === 0) from.removeAllListeners('data').resume()
      const isLast = left === 0
      if (proxy.roundTrip === 0) deliver(passing, isLast)
      else setTimeout(() => deliver(passing, isLast), proxy.roundTrip / 2)
    })
    from.on('end', () => setTimeout(() => to.end(), proxy.roundTrip / 2))
  }

  await once(server.listen(0, '127.0.0.1'), 'listening')
  const proxy: Proxy = {
    port: (server.address() as AddressInfo).port,
    roundTrip,
    cutAfter: (direction, bytes) => (cutNext = { direction, bytes }),
    cut: () => sockets.forEach((socket) => socket.destroy()),
    recorded: (direction) => Buffer.concat(traffic[direction]),
    connections: () => connections,
    open: () => sockets.size,
    async close() {
      proxy.cut()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}

/** A line holds what its bandwidth times its delay allows; this one is wide. */
const MAX_QUEUED = 16 * 1024 * 1024
