import { Fault } from '../errors.ts'
import type { App } from './server.ts'

const PROBLEMS: Record<string, string> = {
  EADDRINUSE: 'another program has it. Stop that, or set PORT to another.',
  EACCES: 'this user may not use it. Ports below 1024 need rights: set PORT to a higher one.',
  EADDRNOTAVAIL: 'this machine has no such address. Set HOST to one it has.',
}

/**
 * Opens the server's port.
 * @returns where it listens, as a URL that works on this machine
 * @throws Fault `unavailable` when the port cannot be had, with what to do
 */
export async function listen(app: App, host: string, port: number): Promise<string> {
  try {
    await app.listen({ host, port })
  } catch (cause) {
    const problem = PROBLEMS[(cause as NodeJS.ErrnoException).code ?? '']
    if (!problem) throw cause
    throw new Fault('unavailable', `Cannot listen on ${host} port ${port}: ${problem}`, { cause })
  }
  return urlOf(app)
}

/**
 * Lets requests finish and closes the server.
 * @param milliseconds after which whoever is still there is cut off
 */
export async function closeWithin(app: App, milliseconds: number): Promise<void> {
  const deadline = setTimeout(() => app.server.closeAllConnections(), milliseconds)
  await app.close()
  clearTimeout(deadline)
}

function urlOf(app: App): string {
  const bound = app.server.address()
  if (bound === null || typeof bound === 'string') throw new Error('the HTTP server has no address')
  const host = ['127.0.0.1', '::1', '0.0.0.0', '::'].includes(bound.address) ? 'localhost' : bound.address
  return `http://${host.includes(':') ? `[${host}]` : host}:${bound.port}`
}
