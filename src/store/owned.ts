import { sql, type Kysely } from 'kysely'
import type { Db } from './database.ts'
import type { DB } from './tables.ts'

/** A foreign key: the rows of `child` belong to those of `parent`. */
type Edge = { child: string; parent: string; childColumns: string[]; parentColumns: string[] }

const SECRETS = [
  'password',
  'hash',
  'sealed',
  'secret',
  'signature_secret',
  'response_secret',
  'access_token',
  'refresh_token',
  'id_token',
  'code_hash',
]

/**
 * Columns left out. A session’s token is a cookie; an endpoint’s token is part of its URL and stays
 * in.
 */
const SECRETS_OF: Record<string, string[]> = {
  session: ['token'],
  two_factor: ['backup_codes'],
}

/** Relations without a foreign key, because checking it would cost more than the row. */
const UNDECLARED: Edge[] = [
  {
    child: 'webhook_request',
    parent: 'webhook_endpoint',
    childColumns: ['endpoint_id'],
    parentColumns: ['id'],
  },
  {
    child: 'webhook_attempt',
    parent: 'webhook_delivery',
    childColumns: ['delivery_id'],
    parentColumns: ['id'],
  },
]

/**
 * Rows per FETCH, and bytes beyond which the next FETCH is shorter: a captured request may have
 * megabytes.
 */
const MAX_PAGE_ROWS = 512
const PAGE_BYTES = 4 * 1024 * 1024

/** What an export covers: the row of an account, of workspaces, and all rows that refer to them. */
export type OwnedBy = { accountId: string | null; workspaceIds: string[] }

/**
 * Reads everything that is deleted with an account or with workspaces: their own rows and all rows
 * that refer to them, table by table, as of one time. Tables of later migrations are found by their foreign keys. It
 * holds a connection and a transaction until it ends: spool it to a file, never directly to a
 * client.
 * @param signal ends it with an error
 * @returns one line per row, `{"table": …, "row": {…}}`, without hashes, encrypted texts and
 *   cookies
 */
export async function* readOwned(
  db: Kysely<DB>,
  owner: OwnedBy,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const transaction = await db
    .startTransaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute()
  try {
    const edges = await readEdges(transaction)
    for (const { table, where } of ownedTables(edges, owner))
      yield* readTable(transaction, table, where, signal)
  } finally {
    await transaction.rollback().execute()
  }
}

async function* readTable(
  db: Db,
  table: string,
  where: ReturnType<typeof sql>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const left = [...SECRETS, ...(SECRETS_OF[table] ?? [])]
  await sql`declare owned no scroll cursor for
    select (to_jsonb(t) - ${left}::text[])::text as row from ${sql.table(table)} t where ${where}`.execute(
    db,
  )
  const name = JSON.stringify(table)
  for (let page = 16; ;) {
    signal.throwIfAborted()
    const { rows } = await sql<{ row: string }>`fetch ${sql.lit(page)} from owned`.execute(db)
    let bytes = 0
    for (const { row } of rows) {
      bytes += row.length
      yield `{"table":${name},"row":${row}}\n`
    }
    if (rows.length < page) break
    page = bytes > PAGE_BYTES ? Math.max(1, page >> 1) : Math.min(MAX_PAGE_ROWS, page * 2)
  }
  await sql`close owned`.execute(db)
}

/** Rows of one portion: a captured request or a report file may have megabytes. */
const PORTION_ROWS = 200

/**
 * Deletes all rows that refer to a workspace in small portions, children before parents, so that no
 * transaction holds rows for long that captures and reports of others need. The row of the
 * workspace stays, with what was added meanwhile.
 * @param signal ends it with an error
 */
export async function deleteOwnedRows(
  db: Db,
  workspaceId: string,
  signal: AbortSignal,
): Promise<void> {
  const owner = { accountId: null, workspaceIds: [workspaceId] }
  const partitioned = await listPartitionedTables(db)
  for (const { table, where } of ownedTables(await readEdges(db), owner).toReversed()) {
    // Partitions have the same ctid for different rows; their rows go with the workspace.
    if (table === 'workspace' || table === 'account' || partitioned.has(table)) continue
    for (let deleted = PORTION_ROWS; deleted > 0;) {
      signal.throwIfAborted()
      const { numAffectedRows = 0n } = await sql`
        delete from ${sql.table(table)} where ctid = any(array(
          select ctid from ${sql.table(table)} where ${where} limit ${PORTION_ROWS}))`.execute(db)
      deleted = Number(numAffectedRows)
    }
  }
}

async function listPartitionedTables(db: Db): Promise<Set<string>> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'p'`.execute(db)
  return new Set(rows.map(({ name }) => name))
}

/** Lists the tables whose rows belong to accounts or workspaces. */
export async function ownedTableNames(db: Db): Promise<string[]> {
  return ownedTables(await readEdges(db), { accountId: null, workspaceIds: [] }).map(
    ({ table }) => table,
  )
}

async function readEdges(db: Db): Promise<Edge[]> {
  const names = (keys: string, of: string) =>
    sql.raw(`
    (select array_agg(a.attname::text order by k.n) from unnest(c.${keys}) with ordinality k(attnum, n)
     join pg_attribute a on a.attrelid = c.${of} and a.attnum = k.attnum)`)
  const { rows } = await sql<Edge>`
    select c.conrelid::regclass::text as child, c.confrelid::regclass::text as parent,
      ${names('conkey', 'conrelid')} as child_columns, ${names('confkey', 'confrelid')} as parent_columns
    from pg_constraint c
    where c.contype = 'f' and c.confdeltype = 'c' and c.connamespace = 'public'::regnamespace and c.conparentid = 0
    order by 1, 2`.execute(db)
  return [...rows, ...UNDECLARED]
}

type Owned = { table: string; where: ReturnType<typeof sql> }

/** Orders parents before children. A table with several parents has the rows of each. */
function ownedTables(edges: Edge[], { accountId, workspaceIds }: OwnedBy): Owned[] {
  const found = new Map<string, Owned>([
    ['account', { table: 'account', where: sql`id = ${accountId}::uuid` }],
    ['workspace', { table: 'workspace', where: sql`id = any (${workspaceIds}::uuid[])` }],
  ])
  for (let grown = true; grown;) {
    grown = false
    for (const { child } of edges) {
      const known = edges.filter(
        (edge) => edge.child === child && edge.parent !== child && found.has(edge.parent),
      )
      if (found.has(child) || known.length === 0) continue
      found.set(child, {
        table: child,
        where: sql.join(
          known.map((edge) => belongs(edge, found)),
          sql` or `,
        ),
      })
      grown = true
    }
  }
  return [...found.values()]
}

function belongs({ parent, childColumns, parentColumns }: Edge, found: Map<string, Owned>) {
  const refs = (columns: string[]) => sql.join(columns.map((column) => sql.id(column)))
  return sql`(${refs(childColumns)}) in (select ${refs(parentColumns)} from ${sql.table(parent)} where ${found.get(parent)?.where})`
}
