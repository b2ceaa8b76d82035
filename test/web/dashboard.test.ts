import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const files = globSync('web/src/**/*.{ts,tsx}')
const importsOf = (file: string) =>
  [...readFileSync(file, 'utf8').matchAll(/^(import|export)( type)? [^;]*?from '([^']+)'/gms)].map(
    ([, , type, source = '']) => ({ file, isType: type !== undefined, source }),
  )
const imports = files.flatMap(importsOf)

describe('the source of the dashboard', () => {
  it('knows Mantine in ui/ alone, so that it can be replaced there', () => {
    const strangers = imports.filter(
      ({ file, source }) => source.startsWith('@mantine/') && !/\/src\/ui\//.test(file),
    )
    expect(strangers).toEqual([])
    expect(imports.filter(({ source }) => source.startsWith('@mantine/'))).not.toEqual([])
  })
  it('imports only types from the shapes of the service', () => {
    const own = imports.filter(({ source }) => source.includes('../src/'))
    expect(own.filter(({ isType, source }) => !isType || !source.endsWith('/shapes.ts'))).toEqual(
      [],
    )
    expect(own).not.toEqual([])
  })
})

const DIST = 'web/dist'

describe.skipIf(!existsSync(DIST))('the built dashboard', () => {
  const gzipped = (name: string) => statSync(`${DIST}/${name}.gz`).size
  const scripts = globSync('assets/*.js', { cwd: DIST })
  const page = existsSync(DIST) ? readFileSync(`${DIST}/index.html`, 'utf8') : ''
  const reference = existsSync(DIST) ? readFileSync(`${DIST}/docs.html`, 'utf8') : ''
  const first = [...page.matchAll(/(?:src|href)="\/([^"]+\.js)"/g)].map(([, name = '']) => name)

  it('loads at most 200 kB of script for its first page', () => {
    expect(first).toContainEqual(expect.stringMatching(/^assets\/index-/))
    const welcome = scripts.filter((name) => /\/welcome-/.test(name))
    expect(welcome.length).toBe(1)
    expect([...first, ...welcome].reduce((sum, name) => sum + gzipped(name), 0)).toBeLessThan(
      200_000,
    )
  })
  it('adds at most 80 kB for any other screen', () => {
    const large = scripts.filter((name) => !first.includes(name) && gzipped(name) > 80_000)
    expect(large).toEqual([])
  })
  it('loads at most 110 kB of script for the API reference, without Mantine', () => {
    const loaded = [...reference.matchAll(/(?:src|href)="\/([^"]+\.js)"/g)].map(
      ([, name = '']) => name,
    )
    expect(loaded).toContainEqual(expect.stringMatching(/^assets\/docs-/))
    const total = loaded.reduce((sum, name) => sum + gzipped(name), 0)
    expect(total).toBeGreaterThan(40_000)
    expect(total).toBeLessThan(110_000)
    const mentions = loaded.filter((name) =>
      readFileSync(`${DIST}/${name}`, 'utf8').includes('MantineProvider'),
    )
    expect(mentions).toEqual([])
  })
  it('has nothing inline, which its content security policy would block', () => {
    for (const html of [page, reference])
      expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon[a-z]+=/)
  })
})
