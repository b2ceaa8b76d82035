// `npm test`: the tests that start no program but PostgreSQL, for the loop while writing.
// `npm test -- src/fleet test/http`: all tests of these modules, whatever they start.
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { dirname, extname, join, normalize } from 'node:path'
import { ROOT } from './run.ts'

/** Start programs only in a scaled run, or the run's own PostgreSQL. */
const STARTS_NOTHING_HERE = ['test/scaled/instances.ts', 'test/servers/postgres.ts']

const testFiles = globSync('test/**/*.test.ts', { cwd: ROOT, exclude: ['test/openapi-client/**'] })
const args = process.argv.slice(2)
const options = args.filter((arg) => arg.startsWith('-'))
const modules = args.filter((arg) => !arg.startsWith('-'))
const files =
  modules.length > 0
    ? modules.flatMap(testsOf)
    : testFiles.filter((file) => !startsPrograms(file, new Set()))
const unknown = modules.filter((path) => testsOf(path).length === 0)
if (unknown.length > 0) {
  console.error(`No tests mirror ${unknown.join(', ')}.`)
  process.exit(2)
}
const { status } = spawnSync('vitest', ['run', ...options, ...files], {
  cwd: ROOT,
  stdio: 'inherit',
})
process.exit(status ?? 1)

/** The tests of the longest path that mirrors a source path and has some; none, if nothing does. */
function testsOf(path: string): string[] {
  const mirrored = normalize(path)
    .replace(/^web\/src/, 'test/web')
    .replace(/^src/, 'test')
  let prefix = mirrored.slice(0, mirrored.length - extname(mirrored).length)
  for (; prefix !== 'test' && prefix !== '.'; prefix = dirname(prefix)) {
    const tests = testFiles.filter(
      (file) => file.startsWith(prefix) && '/.-'.includes(file.charAt(prefix.length)),
    )
    if (tests.length > 0) return tests
  }
  return []
}

/** Whether a file of the tests, or one of those that it imports, starts programs. */
function startsPrograms(file: string, seen: Set<string>): boolean {
  if (seen.has(file) || STARTS_NOTHING_HERE.includes(file)) return false
  seen.add(file)
  const source = readFileSync(join(ROOT, file), 'utf8')
  if (/from '(?:node:child_process|playwright-core)'/.test(source)) return true
  return [...source.matchAll(/(?:from|import\()\s*'(\.[^']+\.ts)'/g)]
    .map(([, path = '']) => normalize(join(dirname(file), path)))
    .filter((path) => path.startsWith('test/'))
    .some((path) => startsPrograms(path, seen))
}
