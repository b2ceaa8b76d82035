import type { Client } from 'pg'

/** An object of a database and the statement that creates it. */
export type Made = { name: string; sql: string }

export type TableDefinition = {
  /** Quoted, with its schema. */
  name: string
  /** Quoted, without generated columns. */
  columns: string
}

/** The statements that create a database, before and after its rows are copied. */
export type Schema = { before: Made[]; after: Made[]; tables: TableDefinition[] }

const OURS = `n.nspname !~ '^pg_' and n.nspname <> 'information_schema'`
const TABLE = `format('%I.%I', n.nspname, c.relname)`
const TABLES = `pg_class c join pg_namespace n on n.oid = c.relnamespace where ${OURS} and c.relkind in ('r', 'p')`

const SCHEMAS = `
  select 'schema ' || n.nspname as name, format('create schema if not exists %I', n.nspname) as sql
  from pg_namespace n where ${OURS} order by n.nspname`

const ENUMS = `
  select format('type %I.%I', n.nspname, t.typname) as name, format('create type %I.%I as enum (%s)', n.nspname, t.typname,
    string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder)) as sql
  from pg_type t join pg_namespace n on n.oid = t.typnamespace join pg_enum e on e.enumtypid = t.oid
  where ${OURS} group by n.nspname, t.typname order by 1`

const COMPOSITES = `
  select format('type %I.%I', n.nspname, c.relname) as name, format('create type %I.%I as (%s)', n.nspname, c.relname,
    string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' order by a.attnum)) as sql
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where ${OURS} and c.relkind = 'c' group by n.nspname, c.relname order by 1`

const FUNCTIONS = `
  select 'function ' || p.oid::regprocedure as name, pg_get_functiondef(p.oid) as sql
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace where ${OURS} order by 1`

const COLUMN = `concat_ws(' ', quote_ident(a.attname), format_type(a.atttypid, a.atttypmod),
    case when a.attcollation <> t.typcollation then 'collate ' || a.attcollation::regcollation end,
    case when a.attidentity <> '' then format('generated %s as identity (sequence name %s)',
           case a.attidentity when 'a' then 'always' else 'by default' end,
           pg_get_serial_sequence(${TABLE}, a.attname))
         when a.attgenerated = 's' then format('generated always as (%s) stored', pg_get_expr(d.adbin, d.adrelid))
         when d.adbin is not null then 'default ' || pg_get_expr(d.adbin, d.adrelid) end,
    case when a.attnotnull then 'not null' end)`

const CREATE_TABLES = `
  select 'table ' || ${TABLE} as name, concat_ws(' ', 'create',
    case c.relpersistence when 'u' then 'unlogged' end, 'table', ${TABLE},
    '(' || string_agg(${COLUMN}, ', ' order by a.attnum) || ')',
    'partition by ' || pg_get_partkeydef(c.oid),
    'with (' || array_to_string(c.reloptions, ', ') || ')') as sql
  from (select * from pg_attribute where attnum > 0 and not attisdropped) a
    join pg_type t on t.oid = a.atttypid
    left join pg_attrdef d on (d.adrelid, d.adnum) = (a.attrelid, a.attnum),
    ${TABLES} and a.attrelid = c.oid
  group by n.nspname, c.oid, c.relname, c.relpersistence, c.reloptions order by 1`

const PARTITIONS = `
  select 'partition ' || ${TABLE} as name, format('alter table %s attach partition %s %s', i.inhparent::regclass, ${TABLE},
    pg_get_expr(c.relpartbound, c.oid)) as sql
  from pg_inherits i, ${TABLES} and c.oid = i.inhrelid and c.relispartition order by 1`

/**
 * Partitions inherit these from their table. Foreign keys come last, because they need unique
 * indexes.
 */
const constraints = (types: string) => `
  select format('constraint %s of %s', k.conname, ${TABLE}) as name,
    format('alter table %s add constraint %I %s', ${TABLE}, k.conname, pg_get_constraintdef(k.oid)) as sql
  from pg_constraint k, ${TABLES} and k.conrelid = c.oid
    and k.contype in (${types}) and k.conparentid = 0 and k.coninhcount = 0 order by 1`

const INDEXES = `
  select 'index ' || i.indexrelid::regclass as name, replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') as sql
  from pg_index i join pg_class x on x.oid = i.indexrelid, ${TABLES} and i.indrelid = c.oid and not x.relispartition
    and not exists (select from pg_constraint k where k.conindid = x.oid and k.contype in ('p', 'u', 'x')) order by 1`

const TRIGGERS = `
  select format('trigger %s of %s', g.tgname, ${TABLE}) as name, pg_get_triggerdef(g.oid) as sql
  from pg_trigger g, ${TABLES} and g.tgrelid = c.oid and not g.tgisinternal and g.tgparentid = 0 order by 1`

/** In the order of their creation, because views may read others. */
const VIEWS = `
  select 'view ' || ${TABLE} as name, concat_ws(' ', 'create view', ${TABLE},
    'with (' || array_to_string(c.reloptions, ', ') || ')', 'as', pg_get_viewdef(c.oid)) as sql
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where ${OURS} and c.relkind = 'v' order by c.oid`

/** The next value of each identity column. */
const POSITIONS = `
  select format('position of %I.%I', schemaname, sequencename) as name,
    format('select setval(%L, %s)', format('%I.%I', schemaname, sequencename), last_value) as sql
  from pg_sequences where last_value is not null order by 1`

const COLUMNS = `
  select ${TABLE} as name, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
  from (select * from pg_attribute where attnum > 0 and not attisdropped and attgenerated = '') a,
    ${TABLES} and c.relkind = 'r' and a.attrelid = c.oid
  group by n.nspname, c.relname order by 1`

/** Objects that Portreeve never creates and cannot copy. */
const STRANGE = `
  select 'extension ' || extname as name from pg_extension where extname <> 'plpgsql'
  union all select format('%s (%s)', c.oid::regclass, c.relkind) from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where ${OURS} and (c.relkind not in ('r', 'p', 'i', 'I', 'S', 't', 'c', 'v') or c.relrowsecurity
      or c.relkind = 'S' and not exists (select from pg_depend where objid = c.oid and deptype = 'i')
      or c.relkind = 'r' and not c.relispartition and exists (select from pg_inherits where inhrelid = c.oid))
  union all select 'type ' || t.oid::regtype from pg_type t join pg_namespace n on n.oid = t.typnamespace
    where ${OURS} and t.typtype in ('d', 'r', 'm') or ${OURS} and t.typtype = 'b' and t.typelem = 0
  union all select p.oid::regprocedure::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where ${OURS} and p.prokind in ('a', 'w')
  order by 1`

/** Reads the schema of a database, as its server describes it. */
export async function readSchema(client: Client): Promise<Schema> {
  const before = await readAll(client, [
    SCHEMAS,
    ENUMS,
    COMPOSITES,
    FUNCTIONS,
    CREATE_TABLES,
    PARTITIONS,
  ])
  const keys = [constraints(`'p', 'u', 'x', 'c'`), INDEXES, constraints(`'f'`)]
  const after = await readAll(client, [...keys, VIEWS, TRIGGERS, POSITIONS])
  const { rows: tables } = await client.query<TableDefinition>(COLUMNS)
  return { before, after, tables }
}

/** Names objects of this database that `readSchema` does not cover. */
export async function findStrange(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(STRANGE)
  return rows.map(({ name }) => name)
}

async function readAll(client: Client, queries: string[]): Promise<Made[]> {
  const made: Made[] = []
  for (const text of queries) made.push(...(await client.query<Made>(text)).rows)
  return made
}
