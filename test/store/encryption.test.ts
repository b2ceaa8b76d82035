import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { assert, base64String, property, string } from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadSecretKey, encrypt, decrypt } from '../../src/store/encryption.ts'
import { anyText } from '../any-text.ts'

const KEY = 'a key of at least thirty-two bytes, made for this test'

describe('sealed texts', () => {
  it('decrypt to the original text, whatever it was', () => {
    assert(
      property(anyText(), string(), (text, context) => {
        expect(decrypt(encrypt(text, KEY, context), KEY, context)).toBe(text)
      }),
    )
  })

  it('differ each time, and never contain the text', () => {
    const [one, two] = [encrypt('hunter2', KEY, 'row/1'), encrypt('hunter2', KEY, 'row/1')]
    expect(one).not.toBe(two)
    expect(Buffer.from(one.slice(3), 'base64url').includes('hunter2')).toBe(false)
  })

  it('do not open under another key, in another place, or changed by one bit', () => {
    const sealed = encrypt('hunter2', KEY, 'row/1')
    expect(() => decrypt(sealed, `${KEY}!`, 'row/1')).toThrow('SECRET_KEY')
    expect(() => decrypt(sealed, KEY, 'row/2')).toThrow('SECRET_KEY')
    const bytes = Buffer.from(sealed.slice(3), 'base64url')
    for (let index = 0; index < bytes.length; index++) {
      const changed = Buffer.from(bytes)
      changed[index]! ^= 1
      expect(() => decrypt(`v1.${changed.toString('base64url')}`, KEY, 'row/1')).toThrow(
        'SECRET_KEY',
      )
    }
  })

  it('are rejected with the same error when they are no encrypted text', () => {
    assert(property(string(), expectRefused))
    assert(property(base64String(), (text) => expectRefused(`v1.${text}`)))
  })
})

describe('the secret key', () => {
  let DATA_DIR: string
  beforeEach(() => void (DATA_DIR = mkdtempSync(join(tmpdir(), 'portreeve-key-'))))
  afterEach(() => rmSync(DATA_DIR, { recursive: true }))

  it('is the one that is set', () => {
    expect(loadSecretKey({ SECRET_KEY: KEY, DATA_DIR })).toBe(KEY)
    expect(readdirSync(DATA_DIR)).toEqual([])
  })

  it('is made once, for our eyes only', () => {
    const key = loadSecretKey({ SECRET_KEY: undefined, DATA_DIR: join(DATA_DIR, 'new') })
    expect(key.length).toBeGreaterThanOrEqual(32)
    expect(loadSecretKey({ SECRET_KEY: undefined, DATA_DIR: join(DATA_DIR, 'new') })).toBe(key)
    expect(readdirSync(join(DATA_DIR, 'new'))).toEqual(['secret.key'])
    expect(statSync(join(DATA_DIR, 'new', 'secret.key')).mode & 0o777).toBe(0o600)
  })

  it('is the same for all that start at the same time', async () => {
    const module = join(import.meta.dirname, '../../src/store/encryption.ts')
    const program = `import { loadSecretKey } from ${JSON.stringify(module)}
      console.log(loadSecretKey({ DATA_DIR: ${JSON.stringify(DATA_DIR)} }))`
    const starters = [1, 2, 3, 4].map(() =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]),
    )
    const keys = new Set((await Promise.all(starters)).map(({ stdout }) => stdout))
    expect(keys.size).toBe(1)
    expect(readdirSync(DATA_DIR)).toEqual(['secret.key'])
  })

  it('is never replaced when its file was damaged', () => {
    writeFileSync(join(DATA_DIR, 'secret.key'), '')
    expect(() => loadSecretKey({ SECRET_KEY: undefined, DATA_DIR })).toThrow('holds no key')
    expect(readFileSync(join(DATA_DIR, 'secret.key'), 'utf8')).toBe('')
  })
})

function expectRefused(text: string): void {
  expect(() => decrypt(text, KEY, 'row/1')).toThrow('SECRET_KEY')
}
