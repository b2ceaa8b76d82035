import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const files = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n')

const PAGES = /^(ARCHITECTURE|CONTRIBUTING|web\/README)\.md$/
const SOURCES = /^(src|web\/src|scripts|test|bench)\/.*\.tsx?$/

/** Paths of sources, or ends of paths: in backticks on pages, and in comments of sources. */
function namesIn(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  const prose = PAGES.test(file)
    ? text
    : (text.match(/\/\*\*.*?\*\/|^ *\/\/.*$/gms) ?? []).join('\n')
  return [...prose.matchAll(/`([\w./-]+\.tsx?)`/g)].map(([, name = '']) => name)
}

it('pages and comments name files that exist', () => {
  const ends = new Set(
    files.flatMap((file) => file.split('/').map((_, from, parts) => parts.slice(from).join('/'))),
  )
  const documented = files.filter((file) => PAGES.test(file) || SOURCES.test(file))
  const missing = documented.flatMap((file) =>
    namesIn(file)
      .filter((name) => !ends.has(name))
      .map((name) => `${file}: ${name}`),
  )
  expect(documented.length).toBeGreaterThan(1_000)
  expect(missing).toEqual([])
})
