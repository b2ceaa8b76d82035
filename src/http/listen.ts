import type { Server } from 'node:net'
import {
  acceptWaiting,
  closePort,
  explainListenError,
  openAcceptors,
  PORT_OPTIONS,
  requireFreePort,
} from '../net/acceptors.ts'
import { CLOSING_ACCEPT_TURNS } from './limits/server-limits.ts'
import type { App } from './http-server.ts'

/** Sockets beside the server's own, to be closed with it. */
const acceptors = new WeakMap<App, Server[]>()

/**
 * Opens the server's port.
 * @param isShared whether another process of this service listens on it
 * @returns where it listens, as a URL that works on this machine
 * @throws Fault `unavailable` when the port cannot be opened, with the way to fix it
 */
export async function listen(
  app: App,
  host: string,
  port: number,
  isShared = false,
): Promise<string> {
  try {
    if (!isShared) await requireFreePort(host, port)
    await app.listen({ host, port, ...PORT_OPTIONS })
    acceptors.set(app, await openAcceptors(app.server))
  } catch (cause) {
    throw explainListenError(cause, { host, port, setting: 'PORT' })
  }
  return urlOf(app)
}

/**
 * Closes the server after running requests have finished. Its ports are closed first: a proxy then
 * sends new requests to another instance.
 * @param milliseconds after which remaining connections are closed
 */
export async function closeWithin(app: App, milliseconds: number): Promise<void> {
  const deadline = setTimeout(() => app.server.closeAllConnections(), milliseconds)
  await acceptWaiting(app.server, CLOSING_ACCEPT_TURNS)
  const closed = [app.server, ...(acceptors.get(app) ?? [])].map(closePort)
  await app.close()
  await Promise.all(closed)
  clearTimeout(deadline)
}

function urlOf(app: App): string {
  const bound = app.server.address()
  if (bound === null || typeof bound === 'string') throw new Error('the HTTP server has no address')
  const host = ['127.0.0.1', '::1', '0.0.0.0', '::'].includes(bound.address)
    ? 'localhost'
    : bound.address
  return `http://${host.includes(':') ? `[${host}]` : host}:${bound.port}`
}
