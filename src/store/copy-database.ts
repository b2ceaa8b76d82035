import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { Fault, messageOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import { ADVISORY_LOCKS, waitForAdvisoryLock } from './advisory-locks.ts'
import { requireNoDatabase } from './backup.ts'
import { isUnavailable, requireSupported } from './database.ts'
import { createEmbedded, lockDataDir, startEmbedded, STOPPING_MS } from './embedded.ts'
import { carryOver, type CarryProgress, type CarryResult } from './embedded/carry-over.ts'
import { openMigrated } from './migrate-schema.ts'
import { createClient } from './servers/connect.ts'

/** A database: embedded in a data folder, or at a URL. */
export type DatabasePlace = { dataDir: string } | { url: string }

type CopyOptions = {
  log: Logger
  /** Called before the copy, with the size of the database in bytes. */
  onStart: (bytes: number) => void
} & CarryProgress

/** The schemas of Portreeve’s tables: its own, and that of its job queue. */
const SCHEMAS = ['public', 'pgboss']

/** Milliseconds for transactions that run in the source to end. */
const LOCK_TIMEOUT_MS = 10_000

/**
 * Copies a database to another place, which must be empty, and compares both. Meanwhile nothing can
 * change the source. The target has everything in the end, or nothing.
 * @throws Fault `conflict` when a service uses one of them, or the target is not empty,
 *   `unavailable` when one cannot be reached or the copy fails
 */
export async function copyDatabase(
  source: DatabasePlace,
  target: DatabasePlace,
  options: CopyOptions,
): Promise<CarryResult> {
  if ('url' in source) return copyFrom(source.url, target, options)
  const { dataDir } = source
  const lock = await lockDataDir({ dataDir, log: options.log }, STOPPING_MS)
  try {
    const server = await startEmbedded({ dataDir, log: options.log, lock })
    try {
      return await copyFrom(server.url, target, options)
    } finally {
      await server.stop()
    }
  } finally {
    lock.release()
  }
}

/** The source gets the schema of this version first, as with every command. */
async function copyFrom(
  url: string,
  target: DatabasePlace,
  options: CopyOptions,
): Promise<CarryResult> {
  await (await openMigrated(url)).close()
  return withClient(url, 'the source', async (from) => {
    await freeze(from)
    const bytes = await sizeOf(from)
    options.onStart(bytes)
    if ('url' in target) return copyInto(from, target.url, options)
    const { dataDir } = target
    const lock = await lockDataDir({ dataDir, log: options.log }, STOPPING_MS)
    try {
      requireNoDatabase(dataDir)
      let result: CarryResult | undefined
      await createEmbedded({ dataDir, log: options.log, lock }, bytes, async (to) => {
        result = await copyInto(from, to, options)
      })
      return result as CarryResult
    } finally {
      lock.release()
    }
  })
}

function copyInto(from: Client, url: string, progress: CarryProgress): Promise<CarryResult> {
  return withClient(url, 'the target', async (to) => {
    await requireSupported(to, '--to')
    await requireUtf8(to)
    // A service that is started on it too early waits.
    await waitForAdvisoryLock(to, ADVISORY_LOCKS.schemaMigration)
    await requireEmpty(to)
    return carryOver(from, to, progress)
  })
}

/**
 * Begins a transaction that sees one state, which nothing can change until it ends: instances that
 * start wait, and none may be running.
 * @throws Fault `conflict`
 */
async function freeze(client: Client): Promise<void> {
  await waitForAdvisoryLock(client, ADVISORY_LOCKS.schemaMigration)
  await requireAlone(client)
  const { rows } = await client.query<{ schema: string; tables: string | null; isOurs: boolean }>(
    `select nspname as schema, nspname = any($1) as "isOurs",
        string_agg(case when relkind in ('r', 'p') then format('%I.%I', nspname, relname) end, ', ') as tables
      from pg_namespace n left join pg_class c on c.relnamespace = n.oid
      where nspname !~ '^pg_' and nspname <> 'information_schema' group by nspname`,
    [SCHEMAS],
  )
  const strange = rows.filter(({ isOurs }) => !isOurs).map(({ schema }) => schema)
  if (strange.length > 0) {
    const sentence = `The source has schemas that are not Portreeve’s: ${strange.join(', ')}. Use pg_dump for it, with --schema=public --schema=pgboss.`
    throw new Fault('conflict', sentence)
  }
  await client.query('begin isolation level repeatable read read only')
  await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`)
  const tables = rows.flatMap((row) => row.tables ?? []).join(', ')
  // Before the first query, which determines the state that is seen.
  await client.query(`lock table ${tables} in share mode`).catch((cause: unknown) => {
    throw inUse(cause)
  })
}

/** Closed connections, also of this command, are there for another moment. */
async function requireAlone(client: Client): Promise<void> {
  const deadline = performance.now() + STOPPING_MS
  for (;;) {
    const { rows } = await client.query(
      `select from pg_stat_activity
        where datname = current_database() and application_name like 'portreeve%' and pid <> pg_backend_pid()`,
    )
    if (rows.length === 0) return
    if (performance.now() > deadline) throw inUse()
    await sleep(100)
  }
}

function inUse(cause?: unknown): Fault {
  const sentence = 'The source is in use. Stop every instance of Portreeve first.'
  return new Fault('conflict', sentence, { cause })
}

async function sizeOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>(
    'select pg_database_size(current_database()) as bytes',
  )
  return Number(rows[0]?.bytes)
}

async function requireUtf8(client: Client): Promise<void> {
  const { rows } = await client.query<{ encoding: string }>(
    `select current_setting('server_encoding') as encoding`,
  )
  const encoding = rows[0]?.encoding
  if (encoding === 'UTF8') return
  throw new Fault('conflict', `The target has the encoding ${encoding}. Create it with UTF8.`)
}

/** @throws Fault `conflict` */
async function requireEmpty(client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select format('%I.%I', nspname, relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where nspname !~ '^pg_' and nspname <> 'information_schema' and relkind not in ('i', 'I', 't') order by 1 limit 3`,
  )
  if (rows.length === 0) return
  const names = rows.map(({ name }) => name).join(', ')
  throw new Fault('conflict', `The target is not empty: it has ${names}. Create a new database.`)
}

async function withClient<T>(
  url: string,
  what: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = createClient(url, { application_name: 'portreeve copy', keepAlive: true })
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    const sentence = isUnavailable(cause)
      ? `PostgreSQL does not answer at ${what}: ${messageOf(cause)}.`
      : `The database could not be copied: ${messageOf(cause)}.`
    throw new Fault(
      'unavailable',
      `${sentence} The target has nothing of it, and the source is as it was.`,
      { cause },
    )
  } finally {
    await client.end().catch(() => {})
  }
}
