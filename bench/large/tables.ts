import type { Pool } from 'pg'

export type TableSize = { name: string; rows: number; bytes: number; indexBytes: number }

/** The largest tables; partitions count as their table. */
export async function readSizes(pool: Pool, limit: number): Promise<TableSize[]> {
  const { rows } = await pool.query<TableSize>(
    `select name, sum(rows)::float8 as rows, sum(bytes)::float8 as bytes, sum(index_bytes)::float8 as "indexBytes"
     from (
       select coalesce(i.inhparent, c.oid)::regclass::text as name, greatest(0, c.reltuples) as rows,
         pg_table_size(c.oid) as bytes, pg_indexes_size(c.oid) as index_bytes
       from pg_class c left join pg_inherits i on i.inhrelid = c.oid
       where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace) t
     group by name order by sum(bytes + index_bytes) desc limit $1`,
    [limit],
  )
  return rows
}

export async function databaseBytes(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(
    'select pg_database_size(current_database())::float8 as bytes',
  )
  return rows[0]?.bytes ?? 0
}
