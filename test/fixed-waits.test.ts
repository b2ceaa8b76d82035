import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const WAIT = /\b(?:sleep|setTimeout|waitForTimeout)\((?!\)|resolve\))|\baWhile\(/
const WAITS_IN_SQL = /pg_sleep/

/** Test files that wait for a time, as CONTRIBUTING.md names them: `jobs/jobs`. */
const waiting = globSync('test/**/*.test.ts', { exclude: ['test/{openapi-client,hard}/**'] })
  .filter((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .some((line) => WAIT.test(line) && !WAITS_IN_SQL.test(line)),
  )
  .map((file) => file.slice('test/'.length, -'.test.ts'.length))

it('names each test file that waits for a time, and no other, with its reason', () => {
  const section = readFileSync('CONTRIBUTING.md', 'utf8').split('### Fixed waits')[1] ?? ''
  const named = section.split('\n## ')[0]?.match(/`[a-z\d-]+(?:\/[a-z\d-]+)+`/g) ?? []
  const files = named.map((name) => name.slice(1, -1))
  expect([...new Set(files)].toSorted()).toEqual(waiting.toSorted())
})
