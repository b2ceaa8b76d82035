import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generate, PostgresDialect } from 'kysely-codegen'
import { openDatabase } from '../src/store/database.ts'
import { migrate } from '../src/store/migrate-schema.ts'
import { startPostgres } from '../test/servers/postgres.ts'

/** Where the types of our tables are kept. */
export const TABLES_FILE = join(import.meta.dirname, '../src/store/tables.ts')

/** The TypeScript of all our tables, read from a migrated database. */
export async function renderTables(url: string): Promise<string> {
  const dialect = new PostgresDialect({ defaultSchemas: ['public'], dateParser: 'string' })
  const db = await dialect.introspector.connect({ connectionString: url, dialect })
  try {
    return await generate({
      db,
      dialect,
      camelCase: true,
      defaultSchemas: ['public'],
      includePattern: 'public.*',
      excludePattern: 'public.schema_migration',
      // Types as parsed by the pool: see the parsers in store/database.ts.
      typeMapping: { int8: 'number' },
      outFile: null,
    })
  } finally {
    await db.destroy()
  }
}

async function writeTables(): Promise<void> {
  const server = await startPostgres('embedded')
  const { pool, close } = openDatabase(server.url)
  try {
    await migrate(pool)
    writeFileSync(TABLES_FILE, await renderTables(server.url))
  } finally {
    await close()
    await server.stop()
  }
}

if (import.meta.main) await writeTables()
