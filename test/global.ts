import type { TestProject } from 'vitest/node'
import { openDatabase } from '../src/store/database.ts'
import { migrate } from '../src/store/migrate-schema.ts'
import { databaseUrl, execute, startPostgres } from './servers/postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the run's PostgreSQL, as superuser; its database `template_portreeve` is migrated. */
    postgres: string
  }
}

export const TEMPLATE = 'template_portreeve'

/**
 * Starts a server once per run, with a migrated database from which every test’s database is
 * copied.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres('embedded')
  await execute(server.url, `create database ${TEMPLATE}`)
  const { pool, close } = openDatabase(databaseUrl(server.url, TEMPLATE))
  await migrate(pool)
  await close()
  project.provide('postgres', server.url)
  return () => server.stop()
}
