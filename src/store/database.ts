import { hash } from 'node:crypto'
import { CamelCasePlugin, Kysely, PostgresDialect, sql, type Transaction } from 'kysely'
import { Pool, types, type ClientBase, type PoolConfig } from 'pg'
import { Fault } from '../errors.ts'
import { closeWhenReadOnly, targetOf } from './servers/connect.ts'
import type { DB } from './tables.ts'
import { MINUTE_MS } from '../time.ts'

/** A pool or a transaction: the first argument of every store function. */
export type Db = Kysely<DB> | Transaction<DB>

export type Database = {
  db: Kysely<DB>
  /** The connections of `db`, for libraries with their own SQL. */
  pool: Pool
  close: () => Promise<void>
}

const MIN_MAJOR = 15

/** Milliseconds for one statement: no request waits longer, and others need the connection. */
export const STATEMENT_TIMEOUT_MS = 30_000

/**
 * Milliseconds to wait for a lock, which is held by a transaction whose statements are limited
 * themselves.
 */
const LOCK_TIMEOUT_MS = 20_000

/**
 * Milliseconds that a transaction may be idle: it holds a connection, its locks, and dead rows of
 * every table.
 */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 30_000

/**
 * Set by a statement, not in the startup message: PgBouncer rejects connections with startup
 * parameters that it does not know.
 */
const TIME_LIMITS = `set statement_timeout = ${STATEMENT_TIMEOUT_MS}; set lock_timeout = ${LOCK_TIMEOUT_MS};
  set idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_TIMEOUT_MS}`

/** Milliseconds for the deletion of an account or domain with all its data. */
export const DELETION_TIMEOUT_MS = 10 * MINUTE_MS

/** Milliseconds for a nightly statement that reads or deletes from a whole table. */
export const NIGHTLY_STATEMENT_TIMEOUT_MS = 30 * MINUTE_MS

/** For legitimate long work on a connection of its own. */
export const NO_TIME_LIMITS =
  'set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0'

/** Milliseconds to wait for a connection. A request that waits longer gets 503. */
const CONNECT_DEADLINE_MS = 5_000

/**
 * Opens a pool of connections. The first connection is made when it is needed.
 * @param url `postgres://…`, of one server or several
 * @param max maximum number of connections
 */
export function openDatabase(url: string, { max = 15 }: { max?: number } = {}): Database {
  const pool = poolOf({
    ...targetOf(url),
    max,
    connectionTimeoutMillis: CONNECT_DEADLINE_MS,
    keepAlive: true,
    application_name: 'portreeve',
    types: { getTypeParser },
    onConnect: (client) => client.query(TIME_LIMITS),
  })
  const plugins = [new CamelCasePlugin({ maintainNestedObjectKeys: true })]
  const db = new Kysely<DB>({ dialect: new PostgresDialect({ pool }), plugins })
  const close = async () => {
    await db.destroy()
    // Kysely ends the pool only if it has used it.
    if (!pool.ending) await pool.end()
  }
  return { db, pool, close }
}

/** Every row is looked up in an index, whatever the planner’s statistics are. */
const BY_INDEX = '; set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off'

/**
 * Opens a second pool for prepared statements that look up a few keys. They are planned once: a
 * plan made for an empty table would still scan the whole table when it has a million rows.
 * @param max maximum number of connections
 */
export function openLookups({ options }: Pool, max: number): Pool {
  return poolOf({ ...options, max, onConnect: (client) => client.query(TIME_LIMITS + BY_INDEX) })
}

/**
 * The beginning of a statement that each connection parses and plans only once: for those of which
 * a worker runs many in a second, and which look up rows by their keys whatever their values are.
 * There must be few of them: a connection keeps the plan of each.
 */
export const PREPARED = '/* prepared */ '

/** Prepares statements that begin with `PREPARED`, also those of libraries that cannot name them. */
function prepareMarked(client: ClientBase): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown
  const prepare = (text: unknown, values: unknown, ...rest: unknown[]) =>
    typeof text === 'string' && text.startsWith(PREPARED)
      ? query({ name: hash('sha1', text), text, values }, ...rest)
      : query(text, values, ...rest)
  client.query = prepare as ClientBase['query']
}

/**
 * Opens a pool without time limits for the queue’s schema migration, which waits for other
 * instances and may rewrite tables. Close it when done.
 */
export function openUnlimited({ options }: Pool, max: number): Pool {
  return poolOf({ ...options, max, onConnect: (client) => client.query(NO_TIME_LIMITS) })
}

/**
 * Runs statements on one connection with a longer time limit, for background work.
 * @param milliseconds for each statement
 */
