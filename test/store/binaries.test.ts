import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findBinaries, findPackage, type Binaries } from '../../src/store/embedded/binaries.ts'
import { explainSystemError, explainFailure } from '../../src/store/embedded/problem.ts'

describe('the programs of PostgreSQL', () => {
  let folder: string
  let native: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'portreeve-native-'))
    native = join(folder, 'native')
    copyWithoutLinks(findPackage(), native)
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('do not run as npm unpacks them, which the next tests rely on', () => {
    expect(runs({ bin: join(native, 'bin'), major: 18, env: {} })).toBe('')
  })

  it('run where the install script of their package was not allowed to', () => {
    const binaries = findBinaries(join(folder, 'spare'), native)
    expect(runs(binaries)).toContain('PostgreSQL) 18')
    expect(readdirSync(folder)).not.toContain('spare')
  })

  it('run where the folder of packages cannot be written', () => {
    const list = join(native, 'pg-symlinks.json')
    const links = JSON.parse(readFileSync(list, 'utf8')) as object[]
    const impossible = { source: 'native/lib/libz.so.1', target: 'native/nowhere/libz.so' }
    writeFileSync(list, JSON.stringify([impossible, ...links]))
    const binaries = findBinaries(join(folder, 'spare'), native)
    expect(runs(binaries)).toContain('PostgreSQL) 18')
    expect(
      readdirSync(join(native, 'lib')).some((name) =>
        lstatSync(join(native, 'lib', name)).isSymbolicLink(),
      ),
    ).toBe(false)
    expect(runs(findBinaries(join(folder, 'spare'), native))).toContain('PostgreSQL) 18')
  })

  it('are reported as missing, with the fix', () => {
    expect(() => findPackage('plan9')).toThrow(
      /no PostgreSQL for plan9.*--include=optional.*DATABASE_URL/,
    )
  })
})

describe('errors of PostgreSQL at start', () => {
  it('become a sentence with the fix', () => {
    expect(
      sentence('FATAL:  could not write lock file "postmaster.pid": No space left on device'),
    ).toContain('is full')
    expect(sentence('FATAL:  lock file "postmaster.pid" already exists')).toContain(
      'Another PostgreSQL uses',
    )
    expect(
      sentence('postgres: error while loading shared libraries: libm.so.6: cannot open'),
    ).toContain('needs libm.so.6')
    // The second for root, to which the folder above belongs.
    expect(sentence('FATAL:  could not open file "x": Permission denied')).toMatch(
      /may not use|cannot be made or used/,
    )
    expect(
      sentence('FATAL:  could not map anonymous shared memory: Cannot allocate memory'),
    ).toContain('too little memory')
  })

  it('is quoted where we know nothing better', () => {
    expect(sentence('LOG: one\nFATAL: the moon is full\n')).toContain('FATAL: the moon is full')
    expect(sentence('')).toContain('It said: nothing')
  })

  it('are the same for this process, and other errors stay unchanged', () => {
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
      syscall: 'write',
    })
    expect(explainSystemError(full, '/data/postgres')).toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/is full/),
    })
    const other = new Error('no space left on device')
    expect(explainSystemError(other, '/data/postgres')).toBe(other)
  })
})

function runs({ bin, env }: Binaries): string {
  return spawnSync(join(bin, 'postgres'), ['--version'], { env, encoding: 'utf8' }).stdout
}

function sentence(output: string): string {
  return explainFailure('postgres', '/data/postgres', output).message
}

/** Like a package from the registry, which cannot contain links: the server and its libraries. */
function copyWithoutLinks(from: string, to: string): void {
  const files = [
    'pg-symlinks.json',
    'bin/postgres',
    ...readdirSync(join(from, 'lib')).map((name) => join('lib', name)),
  ]
  for (const file of files.filter(
    (name) => lstatSync(join(from, name)).isFile() && !name.endsWith('.a'),
  )) {
    mkdirSync(dirname(join(to, file)), { recursive: true })
    copyFileSync(join(from, file), join(to, file))
  }
}
