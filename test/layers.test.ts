import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'

const FLOORS = [
  ['errors.ts', 'config.ts', 'log.ts', 'version.ts'],
  ['store', 'net'],
  ['protocols', 'jobs', 'http'],
  ['module.ts'],
  ['accounts', 'alerts'],
  ['diagnostics', 'dmarc', 'monitoring', 'migration', 'abuse', 'webhooks'],
  ['delisting'],
  ['modules.ts'],
  ['app.ts'],
  ['cli'],
]

const floorOf = new Map(FLOORS.flatMap((rooms, floor) => rooms.map((room) => [room, floor] as const)))
const roomOf = (path: string) => path.split('/')[1] ?? ''
const files = globSync('src/**/*.ts')
const sourceOf = (file: string) => readFileSync(file, 'utf8')
const importsOf = (file: string) =>
  [...sourceOf(file).matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, path = '']) =>
    normalize(join(dirname(file), path)),
  )

function wrongImports(): string[] {
  return files.flatMap((file) =>
    importsOf(file)
      .filter((target) => roomOf(target) !== roomOf(file))
      .filter(
        (target) =>
          !((floorOf.get(roomOf(target)) ?? Infinity) < (floorOf.get(roomOf(file)) ?? -1) || isGround(file, target)),
      )
      .map((target) => `${file} → ${target}`),
  )
}

/** On the ground floor a file may stand on its neighbour (settings throw Faults). */
const isGround = (file: string, target: string) => floorOf.get(roomOf(file)) === 0 && floorOf.get(roomOf(target)) === 0

const filesMatching = (pattern: RegExp, allowed: RegExp) =>
  files.filter((file) => !allowed.test(file) && pattern.test(sourceOf(file)))

describe('the house', () => {
  it('has every file in a room', () => {
    expect(files.filter((file) => !floorOf.has(roomOf(file)))).toEqual([])
  })
  it('imports only from its own room and the floors below', () => {
    expect(wrongImports()).toEqual([])
  })
  it('reads the environment in config.ts alone', () => {
    expect(filesMatching(/process\.env/, /^src\/config\.ts$/)).toEqual([])
  })
  it('opens sockets in net/ alone; the store reaches its database', () => {
    const opens =
      /^import (?!type)(?!\{ isIP(v[46])?(, isIP(v[46])?)* \}).* from 'node:(net|tls|dgram|https|http2|dns)'|\bfetch\(/m
    expect(filesMatching(opens, /^src\/(net|store)\//)).toEqual([])
  })
  it('opens a transaction or a cursor that outlives a function in the export of an account alone', () => {
    // Whoever holds one while a client reads holds a connection for as long as the client likes.
    const held = /\.startTransaction\(|\bcursor for\b|pg-cursor|pg-query-stream|\.stream\(\s*\d/
    expect(filesMatching(held, /^src\/store\/owned\.ts$/)).toEqual([])
    // It is read into a file before the answer begins.
    const readers = filesMatching(/\breadOwned\(/, /^src\/(store\/owned|accounts\/own-data-routes)\.ts$/)
    expect(readers).toEqual([])
    expect(sourceOf('src/accounts/own-data-routes.ts')).toMatch(/exports\.spool\(\(signal\) => readOwned\(/)
  })
  it('keeps the SQL of a domain in its store.ts', () => {
    const sql = /\.(selectFrom|insertInto|updateTable|deleteFrom)\(|\bsql`/
    expect(filesMatching(sql, /^src\/(store|jobs)\/|\/store\.ts$/)).toEqual([])
  })
})
