import { sql } from 'kysely'
import type { Db } from './database.ts'

/** Tables with names that are unique in a workspace, and the column of the name. */
const NAME_COLUMNS = {
  dmarcDomain: 'domain',
  monitoredHost: 'host',
  watchedDomain: 'domain',
} as const

/** Those of the names that the workspace has in this table. */
export async function listKnownNames(
  db: Db,
  table: keyof typeof NAME_COLUMNS,
  workspaceId: string,
  names: string[],
): Promise<Set<string>> {
  const column = sql.ref(NAME_COLUMNS[table])
  const { rows } = await sql<{ name: string }>`
    select ${column} as name from ${sql.table(table)}
    where workspace_id = ${workspaceId} and ${column} = any(${names})`.execute(db)
  return new Set(rows.map(({ name }) => name))
}
