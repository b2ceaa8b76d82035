import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { renderTables, TABLES_FILE } from '../../scripts/tables.ts'
import { freshDatabase } from '../database.ts'

it('has tables.ts as the migrations leave the database (npm run tables)', async () => {
  const fresh = await freshDatabase()
  const rendered = await renderTables(fresh.url)
  await fresh.drop()
  expect(rendered).toContain('export interface DB')
  expect(readFileSync(TABLES_FILE, 'utf8')).toBe(rendered)
})
