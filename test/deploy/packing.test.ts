import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DATA_FILES, listMissingFiles } from '../../src/data-files.ts'
import { isInContext } from './dockerignore.ts'

const ignoreFile = readFileSync('deploy/Dockerfile.dockerignore', 'utf8')
const tracked = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n')
const below = (...folders: string[]) =>
  tracked.filter((file) => folders.some((folder) => file.startsWith(`${folder}/`)))

describe('the build context of the image', () => {
  it('has every file of git except tests and benchmarks', () => {
    const isResult = (file: string) => /^bench\/.*\.md$/.test(file)
    const unneeded = new Set(below('test', 'bench').filter((file) => !isResult(file)))
    const dropped = tracked.filter((file) => !isInContext(ignoreFile, file))
    expect(dropped.filter((file) => !unneeded.has(file))).toEqual([])
    expect(dropped).toHaveLength(unneeded.size)
    // Docker 20.10 looks for exceptions only directly below an excluded folder.
    expect(ignoreFile).not.toMatch(/^!.*\*\*/m)
  })
  it.each([
    '.git/config',
    '.env',
    'deploy/.env',
    'data/secret.key',
    'data/postgres/PG_VERSION',
    'node_modules/a/b.js',
    'web/node_modules/a.js',
    'dist/main.js',
    'web/dist/index.html',
    'portreeve-0.2.0.tgz',
    'package.json.orig',
  ])('does not have %s, which a checkout may hold besides', (path) => {
    expect(isInContext(ignoreFile, path)).toBe(false)
  })
  it('is judged by rules that can fail', () => {
    const rules = 'data/*\n!data/*.json\n**/dist\n'
    const isIn = (path: string) => isInContext(rules, path)
    expect(['data/a.json', 'data/a.txt', 'data/asn/a', 'web/dist/a', 'a/b'].filter(isIn)).toEqual([
      'data/a.json',
      'a/b',
    ])
  })
})

describe('the package', () => {
  const [{ files }] = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  ) as [{ files: { path: string }[] }]
  const packed = new Set(files.map(({ path }) => path))

  it('has every file that git tracks in the folders it ships', () => {
    const shipped = below('bin', 'clients', 'data', 'deploy', 'docs', 'man')
    expect(shipped.length).toBeGreaterThan(80)
    const alone = ['CHANGELOG.md', 'LICENSE', 'README.md', 'openapi.json', 'package.json']
    expect([...shipped, ...alone].filter((file) => !packed.has(file))).toEqual([])
  })
  it('has what is built', () => {
    const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { files: string[] }
    expect(manifest.files).toEqual(expect.arrayContaining(['dist', 'web/dist']))
  })
})

describe('the list of data files', () => {
  it('has every file of data/', () => {
    expect(DATA_FILES).toEqual(below('data').filter((file) => !file.endsWith('.md')))
    expect(listMissingFiles()).toEqual([])
  })
  it('names those that are missing', () => {
    const empty = mkdtempSync(join(tmpdir(), 'portreeve-empty-'))
    expect(listMissingFiles(empty)).toEqual(DATA_FILES)
    rmSync(empty, { recursive: true })
  })
})
