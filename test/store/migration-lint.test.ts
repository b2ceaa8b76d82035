import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'

const FOLDER = 'src/store/migrations'
/** The last migration of 0.2.0: those up to it are in use and can't change. */
const LAST_BEFORE = '0291_fleet_bouncer.sql'

const folder = mkdtempSync(join(tmpdir(), 'portreeve-migration-lint-'))
afterAll(() => rmSync(folder, { recursive: true }))

const squawk = join(
  dirname(createRequire(import.meta.url).resolve('squawk-cli/package.json')),
  'js/bin/squawk',
)

/** @returns the rules that a migration breaks */
function brokenRules(file: string): string[] {
  const isOutside = readFileSync(file, 'utf8').startsWith('-- without a transaction: ')
  const options = ['--reporter', 'json', ...(isOutside ? ['--no-assume-in-transaction'] : [])]
  const { stdout, stderr } = spawnSync(process.execPath, [squawk, ...options, file], {
    encoding: 'utf8',
  })
  if (!stdout.startsWith('[')) throw new Error(`squawk failed: ${stdout}${stderr}`)
  return (JSON.parse(stdout) as { rule_name: string; line: number }[]).map(
    ({ rule_name, line }) => `${file}:${line + 1} ${rule_name}`,
  )
}

function rulesOf(sql: string): string[] {
  const file = join(folder, 'example.sql')
  writeFileSync(file, sql)
  return brokenRules(file).map((found) => found.split(' ')[1] ?? '')
}

describe('database migrations', () => {
  it('can be applied while the version before is running', () => {
    const files = readdirSync(FOLDER).filter((name) => name.endsWith('.sql') && name > LAST_BEFORE)
    const additive = files
      .map((name) => join(FOLDER, name))
      .filter((file) => !readFileSync(file, 'utf8').startsWith('-- not additive: '))
    expect(additive.length).toBeGreaterThan(0)
    expect(additive.flatMap(brokenRules)).toEqual([])
  })

  it.each([
    ['drops a column', 'alter table account drop column name;', 'ban-drop-column'],
    ['renames a column', 'alter table account rename column name to title;', 'renaming-column'],
    ['drops a table', 'drop table account;', 'ban-drop-table'],
    [
      'requires a value that the version before does not write',
      'alter table account add column age int not null;',
      'adding-required-field',
    ],
    [
      'blocks writes for a new index',
      'create index account_name on account (name);',
      'require-concurrent-index-creation',
    ],
    [
      'checks all rows under a lock',
      'alter table account add constraint named check (name is not null);',
      'constraint-missing-not-valid',
    ],
  ])('are rejected when one %s', (_what, sql, rule) => {
    expect(rulesOf(sql)).toContain(rule)
  })
})
