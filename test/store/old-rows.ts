import type { Pool } from 'pg'

type Column = {
  name: string
  type: string
  /** Must be given: not null, and nothing fills it. */
  needed: boolean
  /** `select …` of the row it refers to. */
  parent: string | null
  /** The first of the values that a check allows. */
  allowed: string | null
}
export type Table = { name: string; partitioned: boolean; columns: Column[] }

const TABLES = `
  select c.oid::regclass::text as name, c.relkind = 'p' as partitioned, json_agg(json_build_object(
    'name', quote_ident(a.attname), 'type', format_type(a.atttypid, null),
    'needed', a.attnotnull and not a.atthasdef and a.attidentity = '',
    'parent', (select format('(select %I from %s limit 1)', r.attname, f.confrelid::regclass) from pg_constraint f
               join pg_attribute r on r.attrelid = f.confrelid and r.attnum = f.confkey[array_position(f.conkey, a.attnum)]
               where f.conrelid = c.oid and f.contype = 'f' and a.attnum = any (f.conkey) limit 1),
    'allowed', (select substring(pg_get_constraintdef(k.oid) from format('\\(%s = (?:ANY \\(ARRAY\\[)?(''[^'']*'')', a.attname))
                from pg_constraint k where k.conrelid = c.oid and k.contype = 'c' and a.attnum = any (k.conkey)
                order by 1 limit 1)) order by a.attnum) as columns
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    and a.attgenerated = '' and a.attidentity <> 'a'
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and c.relname <> 'schema_migration'
  group by c.oid order by c.oid`

/** A value of each type, as SQL. */
const VALUES: Record<string, string> = {
  text: `'x'`,
  uuid: `'019a9d2e-90aa-7d0c-b1f2-6f0a4c2e7d42'`,
  boolean: 'false',
  'timestamp with time zone': 'now()',
  date: 'current_date',
  inet: `'192.0.2.1'`,
  cidr: `'192.0.2.0/24'`,
  bytea: `'\\x00'`,
  json: `'[]'`,
  jsonb: `'[]'`,
  interval: `'1 hour'`,
}

const REACHED = `'{"host": "imap.example.test", "port": 993, "secure": true, "user": "alice", "tlsVerify": true}'`

/**
 * Values that a table’s constraints require, and values of the first version where a column has
 * several forms.
 */
const ODD: Record<string, string> = {
  'migration.status': `'completed'`,
  'migration.source': REACHED,
  'migration.destination': REACHED,
  'migration.options': `'{"deduplicate": true, "dryRun": false, "folderMap": {}}'`,
  'migration.progress': `'{"currentFolder": "", "foldersDone": 1, "foldersTotal": 1, "messagesDone": 7, "messagesTotal": 7,
    "skippedByDedup": 0, "errorCount": 0, "bytesDone": 700, "messagesPerSecond": 0, "etaSeconds": null, "throttledUntil": null,
    "folderProgress": {"INBOX": {"lastUid": 7, "doneCount": 7, "total": 7, "bytes": 700, "destination": "INBOX"}}}'`,
  // Each has one of two forms.
  'owner_link.mailbox_id': 'null',
  'mail_consent.owner_link_id': 'null',
  'mail_consent.browser_hash': 'null',
  'webhook_endpoint.token': `'oldtoken00'`,
  'monitored_host.lists': `'{}'`,
  'shared_check.token': `repeat('a', 24)`,
}

export async function readTables(pool: Pool): Promise<Table[]> {
  return (await pool.query<Table>(TABLES)).rows
}

/**
 * Puts a row into every table that has none, whatever the schema: no column empty, where its checks
 * allow that.
 */
export async function fillEveryTable(pool: Pool): Promise<void> {
  const tables = await readTables(pool)
  await fillEmptyTables(pool, tables, await countRows(pool, tables))
}

/** @param counts rows of each table, as `countRows` returns them */
export async function fillEmptyTables(
  pool: Pool,
  tables: Table[],
  counts: Record<string, number>,
): Promise<void> {
  let left = tables.filter(({ name }) => counts[name] === 0)
  while (left.length > 0) {
    const troubles = new Map<Table, unknown>()
    for (const table of left)
      await fill(pool, table).catch((error: unknown) => troubles.set(table, error))
    if (troubles.size === left.length) {
      const said = [...troubles].map(([{ name }, error]) => `${name}: ${String(error)}`)
      throw new Error(`no row can be made for\n${said.join('\n')}`)
    }
    left = [...troubles.keys()]
  }
}

async function fill(pool: Pool, { name, partitioned, columns }: Table): Promise<void> {
  if (partitioned) await pool.query(partitionOfToday(name))
  const insert = (some: Column[]) => {
    if (some.length === 0) return pool.query(`insert into ${name} default values`)
    const values = some.map((column) => valueOf(name, column)).join(', ')
    return pool.query(
      `insert into ${name} (${some.map((column) => column.name).join(', ')}) values (${values})`,
    )
  }
  const needed = columns.filter((column) => column.needed)
  await insert(columns).catch(() => insert(needed))
}

/**
 * Gives columns that were added since the last call a value in the rows that there are, where their
 * checks allow that.
 * @param known the columns seen so far; the present ones are added
 */
export async function fillNewColumns(
  pool: Pool,
  tables: Table[],
  known: Set<string>,
): Promise<void> {
  for (const table of tables) {
    for (const column of table.columns) {
      const name = `${table.name}.${column.name}`
      if (known.has(name)) continue
      known.add(name)
      const update = `update ${table.name} set ${column.name} = ${valueOf(table.name, column)} where ${column.name} is null`
      await pool.query(update).catch(() => null)
    }
  }
}

/** The partition as the service creates it. */
function partitionOfToday(table: string): string {
  const [today, tomorrow] = [0, 1].map((ahead) =>
    new Date(Date.now() + ahead * 86_400_000).toISOString().slice(0, 10),
  )
  const name = `${table}_${today?.replaceAll('-', '')}`
  return `create table if not exists ${name} partition of ${table} for values from ('${today}') to ('${tomorrow}')`
}

function valueOf(table: string, { name, type, parent, allowed }: Column): string {
  const fitting = type.endsWith('[]') ? `'{}'` : VALUES[type]
  return ODD[`${table}.${name}`] ?? parent ?? allowed ?? fitting ?? '1'
}

/** Rows of each table, to be compared. */
export async function countRows(pool: Pool, tables: Table[]): Promise<Record<string, number>> {
  const each = tables.map(({ name }) => `select '${name}' as name, count(*)::int as n from ${name}`)
  const { rows } = await pool.query<{ name: string; n: number }>(each.join(' union all '))
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]))
}
