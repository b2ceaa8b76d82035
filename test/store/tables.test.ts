import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { renderTables, TABLES_FILE } from '../../scripts/tables.ts'
import { freshDatabase } from '../database.ts'

it('matches tables.ts (npm run tables)', async () => {
  const fresh = await freshDatabase()
  const rendered = await renderTables(fresh.url)
  // The generator does not wait for its connections to close, and fails if another process closes
  // them.
  const others = () =>
    fresh.pool.query(
      'select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
  await expect.poll(async () => (await others()).rowCount).toBe(0)
  await fresh.drop()
  expect(rendered).toContain('export interface DB')
  expect(readFileSync(TABLES_FILE, 'utf8')).toBe(rendered)
})
