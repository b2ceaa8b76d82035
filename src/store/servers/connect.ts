import { Client, type ClientConfig } from 'pg'
import { parseDatabaseUrl, type DatabaseServer } from '../../database-url.ts'
import { createPrimaryFinder, type PrimaryFinder } from './primary.ts'

/** Milliseconds for a server to accept a connection and to say whether it accepts writes. */
const CHECK_TIMEOUT_MS = 3_000

/** read_only_sql_transaction: the server of the connection has become a standby. */
const READ_ONLY_STATE = '25006'

type Target = { connectionString: string; Client: typeof Client }

/** One for each URL in this process: what one connection notices is news for all of them. */
const targets = new Map<string, Target>()

/**
 * Returns the options of `Pool` that lead to the server at a URL. Its `Client` connects to the
 * server that accepts writes, if the URL names several or demands it.
 */
export function targetOf(url: string): Target {
  const { servers, needsWritable, withoutServers } = parseDatabaseUrl(url)
  if (!needsWritable && servers.length === 1) return { connectionString: url, Client }
  const known = targets.get(url)
  if (known) return known
  const finder = createPrimaryFinder(servers, (server) =>
    checkServer(withoutServers, server, needsWritable),
  )
  const target = {
    connectionString: withoutServers,
    Client: followingClient(finder, needsWritable),
  }
  targets.set(url, target)
  return target
}

/** Creates a client for the server at a URL, as `targetOf` finds it. */
export function createClient(url: string, options: ClientConfig): Client {
  const { connectionString, Client: Following } = targetOf(url)
  return new Following({ ...options, connectionString })
}

/**
 * Closes a connection whose server refuses to write: the next one may lead to the new primary. Its
 * pool would keep it otherwise.
 */
export function closeWhenReadOnly(client: Client): void {
  client.connection.on('errorMessage', ({ code }: { code?: string }) => {
    if (code === READ_ONLY_STATE) void client.end()
  })
}

function followingClient(finder: PrimaryFinder, needsWritable: boolean): typeof Client {
  return class extends Client {
    override connect(): Promise<Client>
    override connect(callback: (error: Error) => void): void
    override connect(callback?: (error: Error) => void): Promise<Client> | void {
      const connected = this.#connectToPrimary()
      if (!callback) return connected
      connected.then(
        () => process.nextTick(callback, undefined),
        (error: unknown) => process.nextTick(callback, error),
      )
    }

    async #connectToPrimary(): Promise<Client> {
      const server = await finder.find()
      const doubt = () => finder.doubt(server)
      this.on('error', doubt)
      this.connection.on('errorMessage', ({ code }: { code?: string }) => {
        if (code === READ_ONLY_STATE) doubt()
      })
      finder.follow(this, server)
      Object.assign(this, server)
      try {
        await super.connect()
        if (needsWritable) await requireWritable(this)
      } catch (error) {
        doubt()
        await this.end().catch(() => {})
        throw error
      }
      return this
    }
  }
}

async function checkServer(
  connectionString: string,
  server: DatabaseServer,
  needsWritable: boolean,
): Promise<void> {
  const client = new Client({
    connectionString,
    application_name: 'portreeve search',
    connectionTimeoutMillis: CHECK_TIMEOUT_MS,
    query_timeout: CHECK_TIMEOUT_MS,
  })
  Object.assign(client, server)
  client.on('error', () => {})
  try {
    await client.connect()
    if (needsWritable) await requireWritable(client)
  } finally {
    void client.end().catch(() => {})
  }
}

/** As `target_session_attrs=read-write` of libpq checks it. */
async function requireWritable(client: Client): Promise<void> {
  const { rows } = await client.query<{ transaction_read_only: string }>(
    'show transaction_read_only',
  )
  if (rows[0]?.transaction_read_only !== 'off') throw new Error('read-only')
}
