import { Client } from 'pg'
import { ADVISORY_LOCKS } from '../advisory-locks.ts'
import { isUnavailable } from '../database.ts'

/** Ownership of a running server by this process. It ends with the process. */
export type Claim = {
  client: Client
  /** Seconds since the server started. */
  age: number
  /** Resolves when the connection that holds the claim ends. */
  lost: Promise<void>
  release(): Promise<void>
}

/**
 * `away`: no server listens. `starting`: it is starting or stopping. `taken`: another Portreeve
 * owns it.
 */
export type ClaimResult = Claim | 'away' | 'starting' | 'taken'

/** Who runs a server: the service for as long as it runs, a command only for its own work. */
export type OwnerKind = 'service' | 'command'

/** The name of the connection that holds the claim. */
const SUPERVISORS: Record<OwnerKind, string> = {
  service: 'portreeve supervisor',
  command: 'portreeve command',
}

/**
 * Claims a running server, if there is one that is unclaimed.
 * @param url of its superuser, to the database `postgres`
 */
export async function tryClaim(url: string, kind: OwnerKind = 'service'): Promise<ClaimResult> {
  const client = clientOf(url, SUPERVISORS[kind])
  try {
    await client.connect()
    const { rows } = await client.query<{ mine: boolean; age: number }>(
      `select pg_try_advisory_lock($1) as mine, extract(epoch from now() - pg_postmaster_start_time())::float8 as age`,
      [ADVISORY_LOCKS.embeddedOwner],
    )
    if (rows[0]?.mine) return claimOf(client, rows[0].age)
    await client.end()
    return 'taken'
  } catch (error) {
    await client.end().catch(() => {})
    return absence(error)
  }
}

/**
 * Who has claimed the server at a URL: null while none listens, and while it is starting, stopping
 * or unclaimed, or has not yet created its database.
 */
export async function findOwner(url: string, database: string): Promise<OwnerKind | null> {
  const client = clientOf(url, 'portreeve')
  try {
    await client.connect()
    const { rows } = await client.query<{ name: string }>(
      `select application_name as name from pg_locks join pg_stat_activity using (pid)
        where locktype = 'advisory' and granted and objsubid = 1 and (classid::int8 << 32) + objid::int8 = $1
          and exists (select from pg_database where datname = $2)`,
      [ADVISORY_LOCKS.embeddedOwner, database],
    )
    const [owner] = rows
    if (!owner) return null
    return owner.name === SUPERVISORS.command ? 'command' : 'service'
  } catch (error) {
    absence(error)
    return null
  } finally {
    await client.end().catch(() => {})
  }
}

function clientOf(url: string, name: string): Client {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    application_name: name,
  })
  // Without a listener, the end of the server would end this process.
  client.on('error', () => {})
  return client
}

function claimOf(client: Client, age: number): Claim {
  const lost = new Promise<void>((resolve) => client.once('end', () => resolve()))
  return { client, age, lost, release: () => client.end() }
}

function absence(error: unknown): 'away' | 'starting' {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ECONNREFUSED') return 'away'
  // The timeout is that of the client, which has no code.
  if (isUnavailable(error) || /timeout/i.test(message)) return 'starting'
  throw error
}
