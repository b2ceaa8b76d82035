import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import type { DatabaseServer } from '../../database-url.ts'
import { messageOf } from '../../errors.ts'

/** Milliseconds until callers that found no primary make every server answer again. */
const SEARCH_PAUSE_MS = 250

/** Knows which of several servers accepts writes, and which connections lead to which server. */
export type PrimaryFinder = {
  /**
   * Returns the server that accepts writes. It is searched when it is unknown, once for all that
   * wait.
   * @throws NoPrimaryError
   */
  find(): Promise<DatabaseServer>
  /** Makes the next caller of `find` search, because a connection to the server failed. */
  doubt(server: DatabaseServer): void
  /**
   * Closes the connection when another server becomes the primary. The server it leads to may be
   * gone without a word, and would leave its queries waiting for many minutes.
   */
  follow(client: Client, server: DatabaseServer): void
}

class NoPrimaryError extends Error {
  /** sqlclient_unable_to_establish_sqlconnection */
  readonly code = '08001'
}

/**
 * @param check resolves when the server accepts writes, and rejects with the reason when it does
 *   not; it has a time limit
 */
export function createPrimaryFinder(
  servers: DatabaseServer[],
  check: (server: DatabaseServer) => Promise<void>,
): PrimaryFinder {
  const connections = new Map<Client, DatabaseServer>()
  let primary: DatabaseServer | undefined
  let search: Promise<DatabaseServer> | undefined

  /** Asks all servers at once: one that is silent must not delay the answer of another. */
  async function searchAll(): Promise<DatabaseServer> {
    try {
      const found = await Promise.any(
        servers.map(async (server) => {
          await check(server)
          return server
        }),
      )
      primary = found
      search = undefined
      for (const [client, server] of connections)
        if (server !== found) client.connection.stream.destroy()
      return found
    } catch (error) {
      // The standbys of a failed primary must not be asked for every request.
      void sleep(SEARCH_PAUSE_MS, undefined, { ref: false }).then(() => (search = undefined))
      throw new NoPrimaryError(describe(servers, (error as AggregateError).errors), {
        cause: error,
      })
    }
  }

  return {
    async find() {
      return primary ?? (search ??= searchAll())
    },
    doubt(server) {
      if (primary === server) primary = undefined
    },
    follow(client, server) {
      connections.set(client, server)
      client.once('end', () => connections.delete(client))
    },
  }
}

function describe(servers: DatabaseServer[], errors: unknown[]): string {
  const reasons = servers.map(
    ({ host, port }, n) => `${host}:${port}: ${messageOf(errors[n]) || 'no answer'}`,
  )
  return `No server accepts writes (${reasons.join('; ')})`
}
