import { CamelCasePlugin, Kysely, PostgresDialect, sql, type Transaction } from 'kysely'
import { Pool, types, type ClientBase, type PoolConfig } from 'pg'
import { Fault } from '../errors.ts'
import type { DB } from './tables.ts'
import { MINUTE_MS } from '../time.ts'

/** A pool or a transaction alike: the first argument of every store function. */
export type Db = Kysely<DB> | Transaction<DB>

export type Database = {
  db: Kysely<DB>
  /** The connections behind `db`, for libraries that bring their own SQL. */
  pool: Pool
  close: () => Promise<void>
}

const MIN_MAJOR = 15

/**
 * Milliseconds for one statement: nobody waits longer for an answer, and its connection is wanted
 * by others.
 */
export const STATEMENT_TIMEOUT_MS = 30_000

/**
 * Milliseconds for a lock, held by a transaction of ours that itself has statements of limited
 * length.
 */
export const LOCK_TIMEOUT_MS = 20_000

/**
 * Milliseconds that a transaction may do nothing: it holds a connection, its locks, and dead rows
 * of every table.
 */
export const IDLE_IN_TRANSACTION_TIMEOUT_MS = 30_000

/**
 * Set by a statement and not in the start-up message: PgBouncer refuses a connection with start-up
 * parameters that it does not know.
 */
const TIME_LIMITS = `set statement_timeout = ${STATEMENT_TIMEOUT_MS}; set lock_timeout = ${LOCK_TIMEOUT_MS};
  set idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_TIMEOUT_MS}`

/**
 * Milliseconds for a deletion that takes along everything that belongs to an account or a domain.
 */
export const DELETION_TIMEOUT_MS = 10 * MINUTE_MS

/** Milliseconds for a statement of nightly work that reads or deletes from a whole table. */
export const NIGHTLY_STATEMENT_TIMEOUT_MS = 30 * MINUTE_MS

/** For work that legitimately takes long, on a connection that it does not share. */
export const NO_TIME_LIMITS =
  'set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0'

/** Milliseconds for a connection: a request that waits longer is better answered with 503. */
const CONNECT_DEADLINE_MS = 5_000

/**
 * Opens a pool of connections; the first of them is made when it is needed.
 * @param url `postgres://…`
 * @param max connections at once
 */
export function openDatabase(url: string, { max = 15 }: { max?: number } = {}): Database {
  const pool = poolOf({
    connectionString: url,
    max,
    connectionTimeoutMillis: CONNECT_DEADLINE_MS,
    keepAlive: true,
    application_name: 'portreeve',
    types: { getTypeParser },
    onConnect: (client) => client.query(TIME_LIMITS),
  })
  const plugins = [new CamelCasePlugin({ maintainNestedObjectKeys: true })]
  const db = new Kysely<DB>({ dialect: new PostgresDialect({ pool }), plugins })
  return { db, pool, close: () => db.destroy() }
}

/** Whatever the planner believes of a table, every row is looked up by itself, in an index. */
const BY_INDEX = '; set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off'

/**
 * Further connections to the same database, for statements that look up a few keys and are planned
 * once: a plan made while a table was empty would go on reading all of it when it has a million
 * rows.
 * @param max connections at once
 */
export function openLookups({ options }: Pool, max: number): Pool {
  return poolOf({ ...options, max, onConnect: (client) => client.query(TIME_LIMITS + BY_INDEX) })
}

/**
 * Further connections to the same database for work without limits of time, to be ended when it is
 * done: the schema of the queue, which waits for other instances and may rewrite its tables.
 */
export function openUnlimited({ options }: Pool, max: number): Pool {
  return poolOf({ ...options, max, onConnect: (client) => client.query(NO_TIME_LIMITS) })
}

/**
 * Runs statements on one connection that may take longer than a request's; for background work that
 * says why.
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
      // Where this fails the connection is broken, and does not go back to the pool.
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
  // An idle connection that breaks is replaced at the next use. Without a listener it would end the
  // process.
  pool.on('error', () => {})
  // The same for one in use: whoever uses it hears of it through its query.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** @throws Fault `unavailable` when the server is older than what our SQL is written for */
export async function requireSupported(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ version: string }>(
    "select current_setting('server_version') as version",
  )
  const version = rows[0]?.version ?? ''
  if (parseInt(version, 10) >= MIN_MAJOR) return
  const sentence = `DATABASE_URL leads to a PostgreSQL ${version}. Portreeve needs ${MIN_MAJOR} or later.`
  throw new Fault('unavailable', sentence)
}

export type DatabaseState = {
  version: string
  now: Date
  /** On its disk. */
  bytes: number
}

/**
 * The server's version, its time, and what it keeps of ours, for those who look whether all is
 * well.
 */
export async function databaseState(db: Db): Promise<DatabaseState> {
  const query = sql<DatabaseState>`
    select current_setting('server_version') as version, clock_timestamp() as now,
      pg_database_size(current_database()) as bytes`
  const { rows } = await query.execute(db)
  return rows[0] as DatabaseState
}

const PARSERS = new Map<number, (text: string) => unknown>([
  [types.builtins.INT8, safeInteger],
  // A day has no time zone: as a Date it would be another day west of here.
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

/** What the operating system answers where there is no database. */
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
 * SQLSTATE classes 08 (connection), 53 (out of disk, memory, connections), and 57P (stopping,
 * starting, crashed).
 */
const AWAY_STATES = /^(?:08...|53...|57P..)$/

/** What pg, its pool and Kysely say without a code. */
const AWAY_MESSAGES =
  /^Connection terminated|^timeout exceeded when trying to connect|^Client has encountered a connection error|^Client was closed|^Cannot use a pool after calling end|^driver has already been destroyed/

/**
 * query_canceled, lock_not_available, idle_in_transaction_session_timeout (PostgreSQL, appendix A).
 */
const TIMEOUT_STATES = new Set(['57014', '55P03', '25P03'])

/** Whether the database gave a statement up because it took too long. */
export function isDatabaseTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (
    TIMEOUT_STATES.has((error as { code?: string }).code ?? '') || isDatabaseTimeout(error.cause)
  )
}

/**
 * Whether this error means that the database is away for the moment, and not that we asked
 * something wrong.
 */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code = '', syscall = '', message, cause } = error as NodeJS.ErrnoException
  if (NETWORK_ERRORS.has(code) && (NETWORK_CALLS.has(syscall) || error instanceof AggregateError))
    return true
  return AWAY_STATES.test(code) || AWAY_MESSAGES.test(message) || isUnavailable(cause)
}
