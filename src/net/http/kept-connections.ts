import { Agent, type AgentOptions, type ClientRequestArgs } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Target } from '../guard.ts'

/**
 * Milliseconds after which an idle connection is closed: before the five seconds after which many
 * servers do. Node does so a second before the time that a server names in `Keep-Alive`.
 */
const IDLE_MS = 4_000

/** What a request says of the connection that it needs. */
export type ConnectionOptions = {
  /** Its scheme, host, port and checked addresses. */
  connection: string
  /** Opens one to a checked address. */
  open: () => Promise<Socket>
}

/**
 * Connections that are used for several requests. Each request has its target checked; a connection
 * serves it only if it was opened for the same host, with the same checked addresses.
 */
export class KeptConnections extends Agent {
  /** @param maxIdle connections to one target that are kept open */
  constructor(maxIdle: number) {
    super({ keepAlive: true, maxFreeSockets: maxIdle, timeout: IDLE_MS, scheduling: 'lifo' })
  }

  override getName(options?: AgentOptions): string {
    return (options as unknown as ConnectionOptions).connection
  }

  override createConnection(
    options: ClientRequestArgs,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    // As Node does, without a stream where there is an error.
    const created = callback as (error: Error | null, stream?: Duplex) => void
    ;(options as unknown as ConnectionOptions).open().then(
      (socket) => created(null, socket),
      (error: unknown) => created(error as Error),
    )
  }
}

/** The name under which connections to a target are kept. */
export function connectionName(origin: string, { host, addresses }: Target): string {
  return `${origin} ${host} ${addresses.toSorted().join(' ')}`
}
