import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const files = globSync('web/src/**/*.{ts,tsx}')
const importsOf = (file: string) =>
  [...readFileSync(file, 'utf8').matchAll(/^(import|export)( type)? [^;]*?from '([^']+)'/gms)].map(
    ([, , type, source = '']) => ({ file, isType: type !== undefined, source }),
  )
const imports = files.flatMap(importsOf)

/** The files and packages that a file loads, and what these load, without dynamic imports. */
function staticImports(entry: string): string[] {
  const found = new Set([entry])
  for (const file of found) {
    if (!/^(web|src)\/.*\.tsx?$/.test(file)) continue
    for (const { isType, source } of importsOf(file))
      if (!isType) found.add(source.startsWith('.') ? join(dirname(file), source) : source)
  }
  return [...found].filter((source) => !source.startsWith('src/'))
}

const packageOf = (source: string) => source.split('/', source.startsWith('@') ? 2 : 1).join('/')

describe('the source of the dashboard', () => {
  it('imports only types from the shapes of the service, the verdicts of checks, the words about domains and the limits of a fleet', () => {
    const own = imports.filter(({ source }) => source.includes('../src/'))
    const allowed = ({ isType, source }: (typeof own)[number]) =>
      (isType && source.endsWith('/shapes.ts')) ||
      /src\/(?:diagnostics\/check-verdict|fleet\/limits|(?:domains|migration\/(?:cutover|proof))\/messages)\.ts$/.test(
        source,
      )
    expect(own.filter((one) => !allowed(one))).toEqual([])
    expect(own).not.toEqual([])
  })
  it('starts with these packages only, and without charts: others load with their screens', () => {
    const loaded = staticImports('web/src/main.tsx')
    const packages = loaded.filter((source) => !source.startsWith('web/')).map(packageOf)
    expect([...new Set(packages)].toSorted()).toEqual([
      '@tanstack/react-query',
      '@tanstack/react-router',
      'react',
      'react-dom',
    ])
    expect(loaded).toContain('web/src/frame/account-frame.tsx')
    expect(loaded.filter((file) => /\/(charts|pages)\//.test(file))).toEqual([])
  })
  it('asks for the account before its scripts are loaded, except on screens that need none', () => {
    const start = readFileSync('web/public/start.js', 'utf8')
    const open = new RegExp(/const open =\s+\/(\^.*\$)\/$/m.exec(start)?.[1] ?? 'missing')
    const screens = (kind: string) =>
      [...readFileSync('web/src/routes.tsx', 'utf8').matchAll(/(open|own)Screen\(\s*'([^']+)'/g)]
        .filter(([, found]) => found === kind)
        .map(([, , path = '']) => path)
    expect(screens('open').filter((path) => !open.test(path))).toEqual([])
    expect(screens('own').filter((path) => open.test(path))).toEqual([])
    expect(screens('own').length).toBeGreaterThan(40)
  })
  it('gets nothing of the service with the verdicts but their sentences', () => {
    const shared = [
      'diagnostics/check-verdict',
      'diagnostics/messages',
      'migration/cutover/messages',
      'migration/proof/messages',
    ].flatMap((name) => importsOf(`src/${name}.ts`))
    const loaded = shared.filter(({ isType }) => !isType).map(({ source }) => source)
    expect(loaded).toEqual(['./messages.ts'])
  })
})

const DIST = 'web/dist'

/** A line of `screens.json`. */
type Screen = { path: string; files: string[] }

describe.skipIf(!existsSync(DIST))('the built dashboard', () => {
  const gzipped = (name: string) => statSync(`${DIST}/${name}.gz`).size
  const scripts = globSync('assets/*.js', { cwd: DIST })
  const page = existsSync(DIST) ? readFileSync(`${DIST}/index.html`, 'utf8') : ''
  const reference = existsSync(DIST) ? readFileSync(`${DIST}/docs.html`, 'utf8') : ''
  const first = [...page.matchAll(/(?:src|href)="\/([^"]+\.js)"/g)].map(([, name = '']) => name)

  const brotli = (name: string) => statSync(`${DIST}/${name}.br`).size
  const sum = (names: string[], size: (name: string) => number) =>
    names.reduce((total, name) => total + size(name), 0)
  const linked = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(
    ([, name = '']) => name,
  )
  const screens = existsSync(`${DIST}/screens.json`)
    ? (JSON.parse(readFileSync(`${DIST}/screens.json`, 'utf8')) as Screen[])
    : []

  it('evaluates at most 130 kB of compressed script before its first content', () => {
    expect(first).toContainEqual(expect.stringMatching(/^assets\/dashboard-/))
    expect(sum(first, brotli)).toBeGreaterThan(60_000)
    expect(sum(first, brotli)).toBeLessThan(130_000)
  })
  it('needs at most seven files before its first content', () => {
    expect(linked.length).toBeGreaterThan(2)
    expect(linked.length).toBeLessThanOrEqual(7)
  })
  // With the headers of 20 files over HTTP/1.1 and the data that it shows, 200 kB.
  it('loads files of at most 185 kB for the first view of any screen', () => {
    const tooLarge = screens.filter((screen) => sum([...linked, ...screen.files], brotli) > 185_000)
    expect(tooLarge.map(({ path }) => path)).toEqual([])
  })
  it('loads at most 17 files more for any screen, and names them for the service', () => {
    const paths = [
      ...readFileSync('web/src/routes.tsx', 'utf8').matchAll(/(?:open|own)Screen\(\s*'([^']+)'/g),
    ].map(([, path]) => path)
    expect(paths.length).toBeGreaterThan(50)
    expect(screens.map(({ path }) => path)).toEqual(paths)
    expect(
      screens.filter((screen) => screen.files.length === 0 || screen.files.length > 17),
    ).toEqual([])
  })
  it('adds at most 80 kB for any other screen', () => {
    const large = scripts.filter((name) => !first.includes(name) && gzipped(name) > 80_000)
    expect(large).toEqual([])
  })
  it('loads at most 110 kB of script for the API reference, and nothing of the dashboard alone', () => {
    const loaded = [...reference.matchAll(/(?:src|href)="\/([^"]+\.js)"/g)].map(
      ([, name = '']) => name,
    )
    expect(loaded).toContainEqual(expect.stringMatching(/^assets\/docs-/))
    expect(loaded.filter((name) => /dashboard-|screen/.test(name))).toEqual([])
    expect(sum(loaded, gzipped)).toBeGreaterThan(40_000)
    expect(sum(loaded, gzipped)).toBeLessThan(110_000)
  })
  it('has nothing inline, which its content security policy would block', () => {
    for (const html of [page, reference])
      expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon[a-z]+=/)
  })
})
