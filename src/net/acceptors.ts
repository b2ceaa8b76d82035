import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { createServer, Server, type AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { currentInstallation } from '../config.ts'
import { Fault } from '../errors.ts'

/**
 * Opens further sockets on the server’s port. A listening socket accepts one connection in each
 * turn of the event loop, so a client that opens hundreds at once would delay a new connection of
 * other clients by hundreds of turns. The kernel distributes connections over all sockets, and each
 * has its own queue.
 */
const ACCEPTORS = 15

/**
 * Linux spreads connections over the sockets of a port; elsewhere one socket accepts all of them.
 */
const CAN_SHARE_PORT = process.platform === 'linux'

/** Options of the server's own socket, so that others can share its port. */
export const PORT_OPTIONS = CAN_SHARE_PORT ? { reusePort: true } : {}

/**
 * Makes sure that no other process listens on a port: a shared one would take a part of its
 * connections without an error.
 * @throws with `code` EADDRINUSE, as `listen` does
 */
export async function requireFreePort(host: string, port: number): Promise<void> {
  if (CAN_SHARE_PORT) await requireUnused(host, port)
}

/** The same on every system. */
export async function requireUnused(host: string, port: number): Promise<void> {
  if (port === 0) return
  const probe = createServer().listen({ host, port, exclusive: true })
  await once(probe, 'listening')
  probe.close()
  await once(probe, 'close')
}

/** A port to listen on, and the setting that chooses it. */
export type ListenPlace = {
  host: string
  port: number
  setting: 'PORT' | 'SMTP_LISTEN' | 'METRICS_LISTEN'
}

/**
 * Explains why a port cannot be opened.
 * @returns a Fault `unavailable` with the way to fix it, or the error itself where it is another
 */
export function explainListenError(
  cause: unknown,
  { host, port, setting }: ListenPlace,
): Fault | Error {
  const orOff = setting === 'PORT' ? '' : ', or to off'
  const hostSetting = setting === 'PORT' ? 'HOST' : setting
  const problems: Record<string, string> = {
    EADDRINUSE: `the port is in use. Stop the other program, or set ${setting} to a free port${orOff}.`,
    EACCES: `permission denied. Ports below 1024 need privileges: set ${setting} to a higher port${orOff}.`,
    EADDRNOTAVAIL: `the address does not belong to this machine. Set ${hostSetting} to one of its addresses${orOff}.`,
    ENOTFOUND: `the name is unknown. Set ${hostSetting} to an address of this machine${orOff}.`,
  }
  const { code = '' } = cause as NodeJS.ErrnoException
  const problem = problems[code]
  if (problem === undefined) return cause as Error
  const free = port < 65_535 ? port + 1 : 8080
  const address = host.includes(':') ? `[${host}]` : host
  const value = setting === 'PORT' ? free : `${address}:${free}`
  const isPort = code === 'EADDRINUSE' || code === 'EACCES'
  return new Fault('unavailable', `Cannot listen on ${host} port ${port}: ${problem}`, {
    cause,
    ...(isPort && {
      suggestion: `${setting}=${value} in ${currentInstallation().file ?? 'the environment or .env'}`,
    }),
  })
}

/**
 * Makes sure that a port can be opened, before work that a failure would waste.
 * @throws Fault `unavailable`
 */
export async function requirePort(place: ListenPlace): Promise<void> {
  try {
    await requireFreePort(place.host, place.port)
  } catch (cause) {
    throw explainListenError(cause, place)
  }
}

/** Opens them for a server that listens with `PORT_OPTIONS`. */
export async function openAcceptors(server: HttpServer): Promise<Server[]> {
  if (!CAN_SHARE_PORT) return []
  const { address: host, port } = server.address() as AddressInfo
  const acceptors = Array.from({ length: ACCEPTORS }, () =>
    // The options of node:http’s own server.
    createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      server.emit('connection', socket),
    ),
  )
  await Promise.all(
    acceptors.map((acceptor) => {
      acceptor.listen({ host, port, ...PORT_OPTIONS })
      return once(acceptor, 'listening')
    }),
  )
  return acceptors
}

/**
 * Accepts connections until a turn of the event loop finds none: closing a port resets those that
 * wait there, with the requests that were sent on them.
 * @param maxTurns after which it gives up
 */
export async function acceptWaiting(server: HttpServer, maxTurns: number): Promise<void> {
  let hasAccepted = true
  const note = () => (hasAccepted = true)
  server.on('connection', note)
  // This turn may have polled the ports already.
  await nextTurn()
  for (let turns = 0; hasAccepted && turns < maxTurns; turns++) {
    hasAccepted = false
    await nextTurn()
  }
  server.off('connection', note)
}

/**
 * Closes the port of a server, and keeps its connections: the method of an HTTP server would close
 * those that are kept alive.
 * @returns when all of its connections are closed
 */
export async function closePort(server: Server): Promise<void> {
  const closed = once(server, 'close')
  Server.prototype.close.call(server)
  await closed
}
