import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { migrate } from '../../src/store/migrate-schema.ts'

export const MIGRATIONS = 'src/store/migrations'

/** Gives a database the schema of an earlier version, by the name of its last migration. */
export async function migrateUpTo(pool: Pool, name: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-schema-'))
  const old = readdirSync(MIGRATIONS).filter((file) => file <= `${name}.sql`)
  for (const file of old) copyFileSync(join(MIGRATIONS, file), join(folder, file))
  await migrate(pool, folder)
  rmSync(folder, { recursive: true })
}