export async function withStatementTimeout<T>(
  db: Db,
  milliseconds: number,
  work: (db: Kysely<DB>) => Promise<T>,
): Promise<T> {
  return db.connection().execute(async (connection) => {
    await sql`set statement_timeout = ${sql.lit(milliseconds)}`.execute(connection)
    try {
      return await work(connection)
    } finally {
      // If this fails, the connection is broken and does not return to the pool.
      await sql`set statement_timeout = ${sql.lit(STATEMENT_TIMEOUT_MS)}`
        .execute(connection)
        .catch(() => {})
    }
  })
}

/**
 * The types of `pg` lack the promise of `onConnect`. Its `verify` will not do: a caller whose
 * deadline passes while `verify` runs leaves a connection behind that nothing releases (pg-pool
 * 3.14, `_acquireClient`).
 */
type Options = Omit<PoolConfig, 'onConnect'> & {
  onConnect: (client: ClientBase) => Promise<unknown>
}

function poolOf(options: Options): Pool {
  const pool = new Pool(options)
  // A broken idle connection is replaced at the next use. Without a listener it would end the
  // process.
  pool.on('error', () => {})
  // The same for a connection in use: its query rejects.
  pool.on('connect', (client) => client.on('error', () => {}))
  pool.on('connect', closeWhenReadOnly)
  pool.on('connect', prepareMarked)
  return pool
}

/**
 * Checks the server’s version.
 * @param name the setting or option that leads to it
 * @throws Fault `unavailable` when it is older than `MIN_MAJOR`
 */
export async function requireSupported(client: ClientBase, name = 'DATABASE_URL'): Promise<void> {
  const { rows } = await client.query<{ version: string }>(
    "select current_setting('server_version') as version",
  )
  const version = rows[0]?.version ?? ''
  if (parseInt(version, 10) >= MIN_MAJOR) return
  const sentence = `${name} leads to a PostgreSQL ${version}. Portreeve needs ${MIN_MAJOR} or later.`
  throw new Fault('unavailable', sentence)
}

export type DatabaseState = {
  version: string
  now: Date
  /** Bytes on disk. */
  bytes: number
}

/** Reads the server’s version, its time, and the size of the database, for the health page. */
export async function databaseState(db: Db): Promise<DatabaseState> {
  const query = sql<DatabaseState>`
    select current_setting('server_version') as version, clock_timestamp() as now,
      pg_database_size(current_database()) as bytes`
  const { rows } = await query.execute(db)
  return rows[0] as DatabaseState
}

const PARSERS = new Map<number, (text: string) => unknown>([
  [types.builtins.INT8, safeInteger],
  // A date has no time zone: as a JavaScript Date it would be another day in zones behind UTC.
  [types.builtins.DATE, (text) => text],
])

const getTypeParser: typeof types.getTypeParser = (oid, format) =>
  PARSERS.get(oid) ?? types.getTypeParser(oid, format)

function safeInteger(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number))
    throw new RangeError(`bigint ${text} is beyond what a number holds`)
  return number
}

/** Error codes of the operating system when no database can be reached. */
const NETWORK_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
])
const NETWORK_CALLS = new Set(['connect', 'read', 'write', 'getaddrinfo'])

/**
 * SQLSTATE classes 08 (connection), 53 (out of disk, memory, connections), 57P (stopping, starting,
 * crashed), and 25006 (it has become a standby).
 */
const AWAY_STATES = /^(?:08...|53...|57P..|25006)$/

/** Errors of pg, its pool and Kysely that have no code. */
const AWAY_MESSAGES =
  /^Connection terminated|^timeout exceeded when trying to connect|^Client has encountered a connection error|^Client was closed|^Cannot use a pool after calling end|^driver has already been destroyed/

/**
 * query_canceled, lock_not_available, idle_in_transaction_session_timeout (PostgreSQL, appendix A).
 */
const TIMEOUT_STATES = new Set(['57014', '55P03', '25P03'])

/** Whether the database canceled a statement because it took too long. */
export function isDatabaseTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (
    TIMEOUT_STATES.has((error as { code?: string }).code ?? '') || isDatabaseTimeout(error.cause)
  )
}

/** Whether PostgreSQL ended a transaction that waited for another one, which waited for it. */
export function isDeadlock(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (error as { code?: string }).code === '40P01' || isDeadlock(error.cause)
}

/** Whether the database is temporarily unavailable, as opposed to an error in the query. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code = '', syscall = '', message, cause } = error as NodeJS.ErrnoException
  if (NETWORK_ERRORS.has(code) && (NETWORK_CALLS.has(syscall) || error instanceof AggregateError))
    return true
  return AWAY_STATES.test(code) || AWAY_MESSAGES.test(message) || isUnavailable(cause)
}
