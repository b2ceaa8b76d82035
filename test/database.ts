import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import { openDatabase, type Database } from '../src/store/database.ts'
import { TEMPLATE } from './global.ts'
import { databaseUrl, execute } from './servers/postgres.ts'

export type FreshDatabase = Omit<Database, 'close'> & {
  url: string
  /** Closes the pool and removes the database. */
  drop: () => Promise<void>
}

/** Creates a database for one test: migrated, without rows, on the server of the run. */
export function freshDatabase(): Promise<FreshDatabase> {
  return copyDatabase(inject('postgres'), TEMPLATE)
}

/** Creates a database without tables, on the server of the run or another. */
export function emptyDatabase(serverUrl: string = inject('postgres')): Promise<FreshDatabase> {
  return copyDatabase(serverUrl, 'template1')
}

async function copyDatabase(serverUrl: string, template: string): Promise<FreshDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  await execute(serverUrl, `create database ${name} template ${template} strategy file_copy`)
  const url = databaseUrl(serverUrl, name)
  const { db, pool, close } = openDatabase(url)
  return {
    url,
    db,
    pool,
    async drop() {
      await close()
      await execute(serverUrl, `drop database ${name} with (force)`)
    },
  }
}
