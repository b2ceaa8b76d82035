import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'

/** The layers of ARCHITECTURE.md, the lowest first. */
const LAYERS = readFileSync('ARCHITECTURE.md', 'utf8')
  .replace(/^.*^## Layers\n+```text\n(.*?)^```.*$/ms, '$1')
  .split(/^\d+ +/m)
  .map((names) => names.split(/\s+/).filter((name) => name !== ''))
  .filter((names) => names.length > 0)
  .toReversed()

const layerOf = new Map(
  LAYERS.flatMap((modules, layer) => modules.map((name) => [name, layer] as const)),
)
const moduleOf = (path: string) => path.split('/')[1] ?? ''
const files = globSync('src/**/*.ts')
const sources = [...files, ...globSync('web/src/**/*.{ts,tsx}')]
const sourceOf = (file: string) => readFileSync(file, 'utf8')
const importsOf = (file: string) =>
  [...sourceOf(file).matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, path = '']) =>
    normalize(join(dirname(file), path)),
  )

function wrongImports(): string[] {
  return files.flatMap((file) =>
    importsOf(file)
      .filter((target) => moduleOf(target) !== moduleOf(file))
      .filter(
        (target) =>
          !(
            (layerOf.get(moduleOf(target)) ?? Infinity) < (layerOf.get(moduleOf(file)) ?? -1) ||
            isLowestLayer(file, target)
          ),
      )
      .map((target) => `${file} → ${target}`),
  )
}

/** In the lowest layer, files may import one another (settings throw Faults). */
const isLowestLayer = (file: string, target: string) =>
  layerOf.get(moduleOf(file)) === 0 && layerOf.get(moduleOf(target)) === 0

/**
 * Groups of files that import one another, in strongly connected components (Tarjan). Type-only
 * imports count too.
 */
function findCircles(): string[][] {
  const known = new Set(sources)
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []
  const circles: string[][] = []

  function visit(file: string): void {
    order.set(file, order.size)
    lowest.set(file, order.get(file) ?? 0)
    stack.push(file)
    for (const target of importsOf(file).filter((path) => known.has(path))) {
      if (!order.has(target)) visit(target)
      if (stack.includes(target))
        lowest.set(file, Math.min(lowest.get(file) ?? 0, lowest.get(target) ?? 0))
    }
    if (lowest.get(file) !== order.get(file)) return
    const component = stack.splice(stack.indexOf(file))
    if (component.length > 1 || importsOf(file).includes(file)) circles.push(component.toSorted())
  }

  for (const file of sources) if (!order.has(file)) visit(file)
  return circles
}

/** Files with SQL that looks like a claim of due rows, and why it is none. */
const OTHER_CLAIMS: Record<string, string> = {
  'src/abuse/attack-list.sql.ts':
    'scores all addresses that are due, by an index without their order',
  'src/dmarc/sources/dmarc-sources.sql.ts': 'indexes the records of an earlier version',
  'src/migration/consent/migration-consents.sql.ts':
    'locks what a new sign-in continues, due or not',
  'src/migration/migrations.sql.ts': 'shows the place in the queue; jobs claim migrations',
}

const filesMatching = (pattern: RegExp, allowed: RegExp) =>
  files.filter((file) => !allowed.test(file) && pattern.test(sourceOf(file)))

describe('src', () => {
  it('assigns every file to a layer', () => {
    expect(files.filter((file) => !layerOf.has(moduleOf(file)))).toEqual([])
  })
  it('imports only from the same module and lower layers', () => {
    expect(wrongImports()).toEqual([])
  })
  it('has no circles of imports, type-only imports and those of the dashboard included', () => {
    expect(findCircles().map((circle) => circle.join(' ↔ '))).toEqual([])
  })
  it('reads the environment only in config.ts', () => {
    expect(filesMatching(/process\.env/, /^src\/config\.ts$/)).toEqual([])
  })
  it('opens sockets only in net/; the store connects to its database', () => {
    const opens =
      /^import (?!type)(?!\{ isIP(v[46])?(, isIP(v[46])?)* \}).* from 'node:(net|tls|dgram|https|http2|dns)'|\bfetch\(/m
    expect(filesMatching(opens, /^src\/(net|store)\//)).toEqual([])
  })
  it('opens a transaction or cursor that outlives a function only in the account export', () => {
    // Held while a client reads, it would occupy a database connection for as long as the client
    // chooses.
    const held = /\.startTransaction\(|\bcursor for\b|pg-cursor|pg-query-stream|\.stream\(\s*\d/
    expect(filesMatching(held, /^src\/store\/owned\.ts$/)).toEqual([])
    // The export is written to a file before the response begins.
    const readers = filesMatching(
      /\breadOwned\(/,
      /^src\/(store\/owned|accounts\/own-data\/own-data-routes)\.ts$/,
    )
    expect(readers).toEqual([])
    expect(sourceOf('src/accounts/own-data/own-data-routes.ts')).toMatch(
      /exports\.spool\(\(signal\) => readOwned\(/,
    )
  })
  it('claims due rows only in store/due-rows.ts', () => {
    // In turn, under a lease, or without those that are locked.
    const claim =
      /skip ?locked|partition by [^)]*responsible|(claimed|leased)_until\)?,? *('-infinity'\) *)?<|'(claimed|leased)Until', '<|'next\w+At', '<='/i
    const found = filesMatching(claim, /^src\/(store\/due-rows\.ts$|jobs\/)/)
    expect(found.toSorted()).toEqual(Object.keys(OTHER_CLAIMS))
  })
  it('has one file of a name, but for those that every module has, and no folder with one file', () => {
    const everywhere = /\/(routes|shapes|messages|limits|module)\.ts$/
    const names = files.filter((file) => !everywhere.test(file)).map((file) => basename(file))
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
    const folders = globSync('src/**/*').map((path) => dirname(path))
    const alone = folders.filter(
      (folder) => folders.indexOf(folder) === folders.lastIndexOf(folder),
    )
    expect(alone).toEqual([])
  })
  it('keeps the SQL of a module in files that are called so', () => {
    const sql = /\.(selectFrom|insertInto|updateTable|deleteFrom)\(|\bsql`/
    expect(filesMatching(sql, /^src\/(store|jobs)\/|\.sql\.ts$/)).toEqual([])
  })
})
